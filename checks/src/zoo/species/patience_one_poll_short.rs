//! Ends the patience one poll early.

use super::{About, Wrong};

pub(super) struct PatienceOnePollShort;

impl Wrong for PatienceOnePollShort {
    fn about(&self) -> About {
        About {
            name: "patience-one-poll-short",
            models: "at least instead of longer than: off by one poll",
            story: STORY,
        }
    }

    fn is_over(&self, waited_ns: u64, patience_ns: u64) -> bool {
        waited_ns >= patience_ns
    }
}

const STORY: &str = r#"
scenario: a port stays in INIT until the patience is over
why: the patience is not over for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 5s
    do: [ { stick: victim, in: init } ]
    expect: [ { this_poll: [ { nonfatal: victim } ] } ]
  - at: 36s
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 40s
"#;
