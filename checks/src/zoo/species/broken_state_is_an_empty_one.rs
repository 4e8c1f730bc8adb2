//! Takes a state file that it cannot read for one in which nothing stood.

use super::{About, Wrong};
use crate::memory::Memory;

pub(super) struct BrokenStateIsAnEmptyOne;

impl Wrong for BrokenStateIsAnEmptyOne {
    fn about(&self) -> About {
        About {
            name: "broken-state-is-an-empty-one",
            models: "a corrupt file passed over as if nothing had been said: an old fault of a device stands for ever",
            story: STORY,
        }
    }

    fn old_state(&self, old: Option<Memory>, is_there: bool) -> Option<Memory> {
        old.or_else(|| is_there.then(Memory::default))
    }
}

const STORY: &str = r#"
scenario: the state file is cut off while the monitor is away
why: the file is whole for twenty polls
timeline:
  - at: 20s
    do: [ { monitor: restart, signal: KILL, away: 2s } ]
  - at: 21s
    do: [ { state_file: { truncate: 40 } } ]
    expect: [ { baseline: null, within: 3 polls } ]
until: 25s
"#;
