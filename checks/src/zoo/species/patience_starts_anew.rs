//! Starts every patience anew at a restart.

use super::{About, Wrong};
use crate::memory::Memory;

pub(super) struct PatienceStartsAnew;

impl Wrong for PatienceStartsAnew {
    fn about(&self) -> About {
        About {
            name: "patience-starts-anew",
            models: "the start of an unhealthy stretch kept in the process and not in the state file",
            story: STORY,
        }
    }

    fn after_load(&self, memory: &mut Memory) {
        let slots = memory.slots.values_mut();
        for port in slots.flat_map(|slot| slot.ports.values_mut()) {
            port.unhealthy_since_ns = None;
        }
    }
}

const STORY: &str = r#"
scenario: the monitor is restarted in the middle of a patience
why: nothing is forgotten before the restart
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 5s
    do: [ { stick: victim, in: init } ]
    expect: [ { this_poll: [ { nonfatal: victim } ] } ]
  - at: 20s
    do: [ { monitor: restart } ]
  - at: 36s
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 40s
"#;
