//! Durations as Go reads them (`time.ParseDuration`): `300ms`, `1s`, `1m30s`, `1.5h`, `0`.
//!
//! The flags of NVSentinel's monitor have this grammar. jiff, which reads durations elsewhere, has another: no `0`
//! without a unit, no `.5s`, units in descending order, each at most once, and a fraction in the last one only.

use std::time::Duration;

/// Nanoseconds of each unit; longer suffixes first where one ends another.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration; `None` if the text is not one, is negative, or exceeds 2^63 ns.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    rest = rest.strip_prefix('+').unwrap_or(rest);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total_ns: u128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let letters = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, next) = tail.split_at(letters);
        let unit_ns = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        total_ns = total_ns.checked_add(scaled_ns(number, unit_ns)?)?;
        rest = next;
    }
    let total_ns = u64::try_from(total_ns).ok()?;
    (i64::try_from(total_ns).is_ok()).then(|| Duration::from_nanos(total_ns))
}

/// `number` units in nanoseconds; smaller fractions are cut off.
fn scaled_ns(number: &str, unit_ns: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') || whole.len() > 19 {
        return None;
    }
    let unit_ns = u128::from(unit_ns);
    let mut ns = if whole.is_empty() {
        0
    } else {
        whole.parse::<u128>().ok()?.checked_mul(unit_ns)?
    };
    let mut share = unit_ns;
    for digit in fraction.bytes() {
        share /= 10;
        ns += u128::from(digit - b'0') * share;
    }
    Some(ns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1s", Some(1_000_000_000))]
    #[case("300ms", Some(300_000_000))]
    #[case("1m30s", Some(90_000_000_000))]
    #[case("1.5h", Some(5_400_000_000_000))]
    #[case(".5s", Some(500_000_000))]
    #[case("0", Some(0))]
    #[case("", None)]
    #[case("1", None)]
    #[case("s", None)]
    #[case("-1s", None)]
    #[case("1 s", None)]
    #[case("1.2.3s", None)]
    #[case("9999999h", None)]
    #[case("1000000000000000000ns", Some(1_000_000_000_000_000_000))]
    #[case("00000000000000000001s", None)]
    fn a_duration_is_read_as_go_reads_it(#[case] text: &str, #[case] want_ns: Option<u64>) {
        assert_eq!(parse_duration(text), want_ns.map(Duration::from_nanos));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_no_panic(text in "[0-9.hmsnuµ+ -]{0,12}") {
            let _ = parse_duration(&text);
        }

        #[test]
        fn milliseconds_come_back(ms in 0_u32..) {
            let want = Some(Duration::from_millis(ms.into()));
            prop_assert_eq!(parse_duration(&format!("{ms}ms")), want);
        }
    }
}
