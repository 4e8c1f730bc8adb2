//! Why a scenario cannot be read, or cannot be told in a world.

use platforms::yaml::YamlError;

/// Why a scenario cannot be read or resolved: each with its place, the line, and what helps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The text is wrong.
    #[error(transparent)]
    Wrong(#[from] YamlError),
    /// The text asks for something that the language knows and this build does not do.
    #[error(transparent)]
    NotBuilt(YamlError),
}

impl ScenarioError {
    /// What is wrong and where.
    #[must_use]
    pub fn located(&self) -> &YamlError {
        match self {
            Self::Wrong(error) | Self::NotBuilt(error) => error,
        }
    }

    /// The same error with a hint.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Wrong(error) => Self::Wrong(error.hint(hint)),
            Self::NotBuilt(error) => Self::NotBuilt(error.hint(hint)),
        }
    }
}

/// Why a scenario does not become a story in a world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The world lacks what the story is about. The pair is listed with this reason and counted.
    #[error("not applicable: {reason}")]
    NotApplicable {
        /// What it lacks.
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
}
