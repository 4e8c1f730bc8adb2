//! Errors of types that reject a value while it is parsed, with a hint.
//!
//! An error that passes through serde is a text: [`Refused`] is converted to one, and [`Refused::parts`] splits it
//! again.

use std::fmt;

/// The separator of the parts.
const HINT: &str = "\nhint: ";

/// Why a value is rejected, for `serde::de::Error::custom`.
pub struct Refused {
    /// The problem: lower case, the value in backticks.
    pub what: String,
    /// The hint.
    pub hint: &'static str,
}

impl Refused {
    /// The problem and the hint, if any, of a text that came through serde.
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
