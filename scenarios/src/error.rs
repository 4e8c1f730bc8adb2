//! Errors of reading a scenario and of resolving it in a world.

use platforms::yaml::{About, Place, YamlError};

/// Why a scenario cannot be read or resolved. Each error has its place, the source line and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// The text is wrong.
    #[error(transparent)]
    Wrong(#[from] YamlError),
    /// The text uses a word of the language that this version does not implement.
    #[error(transparent)]
    NotBuilt(YamlError),
    /// Several of them, in the order of the text.
    #[error("{}", told(.0))]
    Several(Vec<ScenarioError>),
}

/// Errors, each after the other.
fn told(errors: &[ScenarioError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("\n")
}

impl ScenarioError {
    /// This error and others as one, in the order of the text and each once.
    #[must_use]
    pub(crate) fn and(self, others: impl IntoIterator<Item = Self>) -> Self {
        let mut errors = self.each();
        errors.extend(others.into_iter().flat_map(Self::each));
        errors.sort_by_key(Self::place);
        errors.dedup();
        Self::of_all(errors)
    }

    /// This error, and behind it others, wherever they stand in the text.
    #[must_use]
    pub(crate) fn before(self, others: Option<Self>) -> Self {
        let mut errors = self.each();
        errors.extend(others.into_iter().flat_map(Self::each));
        Self::of_all(errors)
    }

    fn of_all(errors: Vec<Self>) -> Self {
        match <[Self; 1]>::try_from(errors) {
            Ok([one]) => one,
            Err(errors) => Self::Several(errors),
        }
    }

    /// The errors one by one.
    #[must_use]
    pub fn each(self) -> Vec<Self> {
        match self {
            Self::Several(errors) => errors,
            one => vec![one],
        }
    }

    /// The first of them, with its place.
    ///
    /// # Panics
    /// If `Several` were made of none.
    #[must_use]
    pub fn first(&self) -> &YamlError {
        match self {
            Self::Wrong(error) | Self::NotBuilt(error) => error,
            Self::Several(errors) => errors.first().expect("several are at least two").first(),
        }
    }

    /// The place of the first of them; `None` for the whole text.
    pub(crate) fn place(&self) -> Option<Place> {
        self.first().place
    }

    /// The same error with what it is about; of several, each.
    #[must_use]
    pub(crate) fn about(self, about: About) -> Self {
        self.map(&|error| error.about(about.clone()))
    }

    /// The same error with a hint; of several, each.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        self.map(&|error| error.hint(hint.clone()))
    }

    /// The same error, or each of several, changed.
    fn map(self, change: &dyn Fn(YamlError) -> YamlError) -> Self {
        match self {
            Self::Wrong(error) => Self::Wrong(change(error)),
            Self::NotBuilt(error) => Self::NotBuilt(change(error)),
            Self::Several(errors) => {
                let errors = errors.into_iter();
                Self::Several(errors.map(|error| error.map(change)).collect())
            }
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
