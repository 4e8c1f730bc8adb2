//! Errors of reading a scenario and of resolving it in a world.

use files::Mistakes;

/// Why a scenario cannot be read or resolved: its mistakes, each with its place, the source line and a hint.
pub type ScenarioError = Mistakes;

/// Why a scenario cannot be resolved in a world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The world lacks something that the scenario needs. The pair is reported with this reason and
    /// counted.
    #[error("not applicable: {reason}")]
    NotApplicable {
        /// What the world lacks.
        reason: String,
    },
    /// The scenario is wrong in every world.
    #[error(transparent)]
    Wrong(#[from] ScenarioError),
}

impl Unfit {
    pub(crate) fn lacks(reason: impl Into<String>) -> Self {
        Self::NotApplicable {
            reason: reason.into(),
        }
    }

    /// What was resolved; `None` if it is wrong, which is kept.
    ///
    /// # Errors
    /// What the world lacks.
    pub(crate) fn noted<T>(
        resolved: Result<T, Self>,
        mistakes: &mut Mistakes,
    ) -> Result<Option<T>, Self> {
        match resolved {
            Ok(value) => Ok(Some(value)),
            Err(Self::Wrong(error)) => Ok(mistakes.take(Err(error))),
            Err(lacks) => Err(lacks),
        }
    }
}
