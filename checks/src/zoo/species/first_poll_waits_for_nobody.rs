//! Sends its baseline on the very first poll, whoever cannot be read.

use super::{About, Wrong};

pub(super) struct FirstPollWaitsForNobody;

impl Wrong for FirstPollWaitsForNobody {
    fn about(&self) -> About {
        About {
            name: "first-poll-waits-for-nobody",
            models: "a baseline in pieces: the cards beside an unreadable device are compared without it",
            story: STORY,
        }
    }

    fn waits_at_first(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the monitor starts anew while a port cannot be read
why: the monitor starts once in twenty polls, and every file can be read
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { read: victim/state, fail: EIO }, { state_file: delete }, { monitor: restart, signal: KILL } ]
    expect: [ { this_poll: nothing } ]
  - at: 22s
    do: [ { no_rule: everywhere } ]
    expect: [ { this_poll: baseline } ]
until: 25s
"#;
