//! Counts one miss too many.

use super::{About, Wrong};

pub(super) struct DebouncesOnePollShort;

impl Wrong for DebouncesOnePollShort {
    fn about(&self) -> About {
        About {
            name: "debounces-one-poll-short",
            models: "a debounce that is off by one: the first miss is counted twice",
            story: STORY,
        }
    }

    fn is_gone(&self, misses: u32, polls: u32) -> bool {
        misses + 1 >= polls
    }
}

const STORY: &str = r#"
scenario: a device is away for two polls
why: no poll misses a device for twenty polls
flags: [ --disappearance-polls=3 ]
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { remove: device of victim } ]
  - at: 22s
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
until: 25s
heal: never
because: what is told is the fault
"#;
