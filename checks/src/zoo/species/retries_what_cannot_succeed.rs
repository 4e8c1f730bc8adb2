//! Tries a call again at once that was answered INVALID_ARGUMENT.

use super::{About, Wrong};
use crate::agent::Outcome;

pub(super) struct RetriesWhatCannotSucceed;

impl Wrong for RetriesWhatCannotSucceed {
    fn about(&self) -> About {
        About {
            name: "retries-what-cannot-succeed",
            models: "a retry that does not look at the code, and hammers the connector",
            story: STORY,
        }
    }

    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Status { message, .. } => Outcome::Status {
                code: UNAVAILABLE,
                message,
            },
            other => other,
        }
    }
}

/// The gRPC code of a service that may be back at once.
const UNAVAILABLE: i32 = 14;

const STORY: &str = r#"
scenario: the connector cannot take a call
why: every call is accepted for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: { code: INVALID_ARGUMENT }, calls: 1 }, { disable: victim } ]
    expect: [ { next_poll: [ { fatal: victim } ] }, { this_poll: [ { calls: 1 } ] } ]
until: 25s
"#;
