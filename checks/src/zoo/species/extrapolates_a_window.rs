//! Judges a rate per minute or hour from one second.

use super::{About, Wrong};
use crate::counters::count::{Count, Stamp};
use crate::counters::{Threshold, Unit};

pub(super) struct ExtrapolatesAWindow;

impl Wrong for ExtrapolatesAWindow {
    fn about(&self) -> About {
        About {
            name: "extrapolates-a-window",
            models: "growth of one poll multiplied by sixty: a burst that an hour would have swallowed",
            story: STORY,
        }
    }

    fn see(&self, count: &mut Count, value: u64, now: Stamp, threshold: Threshold) {
        let per_second = match threshold {
            Threshold::Velocity(limit, Unit::Minute) => {
                Threshold::Velocity(limit / 60.0, Unit::Second)
            }
            Threshold::Velocity(limit, Unit::Hour) => {
                Threshold::Velocity(limit / 3600.0, Unit::Second)
            }
            other => other,
        };
        count.see(value, now, per_second);
    }
}

const STORY: &str = r#"
scenario: a link retrains three times at once
why: no counter grows for twenty polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { counter: victim, name: link_error_recovery, add: 3 } ]
    expect: [ { nothing: victim, from: 20s, to: 90s } ]
until: 90s
quiet: fold
"#;
