//! The two values of a need: by when, and for how long not: `within 60s`, `for 5m`, `always`.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::Span;

/// By when something is needed: `within 60s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within(pub Span);

/// How long something must not alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiet {
    /// As long as it lasts.
    Always,
    /// This long from its beginning.
    For(Span),
}

impl Within {
    fn parse(text: &str) -> Option<Self> {
        let (word, span) = text.trim().split_once(' ')?;
        Span::parse(span).filter(|_| word == "within").map(Self)
    }
}

impl Quiet {
    fn parse(text: &str) -> Option<Self> {
        match text.trim().split_once(' ') {
            None if text.trim() == "always" => Some(Self::Always),
            Some(("for", span)) => Span::parse(span).map(Self::For),
            _ => None,
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "within {}", self.0)
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("always"),
            Self::For(span) => write!(f, "for {span}"),
        }
    }
}

impl<'de> Deserialize<'de> for Within {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid time `{text}`: write `within` and a span of time, such as `within 60s`"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Quiet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid time `{text}`: write `always`, or `for` and a span of time, such as `for 5m`"
            ))
        })
    }
}

impl JsonSchema for Within {
    fn schema_name() -> Cow<'static, str> {
        "Within".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "By when, in simulated time: `within 60s`.",
        })
    }
}

impl JsonSchema for Quiet {
    fn schema_name() -> Cow<'static, str> {
        "Quiet".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "How long it must not alarm, in simulated time: `always`, or `for 5m` from its beginning.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_word_and_is_printed_with_it() {
        let within = |text| Within::parse(text).map(|it| it.to_string());
        assert_eq!(within("within 60s").as_deref(), Some("within 60 s"));
        assert_eq!(within("within 1m30s").as_deref(), Some("within 90 s"));
        let quiet = |text| Quiet::parse(text).map(|it| it.to_string());
        assert_eq!(quiet("always").as_deref(), Some("always"));
        assert_eq!(quiet("for 5m").as_deref(), Some("for 300 s"));
        for refused in ["", "60s", "within", "within 60", "for 5m", "after 5s"] {
            assert_eq!(within(refused), None, "{refused}");
        }
        for refused in ["", "5m", "for", "for ever", "within 5m", "never"] {
            assert_eq!(quiet(refused), None, "{refused}");
        }
    }
}
