//! Files a counter's breach under the state check of its port.

use proto::Check;

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct BreachUnderTheStateCheck;

impl Wrong for BreachUnderTheStateCheck {
    fn about(&self) -> About {
        About {
            name: "breach-under-the-state-check",
            models: "a breach that the port's next recovery clears, while the latch keeps it silent (field bug B10)",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, _: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        for saying in sayings {
            if matches!(saying.effect, Effect::CounterSaid(..)) {
                saying.check = match saying.check {
                    Check::InfiniBandDegradation => Check::InfiniBandState,
                    _ => Check::EthernetState,
                };
            }
        }
    }
}

const STORY: &str = r#"
scenario: a counter grows while its port stays up
why: no counter grows for twenty polls
checks: all
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { this_poll: [ { fatal: victim, counter: rnr_nak_retry_err } ] } ]
until: 25s
"#;
