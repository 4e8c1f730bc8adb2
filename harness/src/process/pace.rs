//! What looks at monitors' processes may cost: together a small part of a CPU, however many monitors there are.
//!
//! A look at one process takes the kernel some ten to some hundred microseconds. With many monitors at once such looks would
//! make the very load that they look for, and would go on making it. Start at [`Pace::pause_after`].

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How many times as long as they took the pauses behind looks are: all together take a fifth of a CPU at most. Chosen: with
/// 160 monitors, each is looked at some three times a second.
const TIMES: u32 = 5;

/// The looks of this process at the processes of all monitors.
pub(super) static LOOKS: Pace = Pace::new();

/// Looks that share a part of a CPU.
#[derive(Debug)]
pub(super) struct Pace {
    /// When the last look ended, and how long a pause was owed then.
    owed: Mutex<Option<(Instant, Duration)>>,
}

impl Pace {
    pub(super) const fn new() -> Self {
        Self {
            owed: Mutex::new(None),
        }
    }

    /// Counts a look that began then and ends now; how long whoever looked makes a pause before the next one. Others look
    /// meanwhile, and what all of them owe is the pause of each.
    pub(super) fn pause_after(&self, began: Instant) -> Duration {
        self.pause(began, Instant::now())
    }

    fn pause(&self, began: Instant, now: Instant) -> Duration {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        let before = owed.map_or(Duration::ZERO, |(since, pause)| {
            pause.saturating_sub(now.saturating_duration_since(since))
        });
        let pause = before + now.saturating_duration_since(began) * TIMES;
        *owed = Some((now, pause));
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(1);

    #[test]
    fn looks_one_after_the_other_take_a_fifth_of_the_time() {
        let pace = Pace::new();
        let begun = Instant::now();
        let mut now = begun;
        for _ in 0..100 {
            now += LOOK;
            now += pace.pause(now - LOOK, now);
        }
        // The pause begins when the look ends.
        assert_eq!(now - begun, 100 * (LOOK + LOOK * TIMES));
    }

    #[test]
    fn looks_of_many_at_once_make_each_wait_for_all_of_them() {
        let pace = Pace::new();
        let now = Instant::now();
        let pauses: Vec<Duration> = (0..3).map(|_| pace.pause(now - LOOK, now)).collect();
        assert_eq!(pauses, [5 * LOOK, 10 * LOOK, 15 * LOOK]);
    }

    #[test]
    fn what_is_owed_is_over_after_a_while() {
        let pace = Pace::new();
        let now = Instant::now();
        pace.pause(now - 100 * LOOK, now);
        let later = now + Duration::from_secs(1);
        assert_eq!(pace.pause(later - LOOK, later), 5 * LOOK);
    }
}
