//! Durations as scenarios write them: `400ms`, `3s`, `4m29s`, `1h`.

use simfs::SimTime;

/// Units, longest first, with their length in nanoseconds.
const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The longest duration that can be written (a year), so that no sum of durations overflows.
const MOST: u64 = 365 * 24 * 3_600_000_000_000;

/// Parses a duration such as `400ms`, `3s` or `4m29s`; `None` if the text is not one. Units must decrease
/// from left to right, each at most once; a number may have a decimal part.
#[must_use]
pub fn parse(text: &str) -> Option<SimTime> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    let mut units = &UNITS[..];
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let position = units.iter().position(|(name, _)| *name == unit)?;
        total = total.checked_add(scaled(number, units[position].1)?)?;
        units = &units[position + 1..];
        rest = after;
    }
    (total <= MOST).then(|| SimTime::from_ns(total))
}

/// Parses a duration with an optional minus sign, in nanoseconds.
pub(crate) fn parse_signed(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let ns = i64::try_from(parse(rest)?.as_ns()).ok()?;
    Some(sign * ns)
}

fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let mut ns = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut unit = unit;
    if number.contains('.') && part.is_empty() {
        return None;
    }
    for digit in part.bytes() {
        unit = unit.checked_div(10).filter(|unit| *unit > 0)?;
        ns = ns.checked_add(u64::from(digit.checked_sub(b'0').filter(|d| *d < 10)?) * unit)?;
    }
    Some(ns)
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
