//! Takes a counter that cannot be read for zero.

use super::{About, Wrong};
use crate::sight::Unread;

pub(super) struct UnreadableCounterIsZero;

impl Wrong for UnreadableCounterIsZero {
    fn about(&self) -> About {
        About {
            name: "unreadable-counter-is-zero",
            models: "an error of one read, then all growth since the boot at once",
            story: STORY,
        }
    }

    fn counter_value(&self, value: Result<u64, Unread>) -> Result<u64, Unread> {
        match value {
            Err(Unread::Held) => Ok(0),
            other => other,
        }
    }
}

const STORY: &str = r#"
scenario: a counter with a history cannot be read for a moment
why: every counter can be read for twenty polls
checks: counters
let: { victim: { nth: 1 } }
given: [ { counter: victim, name: link_downed, shows: 7 } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 20s
    do: [ { read: victim/counters/link_downed, fail: EIO, for: 2s } ]
    expect: [ { nothing: victim, from: 20s, to: 30s } ]
until: 30s
"#;
