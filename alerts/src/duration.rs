//! A duration as Prometheus writes it. Start at [`milliseconds`].

/// The units, the longest first, each with its length in milliseconds (Prometheus, "Configuration", `<duration>`).
const UNITS: [(&str, u64); 7] = [
    ("y", 31_536_000_000),
    ("w", 604_800_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// The longest duration, in milliseconds: Prometheus counts nanoseconds in 63 bits.
const MOST_MS: u64 = i64::MAX as u64 / 1_000_000;

/// The milliseconds of a duration such as `1d12h` or `90s`; `None` if it is none. Its numbers are whole, its units descend from left to
/// right, each at most once; `0` needs none.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let (mut rest, mut sum) = (text, 0_u64);
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(is_no_digit)?);
        let end = after.find(|letter: char| letter.is_ascii_digit());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let (_, length) = units.find(|(name, _)| *name == unit)?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(*length)?)?;
        rest = after;
    }
    (!text.is_empty() && sum <= MOST_MS).then_some(sum)
}

fn is_no_digit(letter: char) -> bool {
    !letter.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(milliseconds(text), expected, "{text}");
    }

    #[test]
    fn whole_numbers_with_descending_units_are_a_duration() {
        check("0", Some(0));
        check("0s", Some(0));
        check("90s", Some(90_000));
        check("1d12h", Some(129_600_000));
        check("1m1s1ms", Some(61_001));
        check("1w1y", None);
        check("1s1s", None);
        check("1.5m", None);
        check("1 minute", None);
        check("5", None);
        check("m", None);
        check("-5m", None);
        check("", None);
        check("293y", None);
        check("99999999999999999999s", None);
    }
}
