//! Takes an unreadable file for a dead port.

use super::{About, Wrong};

pub(super) struct FatalOnUnreadable;

impl Wrong for FatalOnUnreadable {
    fn about(&self) -> About {
        About {
            name: "fatal-on-unreadable",
            models: "an error of one read taken for an empty value, hence a fault (field bug B26)",
            story: STORY,
        }
    }

    fn takes_unreadable_for_dead(&self) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: the state of a port cannot be read for a moment
why: every file can be read for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { read: victim/state, fail: EIO, for: 2s } ]
    expect: [ { nothing: victim, from: 20s, to: 25s } ]
until: 25s
"#;
