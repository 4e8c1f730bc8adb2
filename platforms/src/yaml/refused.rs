//! A value that one of our types refuses while it is read: what is wrong, and what helps.
//!
//! An error that passes through serde is a text. Both ways stand here: [`Refused`] becomes a text, and [`Refused::parts`]
//! takes that apart again.

use std::fmt;

/// What separates the parts.
const HINT: &str = "\nhint: ";

/// Why a value is refused, for `serde::de::Error::custom`.
pub(crate) struct Refused {
    /// What is wrong: lower-case, the value in backticks.
    pub(crate) what: String,
    /// What helps.
    pub(crate) hint: &'static str,
}

impl Refused {
    /// What is wrong, and what helps if that was said, of a text that came through serde.
    pub(super) fn parts(text: &str) -> (&str, Option<&str>) {
        match text.split_once(HINT) {
            Some((what, hint)) => (what, Some(hint)),
            None => (text, None),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{HINT}{}", self.what, self.hint)
    }
}
