//! The statistics of a workload.

use std::fmt;

use simfs::SimTime;

use crate::WorkloadOutcome;

/// The statistics of a workload so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkloadStats {
    /// Its outcome.
    pub outcome: WorkloadOutcome,
    /// When it failed, if it did.
    pub failed_at: Option<SimTime>,
    /// The cause of its failure.
    pub cause: Option<WorkloadCause>,
    /// Errors reported to the layer above (`ulp_errors`): of storage those of LNet; of a job 1 once it
    /// failed.
    pub errors: u64,
    /// Storage: retries. Job: messages that had to wait.
    pub retries: u64,
    /// Storage: answered writes. Job: delivered messages.
    pub done: u64,
}

/// The cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkloadCause {
    /// A completion with status 12, `IBV_WC_RETRY_EXC_ERR`.
    RetryExceeded,
    /// The send queue for clear-to-send was full.
    QueueFull,
    /// A device with queue pairs disappeared.
    DeviceGone,
    /// A rank's process ended.
    RankLost,
    /// It hung without an error.
    Hung,
    /// A connection could not be made.
    NoConnection,
    /// The server evicted a client.
    Evicted,
    /// A write was unanswered for `obd_timeout`.
    Unanswered,
}

impl WorkloadCause {
    /// All causes.
    pub const ALL: [Self; 8] = [
        Self::RetryExceeded,
        Self::QueueFull,
        Self::DeviceGone,
        Self::RankLost,
        Self::Hung,
        Self::NoConnection,
        Self::Evicted,
        Self::Unanswered,
    ];

    /// The spelling in scenarios and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RetryExceeded => "WC 12",
            Self::QueueFull => "send queue full",
            Self::DeviceGone => "device gone",
            Self::RankLost => "rank lost",
            Self::Hung => "hung",
            Self::NoConnection => "no connection",
            Self::Evicted => "evicted",
            Self::Unanswered => "unanswered",
        }
    }
}

impl fmt::Display for WorkloadCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
