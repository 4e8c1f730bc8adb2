//! Gives up a call at its first failure.

use super::{About, Wrong};
use crate::agent::Outcome;

pub(super) struct NeverRetries;

impl Wrong for NeverRetries {
    fn about(&self) -> About {
        About {
            name: "never-retries",
            models: "a connector that restarts costs a whole poll, and on a slow poll a minute",
            story: STORY,
        }
    }

    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            failed if failed.is_retryable() => Outcome::Status {
                code: INTERNAL,
                message: String::new(),
            },
            other => other,
        }
    }
}

/// The gRPC code of a failure that another attempt would not mend.
const INTERNAL: i32 = 13;

const STORY: &str = r#"
scenario: the connector refuses one call
why: every call is accepted for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: refuse, calls: 1 }, { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
