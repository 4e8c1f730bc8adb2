//! The mistakes of a text, collected while the rest of it is read.

use crate::error::{ScenarioError, Unfit};

/// Mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(Vec<ScenarioError>);

impl Mistakes {
    /// Takes what was read; `None` if it is wrong, which is kept.
    pub(crate) fn note<T>(&mut self, read: Result<T, ScenarioError>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(error) => {
                self.0.push(error);
                None
            }
        }
    }

    /// Takes what was resolved; `None` if it is wrong, which is kept.
    ///
    /// # Errors
    /// What the world lacks.
    pub(crate) fn note_fitting<T>(
        &mut self,
        resolved: Result<T, Unfit>,
    ) -> Result<Option<T>, Unfit> {
        match resolved {
            Ok(value) => Ok(Some(value)),
            Err(Unfit::Wrong(error)) => Ok(self.note(Err(error))),
            Err(lacks) => Err(lacks),
        }
    }

    /// Nothing, if there is none.
    ///
    /// # Errors
    /// All of them, in the order of the text.
    pub(crate) fn none(self) -> Result<(), ScenarioError> {
        let mut errors = self.0.into_iter();
        match errors.next() {
            Some(first) => Err(first.and(errors)),
            None => Ok(()),
        }
    }

    /// Both values, if both are right.
    ///
    /// # Errors
    /// Every mistake in them.
    pub(crate) fn in_both<A, B>(
        one: Result<A, ScenarioError>,
        other: Result<B, ScenarioError>,
    ) -> Result<(A, B), ScenarioError> {
        match (one, other) {
            (Ok(one), Ok(other)) => Ok((one, other)),
            (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
            (Err(error), Err(other)) => Err(error.and([other])),
        }
    }

    /// The values, if all are right.
    ///
    /// # Errors
    /// Every mistake in them.
    pub(crate) fn in_all<T>(
        read: impl IntoIterator<Item = Result<T, ScenarioError>>,
    ) -> Result<Vec<T>, ScenarioError> {
        let mut mistakes = Self::default();
        let values = read.into_iter().filter_map(|one| mistakes.note(one));
        let values = values.collect();
        mistakes.none().map(|()| values)
    }
}
