//! A length of simulated time in a promise, in polls or in time: `3 polls`, `30s`.

use std::{borrow::Cow, fmt, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::Span;

/// A length of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// This many polls.
    Polls(u32),
    /// This long.
    Time(Span),
}

impl Lasting {
    /// No time at all.
    pub const NOTHING: Self = Self::Polls(0);

    /// The number of ticks of this length, rounded up.
    ///
    /// # Panics
    /// If a tick has no length.
    #[must_use]
    pub fn ticks(self, tick: Duration) -> u64 {
        match self {
            Self::Polls(polls) => u64::from(polls),
            Self::Time(span) => {
                let ticks = span.0.as_nanos().div_ceil(tick.as_nanos());
                u64::try_from(ticks).expect("a day has fewer ticks than fit 64 bits")
            }
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let polls = |number: &str| number.trim_end().parse().ok().map(Self::Polls);
        match text.trim().split_once("poll") {
            Some((number, "" | "s")) => polls(number),
            Some(_) => None,
            None => Span::parse(text).map(Self::Time),
        }
    }
}

impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Polls(1) => f.write_str("1 poll"),
            Self::Polls(polls) => write!(f, "{polls} polls"),
            Self::Time(span) => write!(f, "{span}"),
        }
    }
}

impl<'de> Deserialize<'de> for Lasting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid length of time `{text}`: write polls or time, such as `3 polls` or `30s`"
            ))
        })
    }
}

impl JsonSchema for Lasting {
    fn schema_name() -> Cow<'static, str> {
        "Lasting".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A length of simulated time, such as `3 polls` or `30s`.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_in_polls_or_in_time_and_is_rounded_up_to_ticks() {
        let ticks = |text: &str| Lasting::parse(text).map(|it| it.ticks(Duration::from_secs(2)));
        assert_eq!(ticks("1 poll"), Some(1));
        assert_eq!(ticks("3 polls"), Some(3));
        assert_eq!(ticks("0s"), Some(0));
        assert_eq!(ticks("3s"), Some(2));
        assert_eq!(ticks("1m"), Some(30));
        for refused in ["", "3", "polls", "-1 polls", "3 pollss", "2 ticks"] {
            assert_eq!(ticks(refused), None, "{refused}");
        }
    }
}
