//! A number, or all numbers above or below one, as a key of a descriptor. Start at [`ValueRange`].

use std::{borrow::Cow, cmp::Ordering, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};

/// A number, or all numbers above or below one. Numbers by themselves are ordered before ranges.
#[derive(Clone, Copy, Debug)]
pub enum ValueRange {
    /// Exactly this number.
    Is(f64),
    /// Every greater number.
    Above(f64),
    /// Every smaller number.
    Below(f64),
}

impl ValueRange {
    /// The range that `1`, `above 1` or `below 1` stands for; `None` if the text stands for none.
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let number: f64 = text.trim().parse().ok()?;
            number.is_finite().then_some(number)
        };
        match text.trim().split_once(' ') {
            Some(("above", limit)) => number(limit).map(Self::Above),
            Some(("below", limit)) => number(limit).map(Self::Below),
            Some(_) => None,
            None => number(text).map(Self::Is),
        }
    }

    /// Whether a value is in it.
    #[must_use]
    pub fn has(&self, value: f64) -> bool {
        match self {
            Self::Is(number) => value.total_cmp(number).is_eq() || value == *number,
            Self::Above(limit) => value > *limit,
            Self::Below(limit) => value < *limit,
        }
    }

    /// Whether two ranges have values in common. A number by itself goes before ranges and meets none.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Above(_), Self::Above(_)) | (Self::Below(_), Self::Below(_)) => true,
            (Self::Above(low), Self::Below(high)) | (Self::Below(high), Self::Above(low)) => {
                low < high
            }
            _ => false,
        }
    }

    fn key(&self) -> (u8, f64) {
        match self {
            Self::Is(number) => (0, *number),
            Self::Above(limit) => (1, *limit),
            Self::Below(limit) => (2, *limit),
        }
    }
}

impl PartialEq for ValueRange {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ValueRange {}

impl PartialOrd for ValueRange {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ValueRange {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((kind, number), (of, with)) = (self.key(), other.key());
        kind.cmp(&of).then(number.total_cmp(&with))
    }
}

impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(number) => write!(f, "{number}"),
            Self::Above(limit) => write!(f, "above {limit}"),
            Self::Below(limit) => write!(f, "below {limit}"),
        }
    }
}

impl<'de> Deserialize<'de> for ValueRange {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Key;
        impl Visitor<'_> for Key {
            type Value = ValueRange;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, `above N` or `below N`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ValueRange, E> {
                ValueRange::parse(text).ok_or_else(|| {
                    E::custom(format!(
                        "`{text}` is no value: write a number, `above N` or `below N`"
                    ))
                })
            }
        }
        from.deserialize_str(Key)
    }
}

impl JsonSchema for ValueRange {
    fn schema_name() -> Cow<'static, str> {
        "ValueRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^((above|below) )?-?[0-9.]+(e-?[0-9]+)?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_values_that_it_names() {
        let has = |text: &str, value| ValueRange::parse(text).unwrap().has(value);
        assert!(has("1", 1.0) && !has("1", 1.5));
        assert!(has("0", -0.0));
        assert!(has("above 0", 0.1) && !has("above 0", 0.0));
        assert!(has("below -1.5", -2.0) && !has("below -1.5", f64::NAN));
        for refused in ["", "above", "over 1", "above x", "NaN", "inf"] {
            assert_eq!(ValueRange::parse(refused), None, "{refused}");
        }
    }
}
