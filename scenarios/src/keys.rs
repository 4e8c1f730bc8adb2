//! Keys of a map: each with its kind, whether it must be there, and what stands for it if it does not.
//!
//! [`Keys`] is one key, or several that are parsed together. What they say of themselves ([`KeyRow`]) is
//! what the schema and the reference pages print. Maps of keys, as values, are in [`crate::map`].

use platforms::yaml::{Node, Value};
use serde_json::{Map, Value as Json, json};

use crate::context::Context;
use crate::kind::{Kind, Meanings, Parsed};
use crate::reader::Fields;

/// Keys that are parsed together.
pub(crate) trait Keys {
    /// What they become.
    type Value;

    /// Says what they are.
    fn rows(&self, form: &mut MapForm);

    /// Parses what a map has of them.
    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Self::Value>;

    /// What they are.
    fn form(&self) -> MapForm {
        let mut form = MapForm::default();
        self.rows(&mut form);
        form
    }
}

/// What a key says of itself.
#[derive(Clone, Debug)]
pub(crate) struct KeyRow {
    /// The key.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) takes: Option<String>,
    /// The words it takes, where each has a meaning of its own.
    pub(crate) choices: Meanings,
    /// Its form in JSON Schema.
    pub(crate) schema: Json,
    /// What it means.
    pub(crate) text: &'static str,
    /// Whether it must be there.
    pub(crate) needed: bool,
    /// What stands for it if it is not.
    pub(crate) default: Option<Literal>,
}

impl KeyRow {
    /// What it means, and whether it is needed or what stands for it.
    pub(crate) fn described(&self) -> String {
        match self.default {
            _ if self.needed => format!("{} Needed.", self.text),
            Some(default) => format!("{} `{default}` unless said.", self.text),
            None => self.text.to_owned(),
        }
    }

    /// Its form, with its meaning.
    pub(crate) fn property(&self) -> Json {
        let mut form = self.schema.clone();
        form["description"] = json!(self.text);
        if let Some(default) = self.default {
            form["default"] = default.json();
        }
        form
    }
}

/// The keys of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapForm {
    /// The keys.
    pub(crate) rows: Vec<KeyRow>,
    /// Of these exactly one is there; a map has one such set at most.
    pub(crate) exactly_one: Vec<&'static str>,
}

impl MapForm {
    /// The names of the keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().map(|row| row.name)
    }

    /// This key first, then these.
    pub(crate) fn after(mut self, row: KeyRow) -> Self {
        self.rows.insert(0, row);
        self
    }

    /// These keys and those.
    pub(crate) fn and(mut self, keys: &impl Keys) -> Self {
        keys.rows(&mut self);
        self
    }

    /// A map of these keys and no others.
    pub(crate) fn schema(&self) -> Json {
        let properties: Map<String, Json> = self
            .rows
            .iter()
            .map(|row| (row.name.to_owned(), row.property()))
            .collect();
        let mut form = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
        });
        let needed: Vec<&str> = self
            .rows
            .iter()
            .filter(|row| row.needed)
            .map(|row| row.name)
            .collect();
        if !needed.is_empty() {
            form["required"] = json!(needed);
        }
        if !self.exactly_one.is_empty() {
            let ways = self.exactly_one.iter();
            let ways: Vec<Json> = ways.map(|name| json!({ "required": [name] })).collect();
            form["oneOf"] = json!(ways);
        }
        form
    }
}

/// A value as a scenario would write it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Literal {
    /// A text.
    Text(&'static str),
    /// A number.
    Whole(i64),
    /// `true` or `false`.
    Truth(bool),
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Truth(truth) => write!(f, "{truth}"),
        }
    }
}

impl Literal {
    fn json(self) -> Json {
        match self {
            Self::Text(text) => json!(text),
            Self::Whole(number) => json!(number),
            Self::Truth(truth) => json!(truth),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Text(text) => Value::Text(text.to_owned()),
            Self::Whole(number) => Value::Whole(number),
            Self::Truth(truth) => Value::Truth(truth),
        }
    }
}

/// A key with a kind of value.
pub(crate) struct Key<K> {
    pub(crate) name: &'static str,
    pub(crate) kind: K,
    pub(crate) text: &'static str,
}

/// A key that must be there.
pub(crate) struct Needed<K>(Key<K>);

/// A key that may be there.
pub(crate) struct Maybe<K>(Key<K>);

/// A key for which a value stands if it is not there.
pub(crate) struct Defaulted<K>(Key<K>, Literal);

/// A key that must be there.
pub(crate) const fn need<K: Kind>(name: &'static str, kind: K, text: &'static str) -> Needed<K> {
    Needed(Key { name, kind, text })
}

/// A key that may be there.
pub(crate) const fn maybe<K: Kind>(name: &'static str, kind: K, text: &'static str) -> Maybe<K> {
    Maybe(Key { name, kind, text })
}

/// A key for which this value stands if it is not there.
pub(crate) const fn or<K: Kind>(
    name: &'static str,
    default: Literal,
    kind: K,
    text: &'static str,
) -> Defaulted<K> {
    Defaulted(Key { name, kind, text }, default)
}

impl<K: Kind> Key<K> {
    /// What it says of itself, as a key that may be there.
    pub(crate) fn row(&self) -> KeyRow {
        KeyRow {
            name: self.name,
            takes: self.kind.takes(),
            choices: self.kind.choices(),
            schema: self.kind.schema(),
            text: self.text,
            needed: false,
            default: None,
        }
    }
}

impl<K: Kind> Keys for Needed<K> {
    type Value = K::Value;

    fn rows(&self, form: &mut MapForm) {
        form.rows.push(KeyRow {
            needed: true,
            ..self.0.row()
        });
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<K::Value> {
        let node = fields.need(&context.source, self.0.name)?;
        self.0.kind.parse(context, node)
    }
}

impl<K: Kind> Keys for Maybe<K> {
    type Value = Option<K::Value>;

    fn rows(&self, form: &mut MapForm) {
        form.rows.push(self.0.row());
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Self::Value> {
        fields.maybe(self.0.name, |node| self.0.kind.parse(context, node))
    }
}

impl<K: Kind> Keys for Defaulted<K> {
    type Value = K::Value;

    fn rows(&self, form: &mut MapForm) {
        form.rows.push(KeyRow {
            default: Some(self.1),
            ..self.0.row()
        });
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<K::Value> {
        let default = || Node {
            place: fields.place,
            value: self.1.value(),
        };
        match fields.get(self.0.name) {
            Some(node) => self.0.kind.parse(context, node),
            None => self.0.kind.parse(context, &default()),
        }
    }
}

/// Keys, and what they become together.
pub(crate) struct Become<F: Keys, T> {
    keys: F,
    becomes: fn(&Context<'_>, &Fields<'_>, F::Value) -> Parsed<T>,
}

/// Keys, and what they become together.
pub(crate) const fn together<F: Keys, T>(
    keys: F,
    becomes: fn(&Context<'_>, &Fields<'_>, F::Value) -> Parsed<T>,
) -> Become<F, T> {
    Become { keys, becomes }
}

impl<F: Keys, T> Keys for Become<F, T> {
    type Value = T;

    fn rows(&self, form: &mut MapForm) {
        self.keys.rows(form);
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<T> {
        (self.becomes)(context, fields, self.keys.parse(context, fields)?)
    }
}

macro_rules! tuples {
    ($($($one:ident)*;)*) => {$(
        impl<$($one: Keys),*> Keys for ($($one,)*) {
            type Value = ($($one::Value,)*);

            #[expect(non_snake_case, reason = "each name is its type's")]
            fn rows(&self, form: &mut MapForm) {
                let ($($one,)*) = self;
                $($one.rows(form);)*
            }

            #[expect(non_snake_case, reason = "each name is its type's")]
            fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Self::Value> {
                let ($($one,)*) = self;
                Ok(($($one.parse(context, fields)?,)*))
            }
        }
    )*};
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

/// No keys.
impl Keys for () {
    type Value = ();

    fn rows(&self, _: &mut MapForm) {}

    fn parse(&self, _: &Context<'_>, _: &Fields<'_>) -> Parsed<()> {
        Ok(())
    }
}
