//! Kinds of values that are maps, and sets of keys of which one is given.
//!
//! [`MapOf`] is a map of keys; [`OneOf`] and [`AtMostOne`] are alternatives, each with a key of its own;
//! [`WordOr`] and [`OrMap`] are values that are a map or something shorter.

use files::{Node, YamlValue};
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::keys::{Key, KeyRow, Keys, MapForm};
use crate::kind::{Kind, Meanings, Parsed, any_of};
use crate::reader::Fields;

/// A map of these keys and no others; its name.
pub(crate) struct MapOf<F>(pub(crate) &'static str, pub(crate) F);

impl<F: Keys> Kind for MapOf<F> {
    type Value = F::Value;

    fn takes(&self) -> Option<String> {
        Some("a map".to_owned())
    }

    fn choices(&self) -> Meanings {
        let rows = self.1.bare().rows;
        rows.iter().map(|row| (row.name, row.text)).collect()
    }

    fn schema(&self) -> Json {
        self.1.form().schema()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<F::Value> {
        let fields = context.source.open_map(node, self.0)?;
        let form = self.1.bare();
        fields.only(&context.source, form.names(), || {
            self.1.parse(context, &fields)
        })
    }
}

/// One way to write a `T`: a key and its kind.
pub(crate) trait Alternative<T> {
    /// The key.
    fn name(&self) -> &'static str;

    /// The description of the key in a form.
    fn row(&self, form: &MapForm) -> KeyRow;

    /// Parses the key's value.
    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T>;
}

/// A key with a function that converts its value.
pub(crate) struct Alt<K: Kind, T>(Key<K>, fn(K::Value) -> T);

/// A key with a function that converts its value.
pub(crate) const fn alt<K: Kind, T>(
    name: &'static str,
    kind: K,
    text: &'static str,
    becomes: fn(K::Value) -> T,
) -> Alt<K, T> {
    Alt(Key { name, kind, text }, becomes)
}

impl<K: Kind, T> Alternative<T> for Alt<K, T> {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn row(&self, form: &MapForm) -> KeyRow {
        self.0.row(form)
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
        form.exactly_one = self.0.iter().map(|one| one.name()).collect();
        let rows = self.0.iter().map(|one| one.row(form));
        let rows: Vec<KeyRow> = rows.collect();
        form.rows.extend(rows);
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<T> {
        let names: Vec<&'static str> = self.0.iter().map(|one| one.name()).collect();
        let (name, node) = fields.exactly_one(&context.source, &names)?;
        let one = self.0.iter().find(|one| one.name() == name);
        let one = one.expect("the name is one of theirs");
        one.parse(context, node)
    }
}

/// At most one of these keys.
pub(crate) struct AtMostOne<T: 'static>(pub(crate) &'static [&'static dyn Alternative<T>]);

impl<T> Keys for AtMostOne<T> {
    type Value = Option<T>;

    fn rows(&self, form: &mut MapForm) {
        let rows = self.0.iter().map(|one| one.row(form));
        let rows: Vec<KeyRow> = rows.collect();
        form.rows.extend(rows);
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Option<T>> {
        let names = self.0.iter().map(|one| one.name());
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

/// A value of a kind, or a map; the name of both together.
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
            YamlValue::Map(_) => self.2.parse(context, node),
            _ => self.1.parse(context, node),
        }
    }
}

/// A word, or a map of exactly one key.
pub(crate) struct WordOr<T: 'static> {
    /// What the value is called in lists.
    pub(crate) takes: &'static str,
    /// The name of the words, for errors.
    pub(crate) word: &'static str,
    /// The words: what each parses to, and its meaning.
    pub(crate) words: &'static [(&'static str, T, &'static str)],
    /// The name of the map.
    pub(crate) map: &'static str,
    pub(crate) keys: &'static [&'static dyn Alternative<T>],
}

impl<T: Clone> Kind for WordOr<T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        Some(self.takes.to_owned())
    }

    fn choices(&self) -> Meanings {
        let words = self.words.iter().map(|(word, _, text)| (*word, *text));
        let bare = MapForm::bare();
        let keys = self.keys.iter().map(|key| key.row(&bare));
        words.chain(keys.map(|row| (row.name, row.text))).collect()
    }

    fn schema(&self) -> Json {
        let words: Vec<&str> = self.words.iter().map(|(word, ..)| *word).collect();
        any_of([json!({ "enum": words }), OneOf(self.keys).form().schema()])
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        if let YamlValue::Map(_) = node.value {
            return MapOf(self.map, OneOf(self.keys)).parse(context, node);
        }
        let words: Vec<(&str, &T)> = self.words.iter().map(|(word, is, _)| (*word, is)).collect();
        context.source.choice(node, self.word, &words).cloned()
    }
}
