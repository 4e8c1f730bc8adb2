//! Where each value of a platform's or driver's file stands, by its path.
//!
//! Paths are those of [`crate::provenance`]: keys joined by `.`; a list's element is named by its
//! `name`, else by its number, from 0. The text is read once more, as it stands; what it means is
//! not known here. Start at [`Places::of`] and [`Places::find`].

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::yaml::{self, Place, Spanned, YamlError};

/// The values of a file with their places.
#[derive(Clone, Debug)]
pub(crate) struct Places(Value);

impl Places {
    /// Of this text.
    pub(crate) fn of(file: &str, text: &str) -> Result<Self, YamlError> {
        yaml::read(file, text).map(Self)
    }

    /// The place of the value at `path`, if there is one.
    pub(crate) fn find(&self, path: &str) -> Option<Place> {
        path.split('.')
            .try_fold(&self.0, |value, key| value.below(key))
            .map(|value| value.place)
    }

    /// Whether the value at `path` is this text, or a list that has it.
    pub(crate) fn says(&self, path: &str, text: &str) -> bool {
        let value = path
            .split('.')
            .try_fold(&self.0, |value, key| value.below(key));
        match value.map(|value| &value.of) {
            Some(Kind::Text(own)) => own == text,
            Some(Kind::List(list)) => list
                .iter()
                .any(|element| matches!(&element.of, Kind::Text(own) if own == text)),
            _ => false,
        }
    }
}

/// A value and where it begins.
#[derive(Clone, Debug)]
struct Value {
    place: Place,
    of: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    fn below(&self, key: &str) -> Option<&Self> {
        match &self.of {
            Kind::Text(_) => None,
            Kind::Map(pairs) => {
                let (_, value) = pairs.iter().find(|(name, _)| name == key)?;
                Some(value)
            }
            Kind::List(list) => {
                let named = list.iter().find(|value| value.is_named(key));
                named.or_else(|| list.get(key.parse::<usize>().ok()?))
            }
        }
    }

    fn is_named(&self, key: &str) -> bool {
        let Kind::Map(pairs) = &self.of else {
            return false;
        };
        let name = pairs.iter().find(|(name, _)| name == "name");
        matches!(name, Some((_, Value { of: Kind::Text(name), .. })) if name == key)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Kind>::deserialize(deserializer)?;
        Ok(Self {
            place: spanned.referenced.into(),
            of: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyKind)
    }
}

struct AnyKind;

impl<'de> Visitor<'de> for AnyKind {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Text(String::new()))
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Text(String::new()))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        Kind::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Kind, E> {
        Ok(Kind::Text(truth.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Kind, E> {
        Ok(Kind::Text(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Kind, E> {
        Ok(Kind::Text(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Kind, E> {
        Ok(Kind::Text(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Kind, E> {
        Ok(Kind::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Kind, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Kind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Kind::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "gpus: { numa: [0, 1] }\ndevices:\n  - { name: mlx5_0, topo: PIX SYS }\n  - { name: mlx5_0, topo: SYS PIX }\n";

    fn check(path: &str, expected: Option<&str>) {
        let places = Places::of("p.yaml", TEXT).expect("it can be read");
        let found = places.find(path).map(|place| place.to_string());
        assert_eq!(found.as_deref(), expected, "{path}");
    }

    #[test]
    fn a_value_is_found_by_name_and_by_number() {
        check("gpus.numa", Some("1:15"));
        check("gpus.numa.1", Some("1:19"));
        check("devices.mlx5_0.topo", Some("3:27"));
        check("devices.1.topo", Some("4:27"));
        check("devices.mlx5_1", None);
        check("gpus.numa.1.more", None);
    }
}
