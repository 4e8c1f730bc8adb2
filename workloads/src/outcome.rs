//! What becomes of a workload.

use std::fmt;

/// What became of a workload so far, from good to bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadOutcome {
    /// Everything got through at once, and nothing was reported.
    #[default]
    Survived,
    /// Something was reported, tried again or had to wait; nothing is lost.
    Degraded,
    /// Of storage: the client was evicted, or a write was unanswered for too long. Of a job: a rank
    /// got an error, was lost, or hung for longer than the time limit, and with one rank the whole
    /// communicator.
    Failed,
}

impl WorkloadOutcome {
    /// All, from good to bad.
    pub const ALL: [Self; 3] = [Self::Survived, Self::Degraded, Self::Failed];

    /// As scenarios and reports spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Survived => "survived",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for WorkloadOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
