//! Counts what a counter showed before anybody looked.

use super::{About, Wrong};
use crate::counters::Threshold;
use crate::counters::count::{Count, Stamp};

pub(super) struct FirstValueIsGrowth;

impl Wrong for FirstValueIsGrowth {
    fn about(&self) -> About {
        About {
            name: "first-value-is-growth",
            models: "a delta against zero: a machine with a history is condemned when its monitor is restarted anew",
            story: STORY,
        }
    }

    fn see(&self, count: &mut Count, value: u64, now: Stamp, threshold: Threshold) {
        if count.seed.is_none() {
            count.see(
                0,
                Stamp {
                    boot_ns: now.boot_ns.saturating_sub(NANOSECONDS),
                    ..now
                },
                threshold,
            );
        }
        count.see(value, now, threshold);
    }
}

/// One second.
const NANOSECONDS: u64 = 1_000_000_000;

const STORY: &str = r#"
scenario: the monitor starts anew on a machine with a history
why: the counter grows from zero for twenty polls, and not by too much
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 5s
    do: [ { counter: victim, name: port_xmit_discards, per_second: 50 } ]
  - at: 20s
    do: [ { counter: victim, name: port_xmit_discards, per_second: 0 }, { state_file: delete }, { monitor: restart, signal: KILL } ]
    expect: [ { this_poll: baseline }, { nothing: victim, from: 21s, to: 30s } ]
until: 30s
"#;
