//! Whether the polling loop is stuck, for `/healthz`.
//!
//! Measured in real time on a monotonic clock, because a simulated clock must not hide a loop that
//! is stuck. The caller passes the time; no clock is read here. A poll counts when it is finished,
//! whether or not it succeeded. While a batch is retried the loop cannot finish its poll and still
//! counts as alive, for up to one minute; a single call without an answer is not a retry.

use std::time::{Duration, Instant};

/// Number of polling intervals without a finished poll after which the loop counts as stuck.
const INTERVALS: u32 = 3;
/// Minimum time after which the loop counts as stuck.
const LEAST: Duration = Duration::from_secs(3);
/// How long retries of one poll's batches count as alive.
const RETRIES: Duration = Duration::from_secs(60);

/// The times by which the loop is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alive {
    threshold: Duration,
    /// When the last poll finished; initially the start.
    polled: Instant,
    /// The latest time at which the loop was known to be alive; during a wait for a retry, the end
    /// of the wait.
    sign: Instant,
    /// When the first batch of the present poll was first sent.
    publishing: Option<Instant>,
}

/// The loop is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stale {
    /// Time since the last poll finished.
    pub(crate) since: Duration,
    /// The limit.
    pub(crate) threshold: Duration,
}

impl Alive {
    /// Starts alive, with this polling interval.
    pub(crate) fn new(interval: Duration, now: Instant) -> Alive {
        Alive {
            threshold: (interval * INTERVALS).max(LEAST),
            polled: now,
            sign: now,
            publishing: None,
        }
    }

    /// A poll finished.
    pub(crate) fn polled(&mut self, now: Instant) {
        self.polled = now;
        self.sign = now;
        self.publishing = None;
    }

    /// An attempt to publish begins.
    pub(crate) fn publishes(&mut self, now: Instant) {
        self.publishing.get_or_insert(now);
    }

    /// An attempt failed, and the next one follows after a wait.
    pub(crate) fn retries_after(&mut self, wait: Duration, now: Instant) {
        let last = self.publishing.unwrap_or(now) + RETRIES;
        self.sign = self.sign.max((now + wait).min(last));
    }

    /// Whether the loop is stuck.
    pub(crate) fn stale(&self, now: Instant) -> Option<Stale> {
        let quiet = now.saturating_duration_since(self.sign);
        (quiet > self.threshold).then(|| Stale {
            since: now.saturating_duration_since(self.polled),
            threshold: self.threshold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Whether it is stuck this many seconds after the start.
    fn check(alive: &Alive, start: Instant, seconds: u32, stuck: bool) {
        let stale = alive.stale(start + SECOND * seconds);
        assert_eq!(stale.is_some(), stuck, "{seconds} s after the start");
    }

    #[test]
    fn three_intervals_without_a_poll_are_too_many_but_three_seconds_are_not() {
        let start = Instant::now();
        for (interval_ms, threshold) in [(1, 3), (300, 3), (1000, 3), (5000, 15)] {
            let mut alive = Alive::new(Duration::from_millis(interval_ms), start);
            check(&alive, start, threshold, false);
            check(&alive, start, threshold + 1, true);
            alive.polled(start + SECOND * 100);
            check(&alive, start, 100 + threshold, false);
            check(&alive, start, 101 + threshold, true);
        }
    }

    #[test]
    fn it_is_told_how_long_ago_the_last_poll_was() {
        let start = Instant::now();
        let mut alive = Alive::new(SECOND, start);
        alive.polled(start + SECOND);
        let stale = alive.stale(start + SECOND * 6);
        assert_eq!(
            stale,
            Some(Stale {
                since: SECOND * 5,
                threshold: SECOND * 3
            })
        );
    }

    #[test]
    fn a_call_that_gets_no_answer_is_no_life() {
        let start = Instant::now();
        let mut alive = Alive::new(SECOND, start);
        alive.publishes(start);
        check(&alive, start, 4, true);
    }

    #[test]
    fn retries_are_life_for_a_minute() {
        let start = Instant::now();
        let mut alive = Alive::new(SECOND, start);
        for second in (0..120).step_by(10) {
            let now = start + SECOND * second;
            alive.publishes(now);
            alive.retries_after(SECOND * 10, now);
        }
        check(&alive, start, 63, false);
        check(&alive, start, 64, true);
        alive.polled(start + SECOND * 120);
        check(&alive, start, 123, false);
    }
}
