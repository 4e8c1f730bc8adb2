//! Thresholds of growth: per poll, or per unit of time.
//!
//! A threshold is exceeded by more, not by the same amount. Growth per unit is measured over a
//! window of that unit or longer; windows follow each other, and each is judged when it ends. Polls
//! come a little early or late, so a window also ends at a poll up to [`TOLERANCE`] before its
//! unit is over. Such a window counts as one unit: its growth is not extrapolated.

use std::time::Duration;

use super::table::CounterId;

/// By how much a window may be shorter than its unit. Chosen: more than a busy machine delays a poll
/// by, and less than the time between two polls down to a tenth of a second.
pub(crate) const TOLERANCE: Duration = Duration::from_millis(75);

/// A unit of time for rates; also the shortest window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// One second.
    Second,
    /// Sixty seconds.
    Minute,
    /// 3600 seconds.
    Hour,
}

impl Unit {
    pub(crate) const ALL: [Unit; 3] = [Unit::Second, Unit::Minute, Unit::Hour];

    /// Its name in the configuration file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Second => "second",
            Unit::Minute => "minute",
            Unit::Hour => "hour",
        }
    }

    /// Its name in messages.
    pub(crate) fn short(self) -> &'static str {
        match self {
            Unit::Second => "sec",
            Unit::Minute => "min",
            Unit::Hour => "hour",
        }
    }

    pub(crate) fn nanoseconds(self) -> u64 {
        const SECOND: u64 = 1_000_000_000;
        match self {
            Unit::Second => SECOND,
            Unit::Minute => 60 * SECOND,
            Unit::Hour => 3600 * SECOND,
        }
    }
}

/// How growth is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// Growth from one poll to the next.
    Delta(f64),
    /// Growth per unit.
    Velocity(f64, Unit),
}

/// A watched counter, and its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Watched {
    pub(crate) id: CounterId,
    pub(crate) threshold: Threshold,
}

/// The result of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It has not ended yet.
    Open,
    /// It ended without a fault.
    Below,
    /// It ended, and growth exceeded the threshold.
    Above,
}

impl Threshold {
    /// Judges growth since the window began; its age is in boot time. A window may be shorter than
    /// its unit by the tolerance.
    pub(crate) fn judge(self, growth: u64, elapsed_ns: u64, tolerance: Duration) -> Verdict {
        let tolerance_ns = u64::try_from(tolerance.as_nanos()).unwrap_or(u64::MAX);
        let is_above = match self {
            Threshold::Velocity(_, unit)
                if elapsed_ns.saturating_add(tolerance_ns) < unit.nanoseconds() =>
            {
                return Verdict::Open;
            }
            Threshold::Velocity(limit, _) => self.rate(growth, elapsed_ns) > limit,
            Threshold::Delta(limit) => number(growth) > limit,
        };
        if is_above {
            Verdict::Above
        } else {
            Verdict::Below
        }
    }

    /// Growth per unit, in a window that has ended; 0 if growth is measured per poll.
    pub(crate) fn rate(self, growth: u64, elapsed_ns: u64) -> f64 {
        match self {
            Threshold::Delta(_) => 0.0,
            Threshold::Velocity(_, unit) => {
                let unit_ns = unit.nanoseconds();
                let units = number(elapsed_ns.max(unit_ns)) / number(unit_ns);
                number(growth) / units
            }
        }
    }

    /// The unit of a rate, as messages name it.
    pub(crate) fn unit_word(self) -> &'static str {
        match self {
            Threshold::Delta(_) => "interval",
            Threshold::Velocity(_, unit) => unit.short(),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "growth and spans are compared as the configuration gives thresholds: in floating point"
)]
fn number(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const TOLERANCE_NS: u64 = 75_000_000;

    #[rstest]
    #[case::at_the_threshold(Threshold::Delta(2.0), 2, 1, Verdict::Below)]
    #[case::above_it(Threshold::Delta(2.0), 3, 1, Verdict::Above)]
    #[case::any(Threshold::Delta(0.0), 1, 0, Verdict::Above)]
    #[case::none(Threshold::Delta(0.0), 0, 0, Verdict::Below)]
    #[case::open(Threshold::Velocity(10.0, Unit::Second), 99, SECOND - TOLERANCE_NS - 1, Verdict::Open)]
    #[case::reached_within_the_tolerance(Threshold::Velocity(10.0, Unit::Second), 11, SECOND - TOLERANCE_NS, Verdict::Above)]
    #[case::nothing_is_extrapolated(Threshold::Velocity(10.0, Unit::Second), 10, SECOND - TOLERANCE_NS, Verdict::Below)]
    #[case::the_tolerance_of_a_minute_is_the_same(Threshold::Velocity(5.0, Unit::Minute), 6, 59 * SECOND, Verdict::Open)]
    #[case::equal(Threshold::Velocity(10.0, Unit::Second), 10, SECOND, Verdict::Below)]
    #[case::faster(Threshold::Velocity(10.0, Unit::Second), 11, SECOND, Verdict::Above)]
    #[case::spread(Threshold::Velocity(10.0, Unit::Second), 11, 2 * SECOND, Verdict::Below)]
    #[case::minute(Threshold::Velocity(5.0, Unit::Minute), 6, 60 * SECOND, Verdict::Above)]
    #[case::hour_open(Threshold::Velocity(120.0, Unit::Hour), 500, 3599 * SECOND, Verdict::Open)]
    #[case::hour(Threshold::Velocity(120.0, Unit::Hour), 121, 3600 * SECOND, Verdict::Above)]
    fn a_threshold_is_passed_by_more_and_in_a_closed_window(
        #[case] threshold: Threshold,
        #[case] growth: u64,
        #[case] elapsed_ns: u64,
        #[case] want: Verdict,
    ) {
        assert_eq!(threshold.judge(growth, elapsed_ns, TOLERANCE), want);
    }

    #[rstest]
    #[case(Threshold::Delta(0.0), 7, SECOND, "0.00/interval")]
    #[case(Threshold::Velocity(1.0, Unit::Second), 11, 2 * SECOND, "5.50/sec")]
    #[case(Threshold::Velocity(1.0, Unit::Second), 12, 998_000_000, "12.00/sec")]
    #[case(Threshold::Velocity(1.0, Unit::Minute), 6, 90 * SECOND, "4.00/min")]
    #[case(Threshold::Velocity(1.0, Unit::Hour), 121, 3600 * SECOND, "121.00/hour")]
    fn a_rate_is_growth_per_unit(
        #[case] threshold: Threshold,
        #[case] growth: u64,
        #[case] elapsed_ns: u64,
        #[case] want: &str,
    ) {
        let rate = threshold.rate(growth, elapsed_ns);
        assert_eq!(format!("{rate:.2}/{}", threshold.unit_word()), want);
    }
}
