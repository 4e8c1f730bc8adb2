//! Why a drill could not be played to its end, for reasons that are not the monitor's.

use fabric::ActionError;
use platforms::NodeName;
use scenarios::{Place, Step};

use crate::{disk::DiskError, running_workloads::WorkloadError};

/// Why a story cannot be put on stage: a fault of the story or of ours, never of a monitor.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The world cannot do it.
    #[error("{place}: `{line}`: {cause}")]
    Action {
        /// Where the story says so.
        place: Place,
        /// The line.
        line: String,
        /// Why not.
        cause: Box<ActionError>,
    },
    /// The state file cannot be changed so.
    #[error("{place}: `{line}`: {cause}")]
    Disk {
        /// Where the story says so.
        place: Place,
        /// The line.
        line: String,
        /// Why not.
        cause: DiskError,
    },
    /// A workload cannot have this done to it.
    #[error("{place}: `{line}`: {cause}")]
    Workload {
        /// Where the story says so.
        place: Place,
        /// The line.
        line: String,
        /// Why not.
        cause: Box<WorkloadError>,
    },
    /// A workload cannot be begun.
    #[error(transparent)]
    Start(Box<WorkloadError>),
    /// A deed that has no meaning where it stands.
    #[error("{place}: `{line}`: {what}{}", hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
    StepAction {
        /// Where the story says so.
        place: Place,
        /// The line.
        line: String,
        /// What is wrong.
        what: &'static str,
        /// What helps.
        hint: Option<&'static str>,
    },
    /// A node that the world does not have.
    #[error("the world has no node `{0}`")]
    NoSuchNode(NodeName),
    /// The healed world does not come to rest.
    #[error("the world is not at rest {0} ticks after it was healed")]
    NeverSettles(u64),
}

impl From<WorkloadError> for StageError {
    fn from(cause: WorkloadError) -> Self {
        Self::Start(Box::new(cause))
    }
}

impl StageError {
    /// A deed that has no meaning where it stands.
    pub(super) fn action(step: &Step, what: &'static str, hint: Option<&'static str>) -> Self {
        Self::StepAction {
            place: step.place.clone(),
            line: step.text.clone(),
            what,
            hint,
        }
    }
}
