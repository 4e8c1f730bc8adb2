//! Keys of a map: each with its kind, whether it is required, and its default.
//!
//! [`Keys`] is one key, or several that are parsed together. Their descriptions ([`KeyRow`]) are the
//! source of the JSON Schema and the reference pages. Values that are maps of keys are in
//! [`crate::map`].

use files::{Mistakes, Node, YamlValue};
use serde_json::{Map, Value as Json, json};

use crate::context::Context;
use crate::kind::{Kind, Meanings, Parsed};
use crate::reader::Fields;

/// Keys that are parsed together.
pub(crate) trait Keys {
    /// What they parse to.
    type Value;

    /// Adds their descriptions to a form.
    fn rows(&self, form: &mut MapForm);

    /// Parses these keys from a map.
    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Self::Value>;

    /// Their descriptions.
    fn form(&self) -> MapForm
    where
        Self: Sized,
    {
        MapForm::default().and(self)
    }

    /// Their names, without what they take.
    fn bare(&self) -> MapForm
    where
        Self: Sized,
    {
        MapForm::bare().and(self)
    }
}

/// The description of a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyRow {
    pub(crate) name: &'static str,
    /// The kind of its value, such as `a duration`.
    pub(crate) takes: Option<String>,
    /// The words that it accepts, if each has its own meaning.
    pub(crate) choices: Meanings,
    /// Its value as JSON Schema.
    pub(crate) schema: Json,
    /// What it means.
    pub(crate) text: &'static str,
    /// Whether it is required.
    pub(crate) needed: bool,
    /// Its default, if it has one.
    pub(crate) default: Option<Literal>,
}

impl KeyRow {
    /// What it means, and whether it is required or what its default is.
    pub(crate) fn described(&self) -> String {
        match self.default {
            _ if self.needed => format!("{} Required.", self.text),
            Some(default) => format!("{} Default: `{default}`.", self.text),
            None => self.text.to_owned(),
        }
    }

    /// Its JSON Schema, with its meaning as the description.
    pub(crate) fn property(&self) -> Json {
        let mut form = self.schema.clone();
        form["description"] = json!(self.text);
        if let Some(default) = self.default {
            form["default"] = default.json();
        }
        form
    }
}

/// The descriptions of a map's keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapForm {
    /// The keys.
    pub(crate) rows: Vec<KeyRow>,
    /// Keys of which exactly one must be present; a map has at most one such set.
    pub(crate) exactly_one: Vec<&'static str>,
    /// Whether the rows say nothing of values: a parser needs the names alone, of every map that it reads.
    pub(crate) is_bare: bool,
}

impl MapForm {
    /// A form whose rows will have no `takes`, no `choices` and no `schema`.
    pub(crate) fn bare() -> Self {
        Self {
            is_bare: true,
            ..Self::default()
        }
    }

    /// The names of the keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows.iter().map(|row| row.name)
    }

    /// Prepends this key.
    pub(crate) fn after(mut self, row: KeyRow) -> Self {
        self.rows.insert(0, row);
        self
    }

    /// Appends these keys.
    pub(crate) fn and(mut self, keys: &impl Keys) -> Self {
        keys.rows(&mut self);
        self
    }

    /// The JSON Schema of a map that has these keys and no others.
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

/// A literal value as a scenario writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Literal {
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

    fn value(self) -> YamlValue {
        match self {
            Self::Text(text) => YamlValue::Text(text.to_owned()),
            Self::Whole(number) => YamlValue::Whole(number),
            Self::Truth(truth) => YamlValue::Truth(truth),
        }
    }
}

/// A key with the kind of its value.
pub(crate) struct Key<K> {
    pub(crate) name: &'static str,
    pub(crate) kind: K,
    pub(crate) text: &'static str,
}

/// A required key.
pub(crate) struct Needed<K>(Key<K>);

/// An optional key.
pub(crate) struct Maybe<K>(Key<K>);

/// A key with a default.
pub(crate) struct Defaulted<K>(Key<K>, Literal);

/// A required key.
pub(crate) const fn need<K: Kind>(name: &'static str, kind: K, text: &'static str) -> Needed<K> {
    Needed(Key { name, kind, text })
}

/// An optional key.
pub(crate) const fn maybe<K: Kind>(name: &'static str, kind: K, text: &'static str) -> Maybe<K> {
    Maybe(Key { name, kind, text })
}

/// A key with this default.
pub(crate) const fn or<K: Kind>(
    name: &'static str,
    default: Literal,
    kind: K,
    text: &'static str,
) -> Defaulted<K> {
    Defaulted(Key { name, kind, text }, default)
}

impl<K: Kind> Key<K> {
    /// Its description in a form, as an optional key.
    pub(crate) fn row(&self, form: &MapForm) -> KeyRow {
        let described = (!form.is_bare).then_some(&self.kind);
        KeyRow {
            name: self.name,
            takes: described.and_then(Kind::takes),
            choices: described.map(Kind::choices).unwrap_or_default(),
            schema: described.map(Kind::schema).unwrap_or_default(),
            text: self.text,
            needed: false,
            default: None,
        }
    }
}

impl<K: Kind> Keys for Needed<K> {
    type Value = K::Value;

    fn rows(&self, form: &mut MapForm) {
        let row = self.0.row(form);
        form.rows.push(KeyRow {
            needed: true,
            ..row
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
        let row = self.0.row(form);
        form.rows.push(row);
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Self::Value> {
        fields.maybe(self.0.name, |node| self.0.kind.parse(context, node))
    }
}

impl<K: Kind> Keys for Defaulted<K> {
    type Value = K::Value;

    fn rows(&self, form: &mut MapForm) {
        let row = self.0.row(form);
        form.rows.push(KeyRow {
            default: Some(self.1),
            ..row
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

/// Keys with a function that converts their values.
pub(crate) struct Become<F: Keys, T> {
    keys: F,
    becomes: fn(&Context<'_>, &Fields<'_>, F::Value) -> Parsed<T>,
}

/// Keys with a function that converts their values.
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
                let mut mistakes = Mistakes::default();
                $(let $one = mistakes.take($one.parse(context, fields));)*
                mistakes.or(Some(()))?;
                Ok(($($one.expect("there is no mistake"),)*))
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
