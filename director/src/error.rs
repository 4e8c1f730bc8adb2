//! Why a drill could not be played to its end, for causes other than the monitor.

use fabric::ActionError;
use platforms::NodeName;
use scenarios::{FilePlace, Step};

use crate::{disk::DiskError, missing_file::MissingFile, running_workloads::WorkloadError};

/// Why a story cannot be played: an error in the story or in nicdrill, never in a monitor.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The world cannot perform an action.
    #[error("{place}: `{line}`: {cause}")]
    Action {
        /// The place in the story.
        place: FilePlace,
        /// The line of the scenario, as it is written.
        line: String,
        /// The cause.
        cause: Box<ActionError>,
    },
    /// The state file cannot be changed.
    #[error("{place}: `{line}`: {cause}")]
    Disk {
        /// The place in the story.
        place: FilePlace,
        /// The line of the scenario, as it is written.
        line: String,
        /// The cause.
        cause: DiskError,
    },
    /// A workload cannot perform an action.
    #[error("{place}: `{line}`: {cause}")]
    Workload {
        /// The place in the story.
        place: FilePlace,
        /// The line of the scenario, as it is written.
        line: String,
        /// The cause.
        cause: Box<WorkloadError>,
    },
    /// A workload cannot be started.
    #[error(transparent)]
    Start(Box<WorkloadError>),
    /// A step that is not possible where it is written.
    #[error("{place}: `{line}`: {what}{}", hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
    StepAction {
        /// The place in the story.
        place: FilePlace,
        /// The line of the scenario, as it is written.
        line: String,
        /// The cause.
        what: &'static str,
        /// What helps.
        hint: Option<&'static str>,
    },
    /// A file that an action is about is not there.
    #[error("{place}: `{line}`: {missing}\nhint: {hint}", hint = missing.hint())]
    File {
        /// The place in the story.
        place: FilePlace,
        /// The line of the scenario, as it is written.
        line: String,
        /// What is missing.
        missing: Box<MissingFile>,
    },
    /// A node that the world does not have.
    #[error("the world has no node `{0}`")]
    NoSuchNode(NodeName),
    /// The world does not settle after healing.
    #[error("the world is not at rest {0} ticks after it was healed")]
    NeverSettles(u64),
}

impl From<WorkloadError> for StageError {
    fn from(cause: WorkloadError) -> Self {
        Self::Start(Box::new(cause))
    }
}

impl StageError {
    /// The place in the story; `None` if no step is to blame.
    #[must_use]
    pub fn place(&self) -> Option<&FilePlace> {
        match self {
            Self::Action { place, .. }
            | Self::Disk { place, .. }
            | Self::Workload { place, .. }
            | Self::StepAction { place, .. }
            | Self::File { place, .. } => Some(place),
            Self::Start(_) | Self::NoSuchNode(_) | Self::NeverSettles(_) => None,
        }
    }

    /// An error for a file that an action of a step is about and that is not there.
    pub(super) fn file(step: &Step, missing: MissingFile) -> Self {
        Self::File {
            place: step.place.clone(),
            line: step.text.clone(),
            missing: Box::new(missing),
        }
    }

    /// An error for a step that is not possible where it is written.
    pub(super) fn action(step: &Step, what: &'static str, hint: Option<&'static str>) -> Self {
        Self::StepAction {
            place: step.place.clone(),
            line: step.text.clone(),
            what,
            hint,
        }
    }
}
