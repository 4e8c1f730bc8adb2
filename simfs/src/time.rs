//! Simulated time in nanoseconds.

use std::{fmt, ops};

/// An instant of a drill, or a duration: nanoseconds since the drill's start.
///
/// Range: 0 to about 584 years. Arithmetic saturates, so that the largest value can stand for
/// "never".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

impl SimTime {
    /// The drill's start.
    pub const ZERO: Self = Self(0);
    /// The largest value, later than every instant of a drill.
    pub const MAX: Self = Self(u64::MAX);

    /// From nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// From milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// From seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000_000
    }

    /// The duration from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This duration multiplied by `count`.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// The number of times that `span` must be repeated to cover this duration.
    ///
    /// # Panics
    /// If `span` is zero.
    #[must_use]
    pub const fn div_ceil(self, span: Self) -> u64 {
        self.0.div_ceil(span.0)
    }

    /// The instant one nanosecond earlier; `None` for zero.
    #[must_use]
    pub const fn before(self) -> Option<Self> {
        match self.0.checked_sub(1) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }
}

impl ops::Add for SimTime {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl ops::AddAssign for SimTime {
    fn add_assign(&mut self, span: Self) {
        *self = *self + span;
    }
}

impl fmt::Display for SimTime {
    /// Seconds with as many decimals as necessary: `12s`, `0.4s`, `90.25s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secs, ns) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        if ns == 0 {
            return f.pad(&format!("{secs}s"));
        }
        let decimals = format!("{ns:09}");
        f.pad(&format!("{secs}.{}s", decimals.trim_end_matches('0')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_prints_as_seconds_without_trailing_zeros() {
        assert_eq!(SimTime::from_secs(12).to_string(), "12s");
        assert_eq!(SimTime::from_ms(400).to_string(), "0.4s");
        assert_eq!(SimTime::from_ms(90_250).to_string(), "90.25s");
        assert_eq!(format!("{:>5}|", SimTime::from_secs(9)), "   9s|");
    }

    #[test]
    fn an_instant_is_in_the_first_tick_that_covers_it() {
        let tick = SimTime::from_secs(1);
        let of = |ms| SimTime::from_ms(ms).div_ceil(tick);
        assert_eq!([0, 1, 999, 1_000, 1_001].map(of), [0, 1, 1, 1, 2]);
        assert_eq!(tick.times(of(1_001)), SimTime::from_secs(2));
    }

    #[test]
    fn arithmetic_stops_at_both_ends_of_time() {
        assert_eq!(SimTime::ZERO.since(SimTime::from_secs(1)), SimTime::ZERO);
        assert_eq!(SimTime::MAX + SimTime::from_secs(1), SimTime::MAX);
        assert_eq!(SimTime::MAX.times(2), SimTime::MAX);
        assert_eq!(SimTime::ZERO.before(), None);
        assert_eq!(SimTime::from_ns(1).before(), Some(SimTime::ZERO));
    }
}
