//! Leaves the counter's name out of the error codes.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::HealthEvent;

pub(super) struct BreachWithoutItsCode;

impl Wrong for BreachWithoutItsCode {
    fn about(&self) -> About {
        About {
            name: "breach-without-its-code",
            models: "two breaches of one port that nobody can tell apart: the first recovery clears both",
            story: STORY,
        }
    }

    fn event(&self, _: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        if matches!(saying.effect, Effect::CounterSaid(..)) {
            event.error_code.clear();
        }
    }
}

const STORY: &str = r#"
scenario: a counter grows
why: no counter grows for twenty polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { this_poll: [ { fatal: victim, counter: rnr_nak_retry_err } ] } ]
until: 25s
"#;
