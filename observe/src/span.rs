//! A span of time in a descriptor: `5s`, `300ms`, `1m30s`.

use std::{borrow::Cow, fmt, time::Duration};

use jiff::fmt::friendly::SpanParser;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// The longest span that can be written: a day.
const MOST: Duration = Duration::from_hours(24);

/// A span of time, from 0 to a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// The span that a text such as `1m30s` stands for; `None` if it stands for none, or for more than a day.
    /// Units descend from left to right, each at most once; the last number may have a decimal part (jiff,
    /// "friendly duration format").
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let span = SpanParser::new().parse_unsigned_duration(text.trim());
        span.ok().filter(|span| *span <= MOST).map(Self)
    }

    /// Nanoseconds.
    #[must_use]
    pub fn as_ns(self) -> u64 {
        u64::try_from(self.0.as_nanos()).expect("a day in nanoseconds fits 64 bits")
    }
}

/// In seconds, or in milliseconds if it is shorter: `17.5 s`, `300 ms`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            write!(f, "{} ms", self.0.as_millis())
        } else if self.0.subsec_millis() < 100 || self.0 >= Duration::from_secs(100) {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{:.1} s", self.0.as_secs_f64())
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid span of time `{text}`: write a number with a unit, such as `300ms`, `5s` or `1m30s`, a day at most"
            ))
        })
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A span of time such as `300ms`, `5s` or `1m30s`, a day at most.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_numbers_with_falling_units_up_to_a_day() {
        let ms = |text: &str| Span::parse(text).map(|span| span.0.as_millis());
        assert_eq!(ms("300ms"), Some(300));
        assert_eq!(ms("1m30s"), Some(90_000));
        assert_eq!(ms("1.5s"), Some(1_500));
        assert_eq!(ms("24h"), Some(86_400_000));
        for refused in ["", "5", "s", "-5s", "5s1m", "25h", "1x"] {
            assert_eq!(ms(refused), None, "{refused}");
        }
    }

    #[test]
    fn a_span_is_printed_in_seconds_unless_it_is_shorter() {
        let text = |written: &str| Span::parse(written).unwrap().to_string();
        assert_eq!(text("300ms"), "300 ms");
        assert_eq!(text("5s"), "5 s");
        assert_eq!(text("17.5s"), "17.5 s");
        assert_eq!(text("1m40.7s"), "100 s");
    }
}
