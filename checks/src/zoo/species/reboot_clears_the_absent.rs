//! Clears after a reboot whatever is not there any more.

use super::{About, Wrong};

pub(super) struct RebootClearsTheAbsent;

impl Wrong for RebootClearsTheAbsent {
    fn about(&self) -> About {
        About {
            name: "reboot-clears-the-absent",
            models: "a NIC that fell off the bus for good, declared healthy by a reboot",
            story: STORY,
        }
    }

    fn is_complete(&self, _: usize, _: usize) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: a NIC vanishes, and the node is rebooted without it
why: there is no reboot for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 5s
    do: [ { remove: device of victim } ]
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
  - at: 20s
    do: [ { reboot: { takes: 30s } } ]
  - at: 50s
    expect: [ { this_poll: [ { reboot_baseline: null, except: ports of device of victim }, { fatal: device of victim }, { fatal: card of victim, times: [ 0, 1 ] } ] } ]
until: 55s
heal: never
because: what is told is the poll after the reboot
"#;
