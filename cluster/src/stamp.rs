//! An instant as an event carries it: nanoseconds since the epoch, told in UTC.
//!
//! Windows are on these stamps and never on the reader's own clock. No leap seconds, no zones but
//! UTC: the wire has neither.

use std::{fmt, str::FromStr, time::Duration};

use proto::Timestamp;

const NS_PER_S: i64 = 1_000_000_000;
const S_PER_DAY: i64 = 86_400;

/// Nanoseconds since 1970-01-01T00:00:00Z; earlier instants are negative. Reaches to the year 2262.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(i64);

impl Stamp {
    /// The instant so many nanoseconds after the epoch.
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// The instant so many whole seconds after the epoch.
    #[must_use]
    pub const fn from_s(s: i64) -> Self {
        Self(s.saturating_mul(NS_PER_S))
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// The instant that a message of the wire carries; an absent one is the epoch, as a decoder reads it.
    #[must_use]
    pub fn of(timestamp: Option<&Timestamp>) -> Self {
        timestamp.map_or(Self(0), |timestamp| {
            let whole = timestamp.seconds.saturating_mul(NS_PER_S);
            Self(whole.saturating_add(i64::from(timestamp.nanos)))
        })
    }

    /// The same instant as the wire writes it.
    ///
    /// # Panics
    /// Never: what is left of a second is below one billion.
    #[must_use]
    pub fn to_wire(self) -> Timestamp {
        let nanos = self.0.rem_euclid(NS_PER_S);
        Timestamp {
            seconds: self.0.div_euclid(NS_PER_S),
            nanos: i32::try_from(nanos).expect("a remainder below one billion"),
        }
    }

    /// So much later.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(ns(span)))
    }

    /// So much earlier.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(ns(span)))
    }

    /// How far the two lie apart, whichever is the earlier.
    #[must_use]
    pub const fn apart(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.abs_diff(other.0))
    }
}

fn ns(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

/// `2025-03-01T00:01:30Z`, with the fraction that there is in 3, 6 or 9 digits.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, nanos) = (self.0.div_euclid(NS_PER_S), self.0.rem_euclid(NS_PER_S));
        let (day, second) = (whole.div_euclid(S_PER_DAY), whole.rem_euclid(S_PER_DAY));
        let (year, month, day) = civil_of(day);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        match nanos {
            0 => {}
            _ if nanos % 1_000_000 == 0 => write!(f, ".{:03}", nanos / 1_000_000)?,
            _ if nanos % 1_000 == 0 => write!(f, ".{:06}", nanos / 1_000)?,
            _ => write!(f, ".{nanos:09}")?,
        }
        f.write_str("Z")
    }
}

/// A text that is no instant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no instant\nhint: write it in UTC or with its offset, as in `2025-03-01T00:01:30.5Z`"
)]
pub struct StampError(pub String);

/// The form of RFC 3339, with `Z` or an offset, and up to nine digits of a second's fraction.
impl FromStr for Stamp {
    type Err = StampError;

    fn from_str(text: &str) -> Result<Self, StampError> {
        parse(text).ok_or_else(|| StampError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Stamp> {
    let (date, clock) = text.split_at_checked(10)?;
    let clock = clock.strip_prefix(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let zone_at = clock.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let known = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !known || !digits || fraction.len() > 9 {
        return None;
    }
    let nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let [hours, minutes] = numbers(zone.get(1..)?, ':', [2, 2])?;
            let ahead = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            if zone.starts_with('-') { -ahead } else { ahead }
        }
    };
    let whole = days_to(year, month, day) * S_PER_DAY + hour * 3600 + minute * 60 + second - offset;
    whole.checked_mul(NS_PER_S)?.checked_add(nanos).map(Stamp)
}

/// Exactly these numbers of digits, with `between` between them.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for (number, width) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        let plain = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = plain.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(found)
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from the epoch to a day of the Gregorian calendar. Years are counted from March, so that the
/// leap day is a year's last.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The day of the Gregorian calendar so many days after the epoch.
fn civil_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
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
    fn an_instant_is_told_in_utc(#[case] ns: i64, #[case] told: &str) {
        assert_eq!(Stamp::from_ns(ns).to_string(), told);
        assert_eq!(told.parse(), Ok(Stamp::from_ns(ns)));
    }

    #[rstest]
    #[case("2025-03-01T01:00:00+01:00", "2025-03-01T00:00:00Z")]
    #[case("2025-02-28T18:30:00.25-05:30", "2025-03-01T00:00:00.250Z")]
    #[case("2025-03-01 00:00:00z", "2025-03-01T00:00:00Z")]
    fn an_offset_is_taken_off(#[case] said: &str, #[case] utc: &str) {
        assert_eq!(said.parse::<Stamp>().unwrap().to_string(), utc);
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
