//! Durations in rule files: `250ms`, `90s`, `10m`, `24h`, `5d`.

use std::time::Duration;

use jiff::{SpanRelativeTo, fmt::friendly::SpanParser};

/// The longest window of a rule: the retention of the event store (NVSentinel, store, TTL 30 days).
pub(crate) const SPAN_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// Parses a duration; `None` if it is invalid or longer than 30 days.
#[must_use]
pub fn read_span(text: &str) -> Option<Duration> {
    let span = SpanParser::new().parse_span(text).ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    let span = Duration::try_from(span).ok()?;
    (span <= SPAN_MAX).then_some(span)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("250ms", Some(250))]
    #[case("0s", Some(0))]
    #[case("10m", Some(600_000))]
    #[case("24h", Some(86_400_000))]
    #[case("30d", Some(2_592_000_000))]
    #[case("31d", None)]
    #[case("10", None)]
    #[case("m", None)]
    #[case("1.5h", Some(5_400_000))]
    #[case("1h30m", Some(5_400_000))]
    #[case("1mo", None)]
    #[case("-1s", None)]
    #[case("99999999999999999999s", None)]
    fn a_length_of_time_is_numbers_with_units(#[case] text: &str, #[case] ms: Option<u64>) {
        assert_eq!(read_span(text), ms.map(Duration::from_millis));
    }
}
