//! Counts an event as sent when its call was received and never answered.

use super::{About, Wrong};
use crate::agent::Outcome;

pub(super) struct TakesSilenceForAReply;

impl Wrong for TakesSilenceForAReply {
    fn about(&self) -> About {
        About {
            name: "takes-silence-for-a-reply",
            models: "a deadline treated as success, because the bytes had left the socket",
            story: STORY,
        }
    }

    fn commits_unheard(&self, outcome: &Outcome) -> bool {
        *outcome == Outcome::TimedOut
    }
}

const STORY: &str = r#"
scenario: the connector hangs while a port dies
why: every call is answered for twenty polls
flags: [ --publish-timeout=1s, --publish-attempts=1 ]
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: hang, calls: 1 }, { disable: victim } ]
    expect: [ { next_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
