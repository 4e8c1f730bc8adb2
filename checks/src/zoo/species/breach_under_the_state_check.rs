//! Files a counter's breach under the state check of its port.

use super::{About, Wrong};
use crate::name::{Check, LinkLayer};

pub(super) struct BreachUnderTheStateCheck;

impl Wrong for BreachUnderTheStateCheck {
    fn about(&self) -> About {
        About {
            name: "breach-under-the-state-check",
            models: "a breach that the port's next recovery clears, while the latch keeps it silent (field bug B10)",
            story: STORY,
        }
    }

    fn counter_check(&self, layer: LinkLayer) -> Check {
        layer.state_check()
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
