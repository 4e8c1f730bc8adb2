//! When the ticks of a story come.
//!
//! Tick k comes k intervals after the start, and up to the jitter later, as a monitor's timer does.
//! How late each comes follows from the seed and its number alone, so both arms, and every repetition,
//! play the same times. Tick 0 is never late.

use simfs::SimTime;

/// The resolution of lateness.
const MS: u64 = 1_000_000;

/// The times of a story's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    every: SimTime,
    jitter: SimTime,
    seed: u64,
}

impl Ticks {
    /// Ticks at whole multiples of this time.
    ///
    /// # Panics
    /// If the time is zero.
    #[must_use]
    pub const fn every(every: SimTime) -> Self {
        assert!(every.as_ns() > 0, "ticks are some time apart");
        Self {
            every,
            jitter: SimTime::ZERO,
            seed: 0,
        }
    }

    /// Each tick up to `jitter` late, in whole milliseconds.
    ///
    /// # Panics
    /// If the jitter is not shorter than the interval: ticks come in their order.
    #[must_use]
    pub const fn late(self, jitter: SimTime, seed: u64) -> Self {
        assert!(
            jitter.as_ns() < self.every.as_ns(),
            "ticks come in their order"
        );
        Self {
            jitter,
            seed,
            ..self
        }
    }

    /// The time between two ticks that are not late.
    #[must_use]
    pub const fn interval(self) -> SimTime {
        self.every
    }

    /// The time of a tick.
    #[must_use]
    pub const fn at(self, tick: u64) -> SimTime {
        let late_ms = match (tick, self.jitter.as_ms()) {
            (0, _) | (_, 0) => 0,
            (_, jitter_ms) => scatter(self.seed ^ scatter(tick)) % (jitter_ms + 1),
        };
        let at_ns = self.every.times(tick).as_ns();
        SimTime::from_ns(at_ns.saturating_add(late_ms * MS))
    }

    /// The first tick at or after this time.
    #[must_use]
    pub fn first_from(self, time: SimTime) -> u64 {
        let tick = time.as_ns() / self.every.as_ns();
        tick + u64::from(self.at(tick) < time)
    }

    /// The last tick at or before this time.
    #[must_use]
    pub fn last_until(self, time: SimTime) -> u64 {
        let tick = time.as_ns() / self.every.as_ns();
        tick - u64::from(self.at(tick) > time)
    }

    /// The number of intervals that cover a duration.
    #[must_use]
    pub const fn covering(self, span: SimTime) -> u64 {
        span.div_ceil(self.every)
    }
}

/// Scatters a number over all numbers (`SplitMix64`; Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators").
const fn scatter(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_instant_belongs_to_the_first_tick_that_is_not_before_it() {
        let ticks = Ticks::every(SimTime::from_secs(1));
        let from = [0, 1, 999, 1_000, 1_001].map(|ms| ticks.first_from(SimTime::from_ms(ms)));
        assert_eq!(from, [0, 1, 1, 1, 2]);
        let until = [0, 1, 999, 1_000, 1_001].map(|ms| ticks.last_until(SimTime::from_ms(ms)));
        assert_eq!(until, [0, 0, 0, 1, 1]);
        assert_eq!(ticks.at(7), SimTime::from_secs(7));
        assert_eq!(ticks.covering(SimTime::from_ms(1_001)), 2);
    }

    #[test]
    fn another_seed_is_late_at_other_times() {
        let times = |seed| {
            let ticks = Ticks::every(SimTime::from_secs(1)).late(SimTime::from_ms(5), seed);
            (0..100).map(|tick| ticks.at(tick)).collect::<Vec<_>>()
        };
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
        let late: std::collections::BTreeSet<u64> = (0..100)
            .zip(times(1))
            .map(|(tick, at)| at.as_ms() - tick * 1000)
            .collect();
        assert_eq!(late, (0..=5).collect(), "every lateness comes");
    }

    proptest! {
        #[test]
        fn a_tick_is_never_early_and_late_by_the_jitter_at_most(
            every_ms in 1_u64..5_000,
            part in 0_u64..1_000,
            seed: u64,
            tick in 0_u64..100_000,
        ) {
            let jitter_ms = part * (every_ms - 1) / 1_000;
            let ticks = Ticks::every(SimTime::from_ms(every_ms)).late(SimTime::from_ms(jitter_ms), seed);
            let at = ticks.at(tick);
            prop_assert!((tick * every_ms..=tick * every_ms + jitter_ms).contains(&at.as_ms()));
            prop_assert!(at < ticks.at(tick + 1));
            prop_assert_eq!(ticks.at(0), SimTime::ZERO);
        }

        #[test]
        fn the_tick_of_a_time_is_found_again(
            every_ms in 2_u64..5_000,
            seed: u64,
            time_ms in 0_u64..10_000_000,
        ) {
            let ticks = Ticks::every(SimTime::from_ms(every_ms)).late(SimTime::from_ms(every_ms / 2), seed);
            let time = SimTime::from_ms(time_ms);
            let (from, until) = (ticks.first_from(time), ticks.last_until(time));
            prop_assert!(ticks.at(until) <= time && time <= ticks.at(from));
            prop_assert!(from - until <= 1);
            prop_assert_eq!(from == until, ticks.at(from) == time);
        }
    }
}
