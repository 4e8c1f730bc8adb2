//! Says that a counter has recovered when it stands still.

use super::{About, Wrong};
use crate::counters::Threshold;
use crate::counters::count::{Count, Stamp};

pub(super) struct QuietCounterIsHealthy;

impl Wrong for QuietCounterIsHealthy {
    fn about(&self) -> About {
        About {
            name: "quiet-counter-is-healthy",
            models: "a breach without a latch: gone a poll later, before anybody could look",
            story: STORY,
        }
    }

    fn see(&self, count: &mut Count, value: u64, now: Stamp, threshold: Threshold) {
        let last = count.seed.map(|seed| seed.last);
        count.see(value, now, threshold);
        count.is_reset |= count.said_since_ns.is_some() && last == Some(value);
    }
}

const STORY: &str = r#"
scenario: a counter grows once and stands still
why: no counter grows for twenty polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 19s
    do: [ { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { this_poll: [ { fatal: victim, counter: rnr_nak_retry_err } ] }, { nothing: victim, from: 20s, to: 25s } ]
until: 25s
"#;
