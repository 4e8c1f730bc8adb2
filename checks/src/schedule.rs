//! Decides which checks run in a poll: those whose own interval has passed in boot time.
//!
//! The monitor wakes up at the shorter of its intervals. A check runs at the wake-up nearest to its
//! due time, so every combination of intervals works. Missed polls are not made up for.

use std::time::Duration;

/// The kinds of checks that are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Due {
    /// The state checks and the optional checks.
    pub(crate) state: bool,
    pub(crate) counters: bool,
}

/// When one kind of checks runs next.
#[derive(Debug, Clone, Copy)]
struct Turn {
    interval_ns: u64,
    /// Boot time; `None` before the first run.
    next_ns: Option<u64>,
}

impl Turn {
    fn is_due(&self, now_ns: u64, slack_ns: u64) -> bool {
        self.next_ns
            .is_none_or(|next_ns| now_ns.saturating_add(slack_ns) >= next_ns)
    }

    fn ran(&mut self, now_ns: u64) {
        let kept = self
            .next_ns
            .map(|next_ns| next_ns.saturating_add(self.interval_ns))
            .filter(|next_ns| *next_ns > now_ns);
        self.next_ns = Some(kept.unwrap_or_else(|| now_ns.saturating_add(self.interval_ns)));
    }
}

/// When each kind of checks runs.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    state: Turn,
    counters: Turn,
    /// Half of the time between two wake-ups.
    slack_ns: u64,
    interval: Duration,
}

impl Schedule {
    pub(crate) fn new(state: Duration, counters: Duration) -> Schedule {
        let turn = |interval: Duration| Turn {
            interval_ns: nanoseconds(interval),
            next_ns: None,
        };
        let interval = state.min(counters);
        Schedule {
            state: turn(state),
            counters: turn(counters),
            slack_ns: nanoseconds(interval) / 2,
            interval,
        }
    }

    /// The time between two wake-ups.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// What is due at that boot time.
    pub(crate) fn due(&self, now_ns: u64) -> Due {
        Due {
            state: self.state.is_due(now_ns, self.slack_ns),
            counters: self.counters.is_due(now_ns, self.slack_ns),
        }
    }

    /// Records that the due checks have run.
    pub(crate) fn ran(&mut self, due: Due, now_ns: u64) {
        if due.state {
            self.state.ran(now_ns);
        }
        if due.counters {
            self.counters.ran(now_ns);
        }
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn runs(state_ms: u64, counters_ms: u64, wakes_ms: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let mut schedule = Schedule::new(
            Duration::from_millis(state_ms),
            Duration::from_millis(counters_ms),
        );
        let (mut state, mut counters) = (Vec::new(), Vec::new());
        for wake_ms in wakes_ms {
            let now_ns = wake_ms * 1_000_000;
            let due = schedule.due(now_ns);
            schedule.ran(due, now_ns);
            state.extend(due.state.then_some(*wake_ms));
            counters.extend(due.counters.then_some(*wake_ms));
        }
        (state, counters)
    }

    #[rstest]
    #[case::equal(1000, 1000, &[0, 1000, 2000], &[0, 1000, 2000], &[0, 1000, 2000])]
    #[case::a_late_wake_up_is_near_enough(1000, 1000, &[0, 1001, 1999, 3002], &[0, 1001, 1999, 3002], &[0, 1001, 1999, 3002])]
    #[case::counters_seldom(1000, 5000, &[0, 1000, 4000, 5000, 9000, 10000], &[0, 1000, 4000, 5000, 9000, 10000], &[0, 5000, 10000])]
    #[case::state_seldom(3000, 1000, &[0, 1000, 2000, 3000, 4000], &[0, 3000], &[0, 1000, 2000, 3000, 4000])]
    #[case::to_the_nearest_wake_up(1000, 1500, &[0, 1000, 2000, 3000, 4000, 5000], &[0, 1000, 2000, 3000, 4000, 5000], &[0, 1000, 3000, 4000])]
    #[case::nor_is_one_of_two_intervals(1000, 1000, &[0, 2000, 2100, 3000], &[0, 2000, 3000], &[0, 2000, 3000])]
    #[case::a_gap_is_not_made_up_for(1000, 1000, &[0, 9000, 9100, 10000], &[0, 9000, 10000], &[0, 9000, 10000])]
    fn a_check_runs_when_its_interval_has_passed(
        #[case] state_ms: u64,
        #[case] counters_ms: u64,
        #[case] wakes_ms: &[u64],
        #[case] state: &[u64],
        #[case] counters: &[u64],
    ) {
        let (got_state, got_counters) = runs(state_ms, counters_ms, wakes_ms);
        assert_eq!(got_state, state);
        assert_eq!(got_counters, counters);
    }
}
