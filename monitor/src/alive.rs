//! Whether the monitor is alive: what `/healthz` answers.
//!
//! Real time, on the clock that never steps: a simulated clock must not hide a loop that is stuck.
//! It is told the time, and reads no clock. A poll counts when it is finished, whether or not it
//! succeeded. While a batch is tried again the loop cannot finish its poll, and is alive
//! nevertheless, for a minute; a single call that gets no answer is no retry.

use std::time::{Duration, Instant};

/// Polls that may be missing before the loop counts as stuck.
const INTERVALS: u32 = 3;
/// Shorter than this no loop counts as stuck.
const LEAST: Duration = Duration::from_secs(3);
/// For how long retries of one poll's batches count as life.
const RETRIES: Duration = Duration::from_secs(60);

/// The signs of life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alive {
    threshold: Duration,
    /// When the last poll was finished; at first, the start.
    polled: Instant,
    /// The latest sign of life; while a retry is waited for, its time.
    sign: Instant,
    /// When the first batch of the present poll was first tried.
    publishing: Option<Instant>,
}

/// The loop is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stale {
    /// Since the last poll was finished.
    pub(crate) since: Duration,
    /// What would still do.
    pub(crate) threshold: Duration,
}

impl Alive {
    /// Alive from now on, with polls at this interval.
    pub(crate) fn new(interval: Duration, now: Instant) -> Alive {
        Alive {
            threshold: (interval * INTERVALS).max(LEAST),
            polled: now,
            sign: now,
            publishing: None,
        }
    }

    /// A poll is finished.
    pub(crate) fn polled(&mut self, now: Instant) {
        self.polled = now;
        self.sign = now;
        self.publishing = None;
    }

    /// An attempt to publish begins.
    pub(crate) fn publishes(&mut self, now: Instant) {
        self.publishing.get_or_insert(now);
    }

    /// An attempt failed, and the next one comes after a wait.
    pub(crate) fn retries_after(&mut self, wait: Duration, now: Instant) {
        let last = self.publishing.unwrap_or(now) + RETRIES;
        self.sign = self.sign.max((now + wait).min(last));
    }

    /// Is the loop stuck?
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

    /// Whether it is stuck so many seconds after the start.
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
