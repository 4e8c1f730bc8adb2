//! A YAML text as a tree in which every value and every key has its place.
//!
//! It allows errors about misspelt keys, duplicate keys and values of the wrong kind at their place,
//! with a list of what is allowed. Values are not interpreted. Start at [`Node`].

use std::{collections::BTreeSet, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use crate::Place;

/// A part of a document: its place, and whether it is a list, which may have the place of its first item.
pub(crate) type Part = (Place, bool);

/// A value with its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The place where it begins.
    pub place: Place,
    /// The value.
    pub value: YamlValue,
}

/// A value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum YamlValue {
    /// `null`, or an empty value.
    #[default]
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// A whole number.
    Whole(i64),
    /// Another number, to the precision of `f64`.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values, in their order.
    Map(Vec<(Key, Node)>),
}

/// A key with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The place where it begins.
    pub place: Place,
    /// The key.
    pub name: String,
}

impl YamlValue {
    /// The name of the kind of value, for error texts.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Truth(_) => "a truth value",
            Self::Whole(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Text(_) if self.is_too_large() => "a whole number that is too large",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// Whether it is a whole number that is too large to be read as one, which is a text here.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        let Self::Text(text) = self else {
            return false;
        };
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number && text.parse::<i64>().is_err()
    }
}

impl fmt::Display for Node {
    /// As one line: `flap: storm, times: 4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

impl Node {
    /// What this key of a map leads to, or this item of a list, by its number from 0; and where it begins: the key's place,
    /// or the item's.
    #[must_use]
    pub fn below(&self, key: &str) -> Option<(Place, &Self)> {
        match &self.value {
            YamlValue::Map(pairs) => {
                let found = pairs.iter().find(|(known, _)| known.name == key);
                found.map(|(known, node)| (known.place, node))
            }
            YamlValue::List(items) => {
                let item = items.get(key.parse::<usize>().ok()?)?;
                Some((item.place, item))
            }
            _ => None,
        }
    }

    /// The keys that stand in their map already, in the order of the text.
    pub(crate) fn twins(&self) -> Vec<&Key> {
        match &self.value {
            YamlValue::List(items) => items.iter().flat_map(Node::twins).collect(),
            YamlValue::Map(pairs) => {
                let twins = pairs.iter().enumerate().flat_map(|(at, (key, node))| {
                    let before = pairs[..at].iter();
                    let is_twin = before.map(|(other, _)| other).any(|of| of.name == key.name);
                    is_twin.then_some(key).into_iter().chain(node.twins())
                });
                twins.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Which part of its document it is. One that has no place is any part without one.
    pub(crate) fn part(&self) -> Part {
        let is_list = matches!(self.value, YamlValue::List(_));
        (self.place, is_list && self.place != Place::default())
    }

    /// Leaves out keys that stand in their map already. The places of what a twin was of are noted, and of all that it is
    /// in: of two values neither is the right one. The result is whether anything was left out.
    pub(crate) fn forget_twins(&mut self, noted: &mut BTreeSet<Part>) -> bool {
        let mut has_lost = false;
        match &mut self.value {
            YamlValue::List(items) => {
                for item in items {
                    has_lost |= item.forget_twins(noted);
                }
            }
            YamlValue::Map(pairs) => {
                let mut names = BTreeSet::new();
                let mut twins = BTreeSet::new();
                pairs.retain(|(key, _)| {
                    let is_first = names.insert(key.name.clone());
                    if !is_first {
                        twins.insert(key.name.clone());
                    }
                    is_first
                });
                for (key, node) in pairs {
                    has_lost |= node.forget_twins(noted);
                    if twins.contains(&key.name) {
                        noted.insert(node.part());
                    }
                }
                has_lost |= !twins.is_empty();
            }
            _ => {}
        }
        if has_lost {
            noted.insert(self.part());
        }
        has_lost
    }

    /// Leaves out every place.
    pub(crate) fn forget_places(&mut self) {
        self.place = Place::default();
        match &mut self.value {
            YamlValue::List(items) => items.iter_mut().for_each(Self::forget_places),
            YamlValue::Map(pairs) => {
                for (key, node) in pairs {
                    key.place = Place::default();
                    node.forget_places();
                }
            }
            _ => {}
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, outermost: bool) -> fmt::Result {
        match &self.value {
            YamlValue::Null => f.write_str("null"),
            YamlValue::Truth(truth) => write!(f, "{truth}"),
            YamlValue::Whole(number) => write!(f, "{number}"),
            YamlValue::Number(number) => write!(f, "{number}"),
            YamlValue::Text(text) => match text.trim_end().split_once('\n') {
                Some((first, _)) => write!(f, "{first} …"),
                None => f.write_str(text.trim_end()),
            },
            YamlValue::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    item.write(f, false)?;
                }
                f.write_str("]")
            }
            YamlValue::Map(pairs) => {
                f.write_str(if outermost { "" } else { "{ " })?;
                for (i, (key, value)) in pairs.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    write!(f, "{}: ", key.name)?;
                    value.write(f, false)?;
                }
                f.write_str(if outermost { "" } else { " }" })
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<YamlValue>::deserialize(deserializer)?;
        Ok(Self {
            place: spanned.referenced.into(),
            value: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_none<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<YamlValue, D::Error> {
        YamlValue::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Truth(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<YamlValue, E> {
        Ok(i64::try_from(number)
            .map_or_else(|_| YamlValue::Text(number.to_string()), YamlValue::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<YamlValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(YamlValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlValue, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let key = Key {
                place: key.referenced.into(),
                name: key.value,
            };
            pairs.push((key, map.next_value()?));
        }
        Ok(YamlValue::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_that_is_too_large_is_called_one() {
        for (text, kind) in [
            ("9223372036854775807", "a whole number"),
            ("9223372036854775808", "a whole number that is too large"),
            ("18446744073709551615", "a whole number that is too large"),
            ("many", "a text"),
            ("\"12\"", "a text"),
            ("\"-\"", "a text"),
        ] {
            let node: Node = crate::yaml::read("f", &format!("[ {text} ]")).unwrap();
            let (_, item) = node.below("0").unwrap();
            assert_eq!(item.value.kind(), kind, "{text}");
        }
    }
}
