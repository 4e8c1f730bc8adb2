//! A file that answers nothing: it notes what a type asks of it at one place, and ends there.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

/// What a type asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A map of these keys.
    Keys(&'static [&'static str]),
    /// One of these words.
    Words(&'static [&'static str]),
    /// A map of any names.
    Map,
    /// A list.
    List,
    /// Something that may be absent.
    Perhaps,
    /// A text.
    Text,
    /// A number from 0.
    Count,
    /// Any whole number.
    Number,
    /// `true` or `false`.
    Truth,
    /// Whatever there is.
    Anything,
}

/// A step on the way to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To the value of the nth key.
    Key(usize),
    /// To the names of a map.
    Name,
    /// To the values of a map.
    Entry,
    /// To the items of a list.
    Item,
    /// To what may be absent.
    There,
}

/// What `T` asks for at the end of this route.
pub(super) fn ask<T: DeserializeOwned>(route: &[Step]) -> Asked {
    let mut asked = None;
    let file = File {
        route,
        asked: &mut asked,
    };
    // It never gets what it asks for.
    let _ = T::deserialize(file);
    asked.unwrap_or(Asked::Anything)
}

/// It has been asked.
#[derive(Debug)]
struct Enough;

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("asked")
    }
}

impl std::error::Error for Enough {}

impl serde::de::Error for Enough {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

struct File<'a> {
    route: &'a [Step],
    asked: &'a mut Option<Asked>,
}

impl File<'_> {
    fn note<T>(self, asked: Asked) -> Result<T, Enough> {
        if self.route.is_empty() {
            *self.asked = Some(asked);
        }
        Err(Enough)
    }
}

/// A question that has no places below it.
macro_rules! notes {
    ($($method:ident: $asked:expr,)*) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Enough> {
            self.note($asked)
        }
    )*};
}

impl<'de> Deserializer<'de> for File<'_> {
    type Error = Enough;

    notes! {
        deserialize_any: Asked::Anything,
        deserialize_ignored_any: Asked::Anything,
        deserialize_bool: Asked::Truth,
        deserialize_i8: Asked::Number,
        deserialize_i16: Asked::Number,
        deserialize_i32: Asked::Number,
        deserialize_i64: Asked::Number,
        deserialize_u8: Asked::Count,
        deserialize_u16: Asked::Count,
        deserialize_u32: Asked::Count,
        deserialize_u64: Asked::Count,
        deserialize_f32: Asked::Number,
        deserialize_f64: Asked::Number,
        deserialize_char: Asked::Text,
        deserialize_str: Asked::Text,
        deserialize_string: Asked::Text,
        deserialize_identifier: Asked::Text,
        deserialize_bytes: Asked::Text,
        deserialize_byte_buf: Asked::Text,
        deserialize_unit: Asked::Anything,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Enough> {
        match self.route {
            [Step::There, route @ ..] => visitor.visit_some(File { route, ..self }),
            _ => self.note(Asked::Perhaps),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: V,
    ) -> Result<V::Value, Enough> {
        self.note(Asked::Anything)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Enough> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Enough> {
        match self.route {
            [Step::Item, route @ ..] => visitor.visit_seq(Below {
                file: Some(File { route, ..self }),
                key: None,
            }),
            _ => self.note(Asked::List),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Enough> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Enough> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Enough> {
        match self.route {
            [Step::Name, ..] | [Step::Entry, ..] => visitor.visit_map(Below {
                file: Some(self),
                key: None,
            }),
            _ => self.note(Asked::Map),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Enough> {
        match self.route {
            [Step::Key(nth), route @ ..] => visitor.visit_map(Below {
                key: keys.get(*nth).copied(),
                file: Some(File { route, ..self }),
            }),
            _ => self.note(Asked::Keys(keys)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Enough> {
        self.note(Asked::Words(words))
    }
}

/// The one item or entry of a list or a map that the route leads through.
struct Below<'a> {
    file: Option<File<'a>>,
    /// The key of a map that has keys of its own.
    key: Option<&'static str>,
}

impl<'de> SeqAccess<'de> for Below<'_> {
    type Error = Enough;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Enough> {
        match self.file.take() {
            Some(file) => seed.deserialize(file).map(Some),
            None => Ok(None),
        }
    }
}

impl<'de> MapAccess<'de> for Below<'_> {
    type Error = Enough;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Enough> {
        if let Some(key) = self.key {
            let key: StrDeserializer<'_, Enough> = key.into_deserializer();
            return seed.deserialize(key).map(Some);
        }
        let Some(file) = self.file.take() else {
            return Ok(None);
        };
        match file.route {
            [Step::Name, route @ ..] => seed.deserialize(File { route, ..file }).map(Some),
            [_, route @ ..] => {
                self.file = Some(File { route, ..file });
                seed.deserialize(AnyName).map(Some)
            }
            [] => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Enough> {
        match self.file.take() {
            Some(file) => seed.deserialize(file),
            None => Err(Enough),
        }
    }
}

/// A name that every map takes: the first of its words, 0, or a text.
struct AnyName;

impl<'de> Deserializer<'de> for AnyName {
    type Error = Enough;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Enough> {
        visitor.visit_str("any")
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Enough> {
        visitor.visit_i32(0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Enough> {
        let first: StrDeserializer<'_, Enough> = words.first().ok_or(Enough)?.into_deserializer();
        visitor.visit_enum(first)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
