//! Decides which checks run in a poll: those whose deadline has come, in boot time.
//!
//! The state checks and the counter checks have deadlines of their own, each a whole number of
//! intervals after the first run (`lsd 12.1`: counter checks run on a fixed cadence, whatever the
//! interval of the state checks). The monitor wakes up at the next deadline of either. A wake-up
//! that comes late does not move the deadlines after it; deadlines that passed meanwhile are not
//! made up for.

use std::time::Duration;

/// The kinds of checks that are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Due {
    /// The state checks and the optional checks.
    pub(crate) state: bool,
    pub(crate) counters: bool,
}

/// The deadlines of one kind of checks.
#[derive(Debug, Clone, Copy)]
struct Deadlines {
    /// At least 1.
    interval_ns: u64,
    /// The next one, in boot time; `None` before the first run.
    next_ns: Option<u64>,
}

impl Deadlines {
    fn every(interval: Duration) -> Deadlines {
        Deadlines {
            interval_ns: nanoseconds(interval).max(1),
            next_ns: None,
        }
    }

    fn has_come(&self, now_ns: u64) -> bool {
        self.next_ns.is_none_or(|next_ns| now_ns >= next_ns)
    }

    /// Sets the first deadline after this run.
    fn ran(&mut self, now_ns: u64) {
        let met_ns = self.next_ns.unwrap_or(now_ns);
        let passed = now_ns.saturating_sub(met_ns) / self.interval_ns;
        let intervals_ns = self.interval_ns.saturating_mul(passed.saturating_add(1));
        self.next_ns = Some(met_ns.saturating_add(intervals_ns));
    }
}

/// When each kind of checks runs.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    state: Deadlines,
    counters: Deadlines,
    /// The shorter interval.
    interval: Duration,
}

impl Schedule {
    pub(crate) fn new(state: Duration, counters: Duration) -> Schedule {
        Schedule {
            state: Deadlines::every(state),
            counters: Deadlines::every(counters),
            interval: state.min(counters),
        }
    }

    /// The shorter interval, which is the longest time between two wake-ups.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// What is due at that boot time.
    pub(crate) fn due(&self, now_ns: u64) -> Due {
        Due {
            state: self.state.has_come(now_ns),
            counters: self.counters.has_come(now_ns),
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

    /// The time from that boot time to the next deadline; the shorter interval before the first
    /// run.
    pub(crate) fn until_next(&self, now_ns: u64) -> Duration {
        let deadlines = [self.state.next_ns, self.counters.next_ns];
        let next_ns = deadlines.into_iter().flatten().min();
        next_ns.map_or(self.interval, |next_ns| {
            Duration::from_nanos(next_ns.saturating_sub(now_ns))
        })
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
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
    #[case::a_late_wake_up_moves_no_deadline(1000, 1000, &[0, 1001, 2000, 3002], &[0, 1001, 2000, 3002], &[0, 1001, 2000, 3002])]
    #[case::counters_seldom(1000, 5000, &[0, 1000, 4000, 5000, 9000, 10000], &[0, 1000, 4000, 5000, 9000, 10000], &[0, 5000, 10000])]
    #[case::state_seldom(3000, 1000, &[0, 1000, 2000, 3000, 4000], &[0, 3000], &[0, 1000, 2000, 3000, 4000])]
    #[case::at_the_first_wake_up_after_the_deadline(1000, 1500, &[0, 1000, 2000, 3000, 4000, 5000], &[0, 1000, 2000, 3000, 4000, 5000], &[0, 2000, 3000, 5000])]
    #[case::not_before_the_deadline(1000, 1000, &[0, 999, 2000, 2100, 3000], &[0, 2000, 3000], &[0, 2000, 3000])]
    #[case::a_gap_is_not_made_up_for(1000, 1000, &[0, 9200, 9300, 10000], &[0, 9200, 10000], &[0, 9200, 10000])]
    fn a_check_runs_at_its_own_deadlines(
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

    /// What a loop reads that sleeps until the next deadline and wakes up late by these times, one
    /// after the other, until `until_ms`.
    fn read_by_the_loop(
        state_ms: u64,
        counters_ms: u64,
        late_us: &[u64],
        until_ms: u64,
    ) -> (Vec<u64>, Vec<u64>) {
        let mut schedule = Schedule::new(
            Duration::from_millis(state_ms),
            Duration::from_millis(counters_ms),
        );
        let (mut state, mut counters) = (Vec::new(), Vec::new());
        let mut now_ns = 0;
        for late_us in late_us.iter().cycle() {
            if now_ns > until_ms * 1_000_000 {
                break;
            }
            let due = schedule.due(now_ns);
            assert!(due.state || due.counters, "a wake-up has something to do");
            schedule.ran(due, now_ns);
            state.extend(due.state.then_some(now_ns));
            counters.extend(due.counters.then_some(now_ns));
            let asleep_ns = nanoseconds(schedule.until_next(now_ns));
            now_ns += asleep_ns + late_us * 1000;
        }
        (state, counters)
    }

    /// `lsd 12.1`: a fixed cadence of one second, regardless of the interval of the state checks.
    #[rstest]
    #[case(300)]
    #[case(700)]
    #[case(1000)]
    #[case(5000)]
    fn counters_are_read_each_second_whatever_the_interval_of_the_state_checks(
        #[case] state_ms: u64,
    ) {
        let (_, counters) = read_by_the_loop(state_ms, 1000, &[0], 20_000);
        let seconds: Vec<u64> = (0..=20).map(|second| second * 1_000_000_000).collect();
        assert_eq!(counters, seconds);
    }

    proptest! {
        #[test]
        fn a_late_wake_up_delays_no_later_run(
            state_ms in 20_u64..3000,
            counters_ms in 20_u64..3000,
            late_us in proptest::collection::vec(0_u64..5000, 1..50),
        ) {
            let (state, counters) = read_by_the_loop(state_ms, counters_ms, &late_us, 30_000);
            for (runs, interval_ms) in [(state, state_ms), (counters, counters_ms)] {
                for (deadline, ran_ns) in runs.into_iter().enumerate() {
                    let deadline_ns = deadline as u64 * interval_ms * 1_000_000;
                    // A run waits for its own wake-up, or for the one just before it.
                    prop_assert!((deadline_ns..deadline_ns + 10_000_000).contains(&ran_ns));
                }
            }
        }
    }

    #[test]
    fn the_loop_wakes_up_at_the_shorter_interval_until_checks_have_run() {
        let schedule = Schedule::new(Duration::from_secs(1), Duration::from_millis(300));
        assert_eq!(schedule.until_next(7), Duration::from_millis(300));
    }
}
