//! Keys of a map: each with its kind, whether it must be there, and what stands for it if it does not.
//!
//! [`Keys`] is one key, or several that are parsed together: a tuple, or exactly one of several. What
//! they say of themselves ([`KeyRow`]) is what the schema and the reference pages print.

use platforms::yaml::{Node, Value};
use serde_json::{Map, Value as Json, json};

use crate::context::Context;
use crate::kind::{Kind, Meanings, Parsed, any_of};
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
    pub(crate) fn told(&self) -> String {
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
    /// Of each of these sets exactly one is there.
    pub(crate) exactly_one: Vec<Vec<&'static str>>,
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
        let one = |names: &Vec<&str>| -> Vec<Json> {
            names
                .iter()
                .map(|name| json!({ "required": [name] }))
                .collect()
        };
        match &self.exactly_one[..] {
            [] => {}
            [names] => form["oneOf"] = json!(one(names)),
            sets => {
                let sets: Vec<Json> = sets
                    .iter()
                    .map(|set| json!({ "oneOf": one(set) }))
                    .collect();
                form["allOf"] = json!(sets);
            }
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
    name: &'static str,
    kind: K,
    text: &'static str,
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
    fn row(&self) -> KeyRow {
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

/// One way of saying a `T`: a key and its kind.
pub(crate) trait Alternative<T> {
    /// What the key says of itself.
    fn row(&self) -> KeyRow;

    /// Parses the key's value.
    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T>;
}

/// A key, and what its value becomes.
pub(crate) struct Alt<K: Kind, T>(Key<K>, fn(K::Value) -> T);

/// A key, and what its value becomes.
pub(crate) const fn alt<K: Kind, T>(
    name: &'static str,
    kind: K,
    text: &'static str,
    becomes: fn(K::Value) -> T,
) -> Alt<K, T> {
    Alt(Key { name, kind, text }, becomes)
}

impl<K: Kind, T> Alternative<T> for Alt<K, T> {
    fn row(&self) -> KeyRow {
        self.0.row()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        self.0.kind.parse(context, node).map(self.1)
    }
}

/// Exactly one of these keys.
pub(crate) struct OneOf<T: 'static>(pub(crate) &'static [&'static dyn Alternative<T>]);

impl<T> Keys for OneOf<T> {
    type Value = T;

    fn rows(&self, form: &mut MapForm) {
        let rows: Vec<KeyRow> = self.0.iter().map(|one| one.row()).collect();
        form.exactly_one
            .push(rows.iter().map(|row| row.name).collect());
        form.rows.extend(rows);
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<T> {
        let names: Vec<&'static str> = self.0.iter().map(|one| one.row().name).collect();
        let (name, node) = fields.exactly_one(&context.source, &names)?;
        let one = self.0.iter().find(|one| one.row().name == name);
        let one = one.expect("the name is one of theirs");
        one.parse(context, node)
    }
}

/// At most one of these keys.
pub(crate) struct AtMostOne<T: 'static>(pub(crate) &'static [&'static dyn Alternative<T>]);

impl<T> Keys for AtMostOne<T> {
    type Value = Option<T>;

    fn rows(&self, form: &mut MapForm) {
        form.rows.extend(self.0.iter().map(|one| one.row()));
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Option<T>> {
        let names = self.0.iter().map(|one| one.row().name);
        let there: Vec<&str> = names.filter(|name| fields.get(name).is_some()).collect();
        match there[..] {
            [] => Ok(None),
            [_] => OneOf(self.0).parse(context, fields).map(Some),
            [first, second, ..] => Err(context
                .source
                .wrong(
                    fields.place_of(second),
                    format!("`{first}` and `{second}` together"),
                )
                .hint("say one of them")),
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

/// A map of these keys and no others; what it is called.
pub(crate) struct MapOf<F>(pub(crate) &'static str, pub(crate) F);

impl<F: Keys> Kind for MapOf<F> {
    type Value = F::Value;

    fn takes(&self) -> Option<String> {
        Some("a map".to_owned())
    }

    fn choices(&self) -> Meanings {
        let rows = self.1.form().rows;
        rows.iter().map(|row| (row.name, row.text)).collect()
    }

    fn schema(&self) -> Json {
        self.1.form().schema()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<F::Value> {
        let fields = context.source.open_map(node, self.0)?;
        fields.known(&context.source, self.1.form().names())?;
        self.1.parse(context, &fields)
    }
}

/// A value of a kind, or a map; what is said of it where it is listed.
pub(crate) struct OrMap<K, M>(pub(crate) &'static str, pub(crate) K, pub(crate) M);

impl<T, K: Kind<Value = T>, M: Kind<Value = T>> Kind for OrMap<K, M> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn choices(&self) -> Meanings {
        [self.1.choices(), self.2.choices()].concat()
    }

    fn schema(&self) -> Json {
        any_of([self.1.schema(), self.2.schema()])
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        match node.value {
            Value::Map(_) => self.2.parse(context, node),
            _ => self.1.parse(context, node),
        }
    }
}

/// A word, or a map of exactly one key.
pub(crate) struct WordOr<T: 'static> {
    /// What is said of it where it is listed.
    pub(crate) takes: &'static str,
    /// What an unknown word is called.
    pub(crate) word: &'static str,
    /// The words, what each becomes, and its meaning.
    pub(crate) words: &'static [(&'static str, T, &'static str)],
    /// What the map is called.
    pub(crate) map: &'static str,
    /// Its keys.
    pub(crate) keys: &'static [&'static dyn Alternative<T>],
}

impl<T: Clone> Kind for WordOr<T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        Some(self.takes.to_owned())
    }

    fn choices(&self) -> Meanings {
        let words = self.words.iter().map(|(word, _, text)| (*word, *text));
        let keys = self.keys.iter().map(|key| key.row());
        words.chain(keys.map(|row| (row.name, row.text))).collect()
    }

    fn schema(&self) -> Json {
        let words: Vec<&str> = self.words.iter().map(|(word, ..)| *word).collect();
        any_of([json!({ "enum": words }), OneOf(self.keys).form().schema()])
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        if let Value::Map(_) = node.value {
            return MapOf(self.map, OneOf(self.keys)).parse(context, node);
        }
        let words: Vec<(&str, &T)> = self.words.iter().map(|(word, is, _)| (*word, is)).collect();
        context.source.choice(node, self.word, &words).cloned()
    }
}
