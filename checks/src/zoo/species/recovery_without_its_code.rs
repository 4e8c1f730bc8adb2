//! Leaves the counter's name out of the error codes of a recovery.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::HealthEvent;

pub(super) struct RecoveryWithoutItsCode;

impl Wrong for RecoveryWithoutItsCode {
    fn about(&self) -> About {
        About {
            name: "recovery-without-its-code",
            models: "a missing error code: one counter's recovery clears every breach of its port",
            story: STORY,
        }
    }

    fn event(&self, _: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        let is_healthy = matches!(saying.effect, Effect::CounterHealthy(..));
        if is_healthy && saying.message.contains(" recovered on ") {
            event.error_code.clear();
        }
    }
}

const STORY: &str = r#"
scenario: two counters of a port breach, and one is reset
why: nothing is reset for twenty polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 10s
    do: [ { counter: victim, name: link_downed, add: 1 }, { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { this_poll: [ { fatal: victim, counter: link_downed }, { fatal: victim, counter: rnr_nak_retry_err } ] } ]
  - at: 20s
    do: [ { reset_counter: victim, name: link_downed } ]
    expect: [ { this_poll: [ { healthy: victim, counter: link_downed } ] } ]
until: 25s
"#;
