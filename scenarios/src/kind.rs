//! Kinds of values: how a value is parsed, what it is called, and its JSON Schema.
//!
//! Parser, schema and reference pages all use the same kind. This file has the kinds that are built
//! from parameters or from other kinds; those specific to the language are in [`crate::values`]. Start
//! at [`Kind`].

use std::marker::PhantomData;

use files::{Mistakes, Node, Place, YamlValue};
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::error::ScenarioError;

/// The result of parsing.
pub(crate) type Parsed<T> = Result<T, ScenarioError>;

/// Accepted words, each with its meaning.
pub(crate) type Meanings = Vec<(&'static str, &'static str)>;

/// A kind of value.
pub(crate) trait Kind {
    /// What a value parses to.
    type Value;

    /// What the value is called, such as `a time`; `None` if there is no value.
    fn takes(&self) -> Option<String>;

    /// The words that it accepts, if each has its own meaning.
    fn choices(&self) -> Meanings {
        Vec::new()
    }

    /// Whether the value may be left out.
    fn alone(&self) -> bool {
        false
    }

    /// Its JSON Schema.
    fn schema(&self) -> Json;

    /// Parses a value.
    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value>;
}

/// A kind with its own parse function.
pub(crate) struct Plain<T> {
    takes: &'static str,
    schema: fn() -> Json,
    parse: fn(&Context<'_>, &Node) -> Parsed<T>,
}

/// A kind with this name, JSON Schema and parse function.
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

/// A kind whose values are checked or converted after parsing.
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

/// The JSON Schema of a text; a number stands for its digits.
pub(crate) fn text_form() -> Json {
    json!({ "type": ["string", "number"] })
}

/// The JSON Schema of a text that cannot be written as a number.
pub(crate) fn string_form() -> Json {
    json!({ "type": "string" })
}

/// The JSON Schema of a choice.
pub(crate) fn any_of(forms: impl IntoIterator<Item = Json>) -> Json {
    json!({ "anyOf": forms.into_iter().collect::<Vec<_>>() })
}

/// A text that is not empty; its name.
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

/// A text that may be empty; its name.
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

/// A whole number in an inclusive range.
pub(crate) struct Number<T> {
    least: u64,
    most: u64,
    of: PhantomData<fn() -> T>,
}

/// A whole number in this range.
pub(crate) const fn number<T>(least: u64, most: u64) -> Number<T> {
    Number {
        least,
        most,
        of: PhantomData,
    }
}

/// The largest count of anything.
const COUNT_MAX: u64 = 1_000_000;

/// A whole number from this one to [`COUNT_MAX`].
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

/// One of these words: the name of the kind for errors, and what each word parses to.
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

/// A boolean of which only one value is accepted, because the other is the default.
pub(crate) struct Only {
    /// The accepted value.
    pub(crate) value: bool,
    /// The error for the other value.
    pub(crate) otherwise: &'static str,
    /// The hint for the other value.
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

/// One value, or a list of values; the name of the list.
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
        Mistakes::in_all(nodes.iter().map(|node| self.1.parse(context, node)))
    }
}

/// A list; its name.
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
        Mistakes::in_all(nodes.iter().map(|node| self.1.parse(context, node)))
    }
}

/// A list of exactly two; its name, and the error for any other length.
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

/// A value or `null`; its name.
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
            YamlValue::Null => Ok(None),
            _ => self.1.parse(context, node).map(Some),
        }
    }
}

/// No value: the word alone, or with keys beside it.
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
            YamlValue::Null => Ok(()),
            _ => Err(context
                .source
                .wrong(node.place, format!("`{word}` takes no value"))
                .hint(format!("write `{word}` alone, or `{{ {word}: null, … }}`"))),
        }
    }
}
