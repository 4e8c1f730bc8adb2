//! Errors of reading a scenario and of resolving it in a world.

use platforms::yaml::YamlError;

/// Why a scenario cannot be read or resolved. Each error has its place, the source line and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The text is wrong.
    #[error(transparent)]
    Wrong(#[from] YamlError),
    /// The text uses a word of the language that this version does not implement.
    #[error(transparent)]
    NotBuilt(YamlError),
}

impl ScenarioError {
    /// The error with its place.
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
}
