//! Kinds of values: how one is parsed, what a person calls it, and its form in JSON Schema.
//!
//! A kind is data in a table of keys, and the only source of what is said of it: the parser, the schema
//! and the reference pages ask the same kind. Here are the kinds that are made of parameters or of
//! other kinds; those of this language are in [`crate::values`]. Start at [`Kind`].

use std::marker::PhantomData;

use platforms::yaml::{Node, Place, Value};
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::error::ScenarioError;

/// What parsing gives.
pub(crate) type Parsed<T> = Result<T, ScenarioError>;

/// Words that may be written, each with its meaning.
pub(crate) type Meanings = Vec<(&'static str, &'static str)>;

/// A kind of value.
pub(crate) trait Kind {
    /// What a value of it becomes.
    type Value;

    /// What it takes, such as `a time`; `None` if no value is written.
    fn takes(&self) -> Option<String>;

    /// The words it takes, where each has a meaning of its own.
    fn choices(&self) -> Meanings {
        Vec::new()
    }

    /// Whether no value need be written.
    fn alone(&self) -> bool {
        false
    }

    /// Its form in JSON Schema.
    fn schema(&self) -> Json;

    /// Parses a value.
    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value>;
}

/// A kind with its own way of parsing.
pub(crate) struct Plain<T> {
    takes: &'static str,
    schema: fn() -> Json,
    parse: fn(&Context<'_>, &Node) -> Parsed<T>,
}

/// A kind that is called so, has this form, and is parsed so.
pub(crate) const fn plain<T>(
    takes: &'static str,
    schema: fn() -> Json,
    parse: fn(&Context<'_>, &Node) -> Parsed<T>,
) -> Plain<T> {
    Plain {
        takes,
        schema,
        parse,
    }
}

impl<T> Kind for Plain<T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        Some(self.takes.to_owned())
    }

    fn schema(&self) -> Json {
        (self.schema)()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        (self.parse)(context, node)
    }
}

/// A kind whose values are checked, or become something else.
pub(crate) struct Checked<K: Kind, T>(
    pub(crate) K,
    pub(crate) fn(&Context<'_>, &Node, K::Value) -> Parsed<T>,
);

impl<K: Kind, T> Kind for Checked<K, T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        self.0.takes()
    }

    fn choices(&self) -> Meanings {
        self.0.choices()
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        (self.1)(context, node, self.0.parse(context, node)?)
    }
}

/// The form of a text; a number stands for its digits.
pub(crate) fn text_form() -> Json {
    json!({ "type": ["string", "number"] })
}

/// The form of a text that no number can stand for.
pub(crate) fn string_form() -> Json {
    json!({ "type": "string" })
}

/// The form of one of several.
pub(crate) fn any_of(forms: impl IntoIterator<Item = Json>) -> Json {
    json!({ "anyOf": forms.into_iter().collect::<Vec<_>>() })
}

/// A text that is not empty, called so.
pub(crate) struct Text(pub(crate) &'static str);

impl Kind for Text {
    type Value = String;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn schema(&self) -> Json {
        text_form()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<String> {
        context.source.text(node, self.0)
    }
}

/// A text, also an empty one, called so.
pub(crate) struct AnyText(pub(crate) &'static str);

impl Kind for AnyText {
    type Value = String;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn schema(&self) -> Json {
        text_form()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<String> {
        context.source.any_text(node, self.0)
    }
}

/// A whole number, both ends included.
pub(crate) struct Number<T> {
    least: u64,
    most: u64,
    of: PhantomData<fn() -> T>,
}

/// A whole number of this range.
pub(crate) const fn number<T>(least: u64, most: u64) -> Number<T> {
    Number {
        least,
        most,
        of: PhantomData,
    }
}

/// The largest count of anything.
const COUNT_MAX: u64 = 1_000_000;

/// A whole number from this one on, and not absurdly large.
pub(crate) const fn count<T>(least: u64) -> Number<T> {
    number(least, COUNT_MAX)
}

impl<T: TryFrom<u64>> Kind for Number<T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        Some("a number".to_owned())
    }

    fn schema(&self) -> Json {
        json!({ "type": "integer", "minimum": self.least, "maximum": self.most })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        let number = context.source.number(node, self.least, self.most)?;
        Ok(T::try_from(number)
            .unwrap_or_else(|_| panic!("a number up to {} fits its type", self.most)))
    }
}

/// One of these words; what an unknown one is called, and what each becomes.
pub(crate) struct Words<T: 'static>(
    pub(crate) &'static str,
    pub(crate) &'static [(&'static str, T)],
);

impl<T: Clone> Kind for Words<T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        let words: Vec<String> = self.1.iter().map(|(word, _)| format!("`{word}`")).collect();
        Some(match &words[..] {
            [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => words.join(""),
        })
    }

    fn schema(&self) -> Json {
        json!({ "enum": self.1.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        context.source.choice(node, self.0, self.1)
    }
}

/// One of these words, each with its meaning.
pub(crate) struct Choices<T: 'static>(
    pub(crate) &'static str,
    pub(crate) &'static [(&'static str, T, &'static str)],
);

impl<T: Clone> Kind for Choices<T> {
    type Value = T;

    fn takes(&self) -> Option<String> {
        Some("a word".to_owned())
    }

    fn choices(&self) -> Meanings {
        self.1
            .iter()
            .map(|(word, _, text)| (*word, *text))
            .collect()
    }

    fn schema(&self) -> Json {
        json!({ "enum": self.1.iter().map(|(word, ..)| *word).collect::<Vec<_>>() })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<T> {
        let words: Vec<(&str, &T)> = self.1.iter().map(|(word, is, _)| (*word, is)).collect();
        context.source.choice(node, self.0, &words).cloned()
    }
}

/// `true` alone, or `false` alone: the other says nothing.
pub(crate) struct Only {
    /// Which.
    pub(crate) value: bool,
    /// What is wrong with the other.
    pub(crate) otherwise: &'static str,
    /// What helps.
    pub(crate) hint: Option<&'static str>,
}

impl Kind for Only {
    type Value = ();

    fn takes(&self) -> Option<String> {
        Some(format!("`{}`", self.value))
    }

    fn schema(&self) -> Json {
        json!({ "const": self.value })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<()> {
        if context.source.truth(node)? == self.value {
            return Ok(());
        }
        let wrong = context.source.wrong(node.place, self.otherwise);
        Err(match self.hint {
            Some(hint) => wrong.hint(hint),
            None => wrong,
        })
    }
}

/// A value with its place.
pub(crate) struct Placed<K>(pub(crate) K);

impl<K: Kind> Kind for Placed<K> {
    type Value = (K::Value, Place);

    fn takes(&self) -> Option<String> {
        self.0.takes()
    }

    fn choices(&self) -> Meanings {
        self.0.choices()
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value> {
        Ok((self.0.parse(context, node)?, node.place))
    }
}

/// One value, or several in a list; what they are called.
pub(crate) struct Many<K>(pub(crate) &'static str, pub(crate) K);

impl<K: Kind> Kind for Many<K> {
    type Value = Vec<K::Value>;

    fn takes(&self) -> Option<String> {
        self.1.takes().map(|one| format!("{one}, or a list"))
    }

    fn choices(&self) -> Meanings {
        self.1.choices()
    }

    fn schema(&self) -> Json {
        let one = self.1.schema();
        any_of([
            one.clone(),
            json!({ "type": "array", "items": one, "minItems": 1 }),
        ])
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value> {
        let nodes = context.source.one_or_more(node, self.0)?;
        nodes
            .iter()
            .map(|node| self.1.parse(context, node))
            .collect()
    }
}

/// A list; what it is called.
pub(crate) struct List<K>(pub(crate) &'static str, pub(crate) K);

impl<K: Kind> Kind for List<K> {
    type Value = Vec<K::Value>;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn choices(&self) -> Meanings {
        self.1.choices()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": self.1.schema() })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value> {
        let nodes = context.source.list(node, self.0)?;
        nodes
            .iter()
            .map(|node| self.1.parse(context, node))
            .collect()
    }
}

/// A list of exactly two; what it is called, and what is wrong with any other.
pub(crate) struct Two<K>(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) K,
);

impl<K: Kind> Kind for Two<K> {
    type Value = (K::Value, K::Value);

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": self.2.schema(), "minItems": 2, "maxItems": 2 })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value> {
        match context.source.list(node, self.0)? {
            [one, other] => Ok((self.2.parse(context, one)?, self.2.parse(context, other)?)),
            _ => Err(context.source.wrong(node.place, self.1)),
        }
    }
}

/// A value, or `null`.
pub(crate) struct OrNull<K>(pub(crate) &'static str, pub(crate) K);

impl<K: Kind> Kind for OrNull<K> {
    type Value = Option<K::Value>;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn alone(&self) -> bool {
        true
    }

    fn schema(&self) -> Json {
        any_of([json!({ "type": "null" }), self.1.schema()])
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value> {
        match node.value {
            Value::Null => Ok(None),
            _ => self.1.parse(context, node).map(Some),
        }
    }
}

/// No value: the word stands alone, or with keys beside it.
pub(crate) struct NoValue(pub(crate) &'static str);

impl Kind for NoValue {
    type Value = ();

    fn takes(&self) -> Option<String> {
        None
    }

    fn alone(&self) -> bool {
        true
    }

    fn schema(&self) -> Json {
        json!({ "type": "null" })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<()> {
        let word = self.0;
        match node.value {
            Value::Null => Ok(()),
            _ => Err(context
                .source
                .wrong(node.place, format!("`{word}` takes no value"))
                .hint(format!("write `{word}` alone, or `{{ {word}: null, … }}`"))),
        }
    }
}
