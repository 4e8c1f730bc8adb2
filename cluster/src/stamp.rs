//! Timestamps of events: nanoseconds since the epoch, displayed in UTC.
//!
//! Windows use these timestamps and never the reader's own clock. There are no leap seconds and no time
//! zones other than UTC, because the wire format has neither.

use std::{fmt, str::FromStr, time::Duration};

use proto::Timestamp;

const NS_PER_S: i64 = 1_000_000_000;

/// Nanoseconds since 1970-01-01T00:00:00Z; earlier instants are negative. Reaches to the year 2262.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(i64);

impl Stamp {
    /// The timestamp `ns` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// The timestamp `s` seconds after the epoch.
    #[must_use]
    pub const fn from_s(s: i64) -> Self {
        Self(s.saturating_mul(NS_PER_S))
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// The timestamp of a message on the wire; a missing one is the epoch, as in a decoder.
    #[must_use]
    pub fn of(timestamp: Option<&Timestamp>) -> Self {
        timestamp.map_or(Self(0), |timestamp| {
            let whole = timestamp.seconds.saturating_mul(NS_PER_S);
            Self(whole.saturating_add(i64::from(timestamp.nanos)))
        })
    }

    /// The timestamp in the wire format.
    ///
    /// # Panics
    /// Never: the fraction of a second is below one billion nanoseconds.
    #[must_use]
    pub fn to_wire(self) -> Timestamp {
        let nanos = self.0.rem_euclid(NS_PER_S);
        Timestamp {
            seconds: self.0.div_euclid(NS_PER_S),
            nanos: i32::try_from(nanos).expect("a remainder below one billion"),
        }
    }

    /// The timestamp `span` later.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(ns(span)))
    }

    /// The timestamp `span` earlier.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(ns(span)))
    }

    /// The absolute difference of the two.
    #[must_use]
    pub const fn apart(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.abs_diff(other.0))
    }
}

fn ns(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

/// `2025-03-01T00:01:30Z`, with a fraction of 3, 6 or 9 digits if necessary.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_wire().fmt(f)
    }
}

/// An invalid timestamp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid timestamp `{0}`\nhint: {hint}", hint = Self::HINT)]
pub struct StampError(pub String);

impl StampError {
    /// The hint.
    pub const HINT: &str = "write it in UTC or with its offset, as in `2025-03-01T00:01:30.5Z`";
}

/// Parses RFC 3339, with `Z` or an offset, and up to nine fractional digits.
impl FromStr for Stamp {
    type Err = StampError;

    fn from_str(text: &str) -> Result<Self, StampError> {
        parse(text).ok_or_else(|| StampError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Stamp> {
    if !has_form(text) {
        return None;
    }
    let reported: Timestamp = text.parse().ok()?;
    let whole = reported.seconds.checked_mul(NS_PER_S)?;
    whole.checked_add(i64::from(reported.nanos)).map(Stamp)
}

/// Whether the text has this form. The parser accepts more: a date only, a time without zone, a leap
/// second, any number of digits.
fn has_form(text: &str) -> bool {
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    let form: String = text.chars().map(digits).collect();
    let parts = form.split_at_checked(19).and_then(|(whole, rest)| {
        let (fraction, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
        Some((whole, fraction, zone))
    });
    let Some((whole, fraction, zone)) = parts else {
        return false;
    };
    let whole_second = ["T", "t", " "].map(|between| format!("0000-00-00{between}00:00:00"));
    whole_second.iter().any(|form| form == whole)
        && text.get(17..19) != Some("60")
        && (fraction.is_empty()
            || (2..=10).contains(&fraction.len()) && ".000000000".starts_with(fraction))
        && ["Z", "z", "+00:00", "-00:00"].contains(&zone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "1970-01-01T00:00:00Z")]
    #[case(1_740_787_200_000_000_000, "2025-03-01T00:00:00Z")]
    #[case(1_740_787_200_500_000_000, "2025-03-01T00:00:00.500Z")]
    #[case(1_740_787_199_999_999_999, "2025-02-28T23:59:59.999999999Z")]
    #[case(1_709_164_800_000_001_000, "2024-02-29T00:00:00.000001Z")]
    #[case(-1_000_000_000, "1969-12-31T23:59:59Z")]
    fn an_instant_is_told_in_utc(#[case] ns: i64, #[case] rendered: &str) {
        assert_eq!(Stamp::from_ns(ns).to_string(), rendered);
        assert_eq!(rendered.parse(), Ok(Stamp::from_ns(ns)));
    }

    #[rstest]
    #[case("2025-03-01T01:00:00+01:00", "2025-03-01T00:00:00Z")]
    #[case("2025-02-28T18:30:00.25-05:30", "2025-03-01T00:00:00.250Z")]
    #[case("2025-03-01 00:00:00z", "2025-03-01T00:00:00Z")]
    fn an_offset_is_taken_off(#[case] reported: &str, #[case] utc: &str) {
        assert_eq!(reported.parse::<Stamp>().unwrap().to_string(), utc);
    }

    #[rstest]
    #[case("")]
    #[case("2025-03-01")]
    #[case("2025-03-01T00:00:00")]
    #[case("2025-02-29T00:00:00Z")]
    #[case("2025-13-01T00:00:00Z")]
    #[case("2025-03-01T24:00:00Z")]
    #[case("2025-03-01T00:00:00.Z")]
    #[case("2025-03-01T00:00:00.1234567890Z")]
    #[case("2025-03-01T00:00:00+1:00")]
    #[case("2025-03-01T00:00:00+01")]
    #[case("2025-03-01T00:00:00+24:00")]
    #[case("2025-06-30T23:59:60Z")]
    #[case("2025-3-01T00:00:00Z")]
    #[case("9999-01-01T00:00:00Z")]
    fn another_text_is_no_instant(#[case] text: &str) {
        assert_eq!(text.parse::<Stamp>(), Err(StampError(text.to_owned())));
    }

    proptest! {
        #[test]
        fn an_instant_survives_its_own_text_and_the_wire(ns in any::<i64>()) {
            let stamp = Stamp::from_ns(ns);
            prop_assert_eq!(Stamp::of(Some(&stamp.to_wire())), stamp);
            prop_assert_eq!(stamp.to_string().parse(), Ok(stamp));
        }
    }
}
