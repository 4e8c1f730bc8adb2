//! Takes growth by just as much as is allowed for too much.

use super::{About, Wrong};
use crate::counters::Threshold;
use crate::counters::count::{Count, Stamp};

pub(super) struct AtTheThresholdIsAbove;

impl Wrong for AtTheThresholdIsAbove {
    fn about(&self) -> About {
        About {
            name: "at-the-threshold-is-above",
            models: "at least instead of more than: off by one",
            story: STORY,
        }
    }

    fn see(&self, count: &mut Count, value: u64, now: Stamp, threshold: Threshold) {
        let just_below = match threshold {
            Threshold::Delta(limit) if limit > 0.0 => Threshold::Delta(limit - 1e-6),
            Threshold::Velocity(limit, unit) if limit > 0.0 => {
                Threshold::Velocity(limit - 1e-6, unit)
            }
            zero => zero,
        };
        count.see(value, now, just_below);
    }
}

const STORY: &str = r#"
scenario: a counter grows as fast as it may
why: no counter grows for nineteen polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 19s
    do: [ { counter: victim, name: symbol_error, per_second: 10 } ]
    expect: [ { nothing: victim, from: 19s, to: 30s } ]
until: 30s
"#;
