//! The outcome of a workload.

use std::fmt;

/// The outcome of a workload so far, from good to bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadOutcome {
    /// Everything was delivered at once, and no error was reported.
    #[default]
    Survived,
    /// An error was reported, or something was retried or had to wait; nothing was lost.
    Degraded,
    /// Storage: the client was evicted, or a write was unanswered for too long. Job: a rank got an
    /// error, was lost, or hung for longer than the time limit, and with it the whole communicator
    /// failed.
    Failed,
}

impl WorkloadOutcome {
    /// All outcomes, from good to bad.
    pub const ALL: [Self; 3] = [Self::Survived, Self::Degraded, Self::Failed];

    /// The spelling in scenarios and reports.
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
