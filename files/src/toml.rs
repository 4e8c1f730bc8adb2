//! Reads TOML value by value, so that a mistake of one hides none of another. A reader of TOML ends at the first mistake:
//! what is wrong is left out, and the rest is read again. Start at [`Source::table`].

use std::ops::Range;

use ::toml::{
    Spanned,
    de::{DeArray, DeString, DeTable, DeValue, Error, ValueDeserializer},
};
use serde::Deserialize;

use crate::{About, FileError, Mistakes, Place};

/// A text of TOML, and the file that it is of.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name as given by the caller.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Where its keys are told, which is the hint of a mistake in one.
    pub keys: &'static str,
}

/// A value so far as it can be read.
#[derive(Debug)]
pub struct Part<T> {
    /// The value without what is wrong in it; `None` if nothing can be read without it.
    pub value: Option<T>,
    /// The keys for which something stands in: those that are missing or cannot be read.
    pub lacking: Vec<String>,
    /// Whether nothing is wrong in it.
    pub is_whole: bool,
}

impl<'a> Source<'a> {
    /// A mistake at the beginning of this span.
    #[must_use]
    pub fn error(
        &self,
        span: Range<usize>,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> FileError {
        FileError::at(self.file, self.text, self.place(span), what).hint(hint)
    }

    /// The place of the beginning of this span.
    #[must_use]
    pub fn place(&self, span: Range<usize>) -> Place {
        Place::of_byte(self.text, span.start)
    }

    /// A key that is none of the known ones.
    #[must_use]
    pub fn unknown(&self, key: &Spanned<DeString<'_>>, known: &[&str]) -> FileError {
        let name = key.get_ref().to_string();
        let what = format!(
            "unknown field `{name}`, expected `{}`",
            known.join("` or `")
        );
        self.error(key.span(), what, self.keys)
            .about(About::Unknown {
                kind: "field",
                name,
                known: known.iter().map(ToString::to_string).collect(),
            })
    }

    /// The keys of the text.
    ///
    /// # Errors
    /// If it is no TOML, its first mistake: what a parser says after it follows from it, as a rule.
    pub fn table(&self) -> Result<Spanned<DeTable<'a>>, FileError> {
        DeTable::parse(self.text).map_err(|error| self.unreadable(&error))
    }

    /// A value of the text, and its mistakes. Where one of the keys of `stand_ins` is missing or cannot be read, its value is
    /// that of `stand_ins`, in which nothing is wrong. That a key is missing is no mistake beside one that is unknown, which
    /// may have been meant.
    pub fn part<'i, T: Deserialize<'i>>(
        &self,
        value: Spanned<DeValue<'i>>,
        stand_ins: &'i str,
        found: &mut Mistakes,
    ) -> Part<T> {
        let stand_ins = DeTable::parse(stand_ins)
            .expect("stand-ins are TOML")
            .into_inner();
        let lacking = |value: &DeValue<'_>| -> Vec<String> {
            let DeValue::Table(keys) = value else {
                return Vec::new();
            };
            let lacking = stand_ins.keys().filter(|key| !keys.contains_key(*key));
            lacking.map(|key| key.get_ref().to_string()).collect()
        };
        let (span, missing) = (value.span(), lacking(value.get_ref()));
        let (mut rest, mut is_known, mut is_whole) = (value, true, missing.is_empty());
        let value = loop {
            let mut complete = rest.clone();
            if let DeValue::Table(keys) = complete.get_mut() {
                for (key, value) in &stand_ins {
                    keys.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            let error = match T::deserialize(ValueDeserializer::from(complete)) {
                Ok(value) => break Some(value),
                Err(error) => error,
            };
            is_whole = false;
            let mistake = self.unreadable(&error);
            is_known &= mistake.about.is_none();
            found.note(mistake);
            if !leave_out(rest.get_mut(), error.span().map_or(0, |span| span.start)) {
                break None;
            }
        };
        for key in missing.into_iter().filter(|_| is_known) {
            let what = format!("missing field `{key}`");
            let mistake = self.error(span.clone(), what, self.keys);
            found.note(mistake.about(About::MissingKey(key)));
        }
        Part {
            value,
            lacking: lacking(rest.get_ref()),
            is_whole,
        }
    }

    /// What the reader of TOML says.
    fn unreadable(&self, error: &Error) -> FileError {
        let what = plain(error.message());
        let mut quoted = what.split('`').skip(1).step_by(2).map(str::to_owned);
        let unknown = quoted.next().filter(|_| what.starts_with("unknown field "));
        let about = unknown.map(|name| About::Unknown {
            kind: "field",
            name,
            known: quoted.collect(),
        });
        FileError {
            about: about.map(Box::new),
            ..self.error(error.span().unwrap_or(0..0), what, self.keys)
        }
    }
}

/// What a reader says, without the names that its language has for types.
fn plain(message: &str) -> String {
    let types = [
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: table"),
    ];
    let message = message.replace('\n', " ");
    let message = match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => message,
    };
    let types = types.into_iter();
    types.fold(message, |text, (from, to)| text.replace(from, to))
}

/// Leaves the innermost key or item out in which this place is; false if there is none. The place of a table that has a header
/// is that of its header alone.
fn leave_out(value: &mut DeValue<'_>, at: usize) -> bool {
    let has = |span: Range<usize>| span.contains(&at);
    match value {
        DeValue::Table(table) => {
            let mut wrong = None;
            for (key, value) in table.iter_mut() {
                if !has(key.span()) && leave_out(value.get_mut(), at) {
                    return true;
                }
                if has(key.span()) || has(value.span()) {
                    wrong = Some(key.clone());
                    break;
                }
            }
            wrong.is_some_and(|key| table.remove(&key).is_some())
        }
        DeValue::Array(items) => {
            let mut kept: Vec<Spanned<DeValue<'_>>> = items.iter().cloned().collect();
            let is_within = kept.iter_mut().any(|item| leave_out(item.get_mut(), at));
            if !is_within {
                let Some(number) = kept.iter().position(|item| has(item.span())) else {
                    return false;
                };
                kept.remove(number);
                // Nobody wrote an empty list.
                if kept.is_empty() {
                    return false;
                }
            }
            *items = DeArray::new();
            for item in kept {
                items.push(item);
            }
            true
        }
        _ => false,
    }
}
