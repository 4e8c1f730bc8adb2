//! How much growth is too much: per poll, or per unit of time.
//!
//! A threshold is passed by more, never by as much. Growth per unit is measured over a window of at
//! least that unit; windows follow each other and are judged when they close.

use super::table::CounterId;

/// A unit of time that rates are measured in; also the shortest window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
}

impl Unit {
    pub(crate) const ALL: [Unit; 3] = [Unit::Second, Unit::Minute, Unit::Hour];

    /// The name in the configuration file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Second => "second",
            Unit::Minute => "minute",
            Unit::Hour => "hour",
        }
    }

    /// The name in messages.
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

/// What growth is measured against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Threshold {
    /// Growth from one poll to the next.
    Delta(f64),
    /// Growth per unit.
    Velocity(f64, Unit),
}

/// A counter that is watched, and by what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Watched {
    pub(crate) id: CounterId,
    pub(crate) threshold: Threshold,
}

/// What a closed window shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// The window is still open.
    Open,
    /// It closes without a fault.
    Below,
    /// Growth passed the threshold; per unit, that fast.
    Above(f64),
}

impl Threshold {
    /// Judges growth since the window began, that long ago on boot time.
    pub(crate) fn judge(self, growth: u64, elapsed_ns: u64) -> Verdict {
        #[expect(
            clippy::cast_precision_loss,
            reason = "growth and spans are compared as the configuration gives them, in floating point"
        )]
        let (growth, elapsed) = (growth as f64, elapsed_ns as f64);
        match self {
            Threshold::Delta(limit) if growth > limit => Verdict::Above(0.0),
            Threshold::Delta(_) => Verdict::Below,
            Threshold::Velocity(_, unit) if elapsed_ns < unit.nanoseconds() => Verdict::Open,
            Threshold::Velocity(limit, unit) => {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a unit is at most an hour: exact in floating point"
                )]
                let units = elapsed / unit.nanoseconds() as f64;
                let rate = growth / units;
                if rate > limit {
                    Verdict::Above(rate)
                } else {
                    Verdict::Below
                }
            }
        }
    }

    /// The unit of a rate as messages tell it.
    pub(crate) fn unit_word(self) -> &'static str {
        match self {
            Threshold::Delta(_) => "interval",
            Threshold::Velocity(_, unit) => unit.short(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[rstest]
    #[case::at_the_threshold(Threshold::Delta(2.0), 2, 1, Verdict::Below)]
    #[case::above_it(Threshold::Delta(2.0), 3, 1, Verdict::Above(0.0))]
    #[case::any(Threshold::Delta(0.0), 1, 0, Verdict::Above(0.0))]
    #[case::none(Threshold::Delta(0.0), 0, 0, Verdict::Below)]
    #[case::open(Threshold::Velocity(10.0, Unit::Second), 99, SECOND - 1, Verdict::Open)]
    #[case::equal(Threshold::Velocity(10.0, Unit::Second), 10, SECOND, Verdict::Below)]
    #[case::faster(
        Threshold::Velocity(10.0, Unit::Second),
        11,
        SECOND,
        Verdict::Above(11.0)
    )]
    #[case::spread(Threshold::Velocity(10.0, Unit::Second), 11, 2 * SECOND, Verdict::Below)]
    #[case::minute(Threshold::Velocity(5.0, Unit::Minute), 6, 60 * SECOND, Verdict::Above(6.0))]
    #[case::hour_open(Threshold::Velocity(120.0, Unit::Hour), 500, 3599 * SECOND, Verdict::Open)]
    #[case::hour(Threshold::Velocity(120.0, Unit::Hour), 121, 3600 * SECOND, Verdict::Above(121.0))]
    fn a_threshold_is_passed_by_more_and_in_a_closed_window(
        #[case] threshold: Threshold,
        #[case] growth: u64,
        #[case] elapsed_ns: u64,
        #[case] want: Verdict,
    ) {
        assert_eq!(threshold.judge(growth, elapsed_ns), want);
    }
}
