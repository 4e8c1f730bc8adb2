//! Does not see that a counter was reset.

use super::{About, Wrong};
use crate::counters::Threshold;
use crate::counters::count::{Count, Stamp};

pub(super) struct ResetNeverRecovers;

impl Wrong for ResetNeverRecovers {
    fn about(&self) -> About {
        About {
            name: "reset-never-recovers",
            models: "a latch that an operator's reset does not open: the node stays condemned",
            story: STORY,
        }
    }

    fn see(&self, count: &mut Count, value: u64, now: Stamp, threshold: Threshold) {
        count.see(value, now, threshold);
        count.is_reset = false;
    }
}

const STORY: &str = r#"
scenario: an operator resets a counter that had grown
why: no counter is reset for twenty polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 15s
    do: [ { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { this_poll: [ { fatal: victim, counter: rnr_nak_retry_err } ] } ]
  - at: 20s
    do: [ { reset_counter: victim, name: rnr_nak_retry_err } ]
    expect: [ { this_poll: [ { healthy: victim, counter: rnr_nak_retry_err } ] } ]
until: 25s
"#;
