//! Durations as scenarios write them: `400ms`, `3s`, `4m29s`, `1h`.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;
use simfs::SimTime;

/// The longest time that can be written (a year), so that no sum of times overflows.
const MOST: Duration = Duration::from_hours(365 * 24);

/// A time as scenarios write it, such as `400ms`, `3s` or `4m29s`; `None` if the text is none or means more
/// than a year. Units descend from left to right, each at most once; the last number may have a decimal part
/// (jiff, "friendly duration format").
#[must_use]
pub fn parse(text: &str) -> Option<SimTime> {
    let time = SpanParser::new().parse_unsigned_duration(text.trim());
    let time = time.ok().filter(|time| *time <= MOST)?;
    u64::try_from(time.as_nanos()).ok().map(SimTime::from_ns)
}

/// Parses a duration with an optional minus sign, in nanoseconds.
pub(crate) fn parse_signed(text: &str) -> Option<i64> {
    let time = SpanParser::new().parse_duration(text.trim());
    let time = time.ok().filter(|time| time.unsigned_abs() <= MOST)?;
    i64::try_from(time.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0s", Some(0))]
    #[case("400ms", Some(400))]
    #[case("3s", Some(3_000))]
    #[case("4m29s", Some(269_000))]
    #[case("1h0m1s", Some(3_601_000))]
    #[case("1.5s", Some(1_500))]
    #[case("", None)]
    #[case("3", None)]
    #[case("s", None)]
    #[case("3x", None)]
    #[case("3s3s", None)]
    #[case("3s4m", None)]
    #[case("-3s", None)]
    #[case("1.s", None)]
    #[case("1.2.3s", None)]
    #[case("99999999999999999999s", None)]
    #[case("9000h", None)]
    fn a_time_is_numbers_with_falling_units(#[case] text: &str, #[case] ms: Option<u64>) {
        assert_eq!(parse(text).map(SimTime::as_ms), ms);
    }

    #[test]
    fn a_step_of_the_clock_can_go_back() {
        assert_eq!(parse_signed("-1h"), Some(-3_600_000_000_000));
        assert_eq!(parse_signed("+2s"), Some(2_000_000_000));
        assert_eq!(parse_signed("--2s"), None);
    }
}
