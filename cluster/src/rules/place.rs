//! Errors in rule files, with their place.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{gathered::Gathered, salvage::Wrong};

/// An error in a rule file or in a cabling file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {cause}\n  | {text}\nhint: {hint}")]
pub struct RuleError {
    /// The file name as given by the caller.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was found, and what is allowed.
    pub cause: String,
    /// The source line.
    pub text: String,
    /// The hint.
    pub hint: String,
}

/// A text with its file name.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Place<'_> {
    /// A value, or what is left of one that cannot be read; `hint` names the documentation of its keys.
    pub(super) fn piece<'i, T>(
        &self,
        read: Result<T, Wrong<'i>>,
        hint: &str,
        found: &mut Gathered,
    ) -> Result<T, Spanned<DeValue<'i>>> {
        read.map_err(|wrong| {
            for (span, cause) in wrong.mistakes {
                found.note(self.error(span, cause, hint));
            }
            wrong.rest
        })
    }

    /// The keys of the text; if it is no TOML, its first mistake: what a parser says after it follows from it, as a rule.
    pub(super) fn table(&self, hint: &str) -> Result<Spanned<DeTable<'_>>, RuleError> {
        DeTable::parse(self.text).map_err(|error| {
            let cause = error.message().replace('\n', " ");
            self.error(error.span().unwrap_or(0..0), cause, hint)
        })
    }

    /// Rejects every version except 1.
    pub(super) fn version(&self, key: &str, reported: &Spanned<u32>) -> Result<(), RuleError> {
        match *reported.get_ref() {
            1 => Ok(()),
            version => {
                let cause = format!("`{key}` is {version}; 1 is the only one there is");
                Err(self.error(reported.span(), cause, &format!("write `{key} = 1`")))
            }
        }
    }

    /// An error at the beginning of this span.
    pub(super) fn error(
        &self,
        span: Range<usize>,
        cause: impl Into<String>,
        hint: &str,
    ) -> RuleError {
        let at = self.text.floor_char_boundary(span.start);
        let begin = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[begin..].lines().next().unwrap_or_default();
        RuleError {
            file: self.file.to_owned(),
            line: self.text[..begin].matches('\n').count() + 1,
            column: self.text[begin..at].chars().count() + 1,
            cause: cause.into(),
            text: line.trim_end().to_owned(),
            hint: hint.to_owned(),
        }
    }
}
