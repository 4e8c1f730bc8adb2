//! A word of a line, as one row of a table: its name, its value's kind, its keys, its meaning, an
//! example, and what it parses to.
//!
//! The rows for `do:` are in [`crate::verbs`], those for `expect:` in [`crate::expectations`]. Start at
//! [`Row`].

use files::{Mistakes, Node};
use serde_json::Value as Json;

use crate::context::Context;
use crate::keys::{KeyRow, Keys, MapForm};
use crate::kind::{Kind, Meanings, Parsed};
use crate::reader::{Fields, Source};

/// A word's name, meaning and example.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The word.
    pub(crate) name: &'static str,
    /// What it means, in one or two sentences.
    pub(crate) text: &'static str,
    /// An example line; `None` for a word that is not implemented yet.
    pub(crate) example: Option<&'static str>,
}

/// A word that parses a line to a `T`.
pub(crate) trait Row<T> {
    /// Its name, meaning and example.
    fn entry(&self) -> Entry;

    /// The kind of its value, such as `ports`; `None` if it takes no value.
    fn takes(&self) -> Option<String> {
        None
    }

    /// The words that it accepts, if each has its own meaning.
    fn choices(&self) -> Meanings {
        Vec::new()
    }

    /// The JSON Schema of its value; `false` accepts none.
    fn schema(&self) -> Json {
        Json::Bool(false)
    }

    /// A form with the keys that may stand beside it.
    fn keys(&self, form: MapForm) -> MapForm {
        form
    }

    /// A form with further keys, shared with other words.
    fn shared_keys(&self, form: MapForm) -> MapForm {
        form
    }

    /// Whether the word may stand alone, without a value.
    fn alone(&self) -> bool {
        false
    }

    /// Parses a line.
    fn parse(&self, line: &Line<'_, '_>) -> Parsed<T>;

    /// A form with all keys of its line: the word itself, its own keys, and the shared ones.
    fn line(&self, mut form: MapForm) -> MapForm {
        let entry = self.entry();
        let described = (!form.is_bare).then_some(self);
        form.rows.push(KeyRow {
            name: entry.name,
            takes: described.and_then(Self::takes),
            choices: described.map(Self::choices).unwrap_or_default(),
            schema: described.map(Self::schema).unwrap_or_default(),
            text: entry.text,
            needed: true,
            default: None,
        });
        self.shared_keys(self.keys(form))
    }
}

/// A line that is being parsed.
pub(crate) struct Line<'a, 'n> {
    /// The text and the declared handles.
    pub(crate) context: &'a Context<'a>,
    /// The word's value.
    pub(crate) value: &'n Node,
    /// The whole line.
    pub(crate) fields: Fields<'n>,
}

impl<'a> Line<'a, '_> {
    /// The text.
    pub(crate) fn source(&self) -> &'a Source<'a> {
        &self.context.source
    }

    /// The value of a key that this line requires.
    pub(crate) fn needs<V>(&self, name: &str, value: Option<V>) -> Parsed<V> {
        value.ok_or_else(|| self.fields.missing(self.source(), name))
    }

    /// The first of these keys that is present.
    pub(crate) fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        let there = |name: &&&'static str| self.fields.get(name).is_some();
        names.iter().find(there).copied()
    }
}

/// A word with the kind of its value, its keys, and a function that converts them.
pub(crate) struct Word<K, F, B> {
    entry: Entry,
    kind: K,
    keys: F,
    shared: fn(MapForm) -> MapForm,
    becomes: B,
}

/// A word with the kind of its value, its keys, and a function that converts them.
pub(crate) const fn word<K: Kind, F: Keys, T, B>(
    name: &'static str,
    kind: K,
    text: &'static str,
    example: &'static str,
    keys: F,
    becomes: B,
) -> Word<K, F, B>
where
    B: Fn(&Line<'_, '_>, K::Value, F::Value) -> Parsed<T>,
{
    Word {
        entry: Entry {
            name,
            text,
            example: Some(example),
        },
        kind,
        keys,
        shared: |form| form,
        becomes,
    }
}

impl<K, F, B> Word<K, F, B> {
    /// The same word, with keys that it shares with others.
    pub(crate) const fn sharing(mut self, shared: fn(MapForm) -> MapForm) -> Self {
        self.shared = shared;
        self
    }
}

impl<K: Kind, F: Keys, T, B> Row<T> for Word<K, F, B>
where
    B: Fn(&Line<'_, '_>, K::Value, F::Value) -> Parsed<T>,
{
    fn entry(&self) -> Entry {
        self.entry
    }

    fn takes(&self) -> Option<String> {
        self.kind.takes()
    }

    fn choices(&self) -> Meanings {
        self.kind.choices()
    }

    fn schema(&self) -> Json {
        self.kind.schema()
    }

    fn keys(&self, form: MapForm) -> MapForm {
        form.and(&self.keys)
    }

    fn shared_keys(&self, form: MapForm) -> MapForm {
        (self.shared)(form)
    }

    fn alone(&self) -> bool {
        self.kind.alone()
    }

    fn parse(&self, line: &Line<'_, '_>) -> Parsed<T> {
        let value = self.kind.parse(line.context, line.value);
        let keys = self.keys.parse(line.context, &line.fields);
        let (value, keys) = Mistakes::in_both(value, keys)?;
        (self.becomes)(line, value, keys)
    }
}

/// A word that is reserved but not implemented.
pub(crate) struct Planned {
    /// The word.
    pub(crate) name: &'static str,
    /// What it will mean.
    pub(crate) text: &'static str,
}

impl<T> Row<T> for Planned {
    fn entry(&self) -> Entry {
        Entry {
            name: self.name,
            text: self.text,
            example: None,
        }
    }

    fn parse(&self, line: &Line<'_, '_>) -> Parsed<T> {
        let what = format!("`{}` is not built yet", self.name);
        Err(line
            .source()
            .not_built(line.fields.place_of(self.name), what))
    }
}

/// Finds the one word of a line that a table knows, and its value; `what` names such words in errors.
pub(crate) fn find<'n, T>(
    source: &Source<'_>,
    fields: &Fields<'n>,
    what: &'static str,
    table: &[&'static dyn Row<T>],
) -> Parsed<(&'static dyn Row<T>, &'n Node)> {
    let of = |name: &str| table.iter().copied().find(|row| row.entry().name == name);
    let mut found = fields
        .pairs
        .iter()
        .filter_map(|(key, node)| Some((of(&key.name)?, key, node)));
    match (found.next(), found.next()) {
        (Some((row, _, node)), None) => Ok((row, node)),
        (Some((first, ..)), Some((second, key, _))) => {
            let (first, second) = (first.entry().name, second.entry().name);
            Err(source
                .wrong(key.place, format!("`{first}` and `{second}` in one line"))
                .hint("write two lines"))
        }
        (None, _) => {
            let names = table.iter().map(|row| row.entry().name);
            match fields.pairs.first() {
                Some((key, _)) => Err(source.unknown(key.place, what, &key.name, names)),
                None => Err(source.wrong(fields.place, format!("an empty map, expected a {what}"))),
            }
        }
    }
}
