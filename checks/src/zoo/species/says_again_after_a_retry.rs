//! Forgets what was accepted at a second attempt.

use super::{About, Wrong};

pub(super) struct SaysAgainAfterARetry;

impl Wrong for SaysAgainAfterARetry {
    fn about(&self) -> About {
        About {
            name: "says-again-after-a-retry",
            models: "a retry that reports its own success to nobody: the event comes twice",
            story: STORY,
        }
    }

    fn remembers(&self, attempt: u32) -> bool {
        attempt == 1
    }
}

const STORY: &str = r#"
scenario: the connector refuses one call
why: every event is accepted at once for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: refuse, calls: 1 }, { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
