//! The mistakes of a part of a file, gathered while it is read piece by piece. Start at [`Gathered`].

use super::place::RuleError;

/// Mistakes, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Gathered(Vec<RuleError>);

impl Gathered {
    /// What was read of a piece; if there were mistakes in it they are kept, and nothing was.
    pub(super) fn take<T>(&mut self, read: Result<T, impl Into<Self>>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(mistakes) => {
                self.0.extend(mistakes.into().0);
                None
            }
        }
    }

    /// Adds a mistake.
    pub(super) fn note(&mut self, mistake: RuleError) {
        self.0.push(mistake);
    }

    /// The value, if it could be made and there was no mistake.
    pub(super) fn or<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self),
        }
    }

    /// All of them, each once, in the order of the text.
    pub(super) fn in_order(mut self) -> Vec<RuleError> {
        let order = |mistake: &RuleError| (mistake.line, mistake.column, mistake.cause.clone());
        self.0.sort_by_cached_key(order);
        self.0.dedup();
        self.0
    }
}

impl From<RuleError> for Gathered {
    fn from(mistake: RuleError) -> Self {
        Self(vec![mistake])
    }
}
