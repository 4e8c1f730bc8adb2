//! How a workload fares.

use std::fmt;

use simfs::SimTime;

use crate::WorkloadOutcome;

/// How a workload fares so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkloadStats {
    /// What became of it.
    pub outcome: WorkloadOutcome,
    /// When it failed.
    pub failed_at: Option<SimTime>,
    /// By what.
    pub cause: Option<Cause>,
    /// Errors that the layer on top was told of (`ulp_errors`): of storage by LNet; of a job 1 once it
    /// failed.
    pub errors: u64,
    /// Of storage: tries beyond the first. Of a job: messages that had to wait.
    pub retries: u64,
    /// Of storage: writes that were answered. Of a job: messages that got through.
    pub done: u64,
}

/// What a workload failed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A completion with status 12, `IBV_WC_RETRY_EXC_ERR`.
    RetryExceeded,
    /// A device with queue pairs went away.
    DeviceGone,
    /// A rank's process ended.
    RankLost,
    /// No error, and no end.
    Hung,
    /// A connection was never made.
    NoConnection,
    /// The server evicted a client.
    Evicted,
    /// A write was unanswered for `obd_timeout`.
    Unanswered,
}

impl Cause {
    /// All.
    pub const ALL: [Self; 7] = [
        Self::RetryExceeded,
        Self::DeviceGone,
        Self::RankLost,
        Self::Hung,
        Self::NoConnection,
        Self::Evicted,
        Self::Unanswered,
    ];

    /// As scenarios and reports spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::RetryExceeded => "WC 12",
            Self::DeviceGone => "device gone",
            Self::RankLost => "rank lost",
            Self::Hung => "hung",
            Self::NoConnection => "no connection",
            Self::Evicted => "evicted",
            Self::Unanswered => "unanswered",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
