//! Counts an event as sent when there is no socket to send it to.

use super::{About, Wrong};
use crate::agent::Outcome;

pub(super) struct LosesWhileTheSocketIsAway;

impl Wrong for LosesWhileTheSocketIsAway {
    fn about(&self) -> About {
        About {
            name: "loses-while-the-socket-is-away",
            models: "events dropped while the connector's socket is absent (field bug B02)",
            story: STORY,
        }
    }

    fn commits_unheard(&self, outcome: &Outcome) -> bool {
        *outcome == Outcome::SocketMissing
    }
}

const STORY: &str = r#"
scenario: a port dies while the socket is away
why: the socket is there for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: absent, for: 5s }, { disable: victim } ]
  - at: 25s
    expect: [ { this_poll: [ { fatal: victim, stamped: ">= 25s" } ] } ]
until: 30s
"#;
