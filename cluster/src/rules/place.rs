//! Errors in rule files, with their place.

use std::{fmt, ops::Range};

use files::{FileError, toml::Source};
use toml::Spanned;

/// An error in a rule file or in a cabling file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError(pub FileError);

impl std::error::Error for RuleError {}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileError { file, what, .. } = &self.0;
        let place = self.0.place.unwrap_or_default();
        let line = self.0.line.as_deref().unwrap_or_default().trim_end();
        let hint = self.0.hint.as_deref().unwrap_or_default();
        write!(f, "{file}:{place}: {what}\n  | {line}\nhint: {hint}")
    }
}

/// A text with its file name.
pub(super) struct Place<'a>(pub(super) Source<'a>);

impl Place<'_> {
    /// Rejects every version except 1.
    pub(super) fn version(&self, key: &str, reported: &Spanned<u32>) -> Result<(), FileError> {
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
    ) -> FileError {
        self.0.error(span, cause, hint)
    }
}
