//! Stalls and the failure of a job, with their times.

use simfs::SimTime;

use super::traffic::Edge;
use super::{ConnectError, Death, HostId, NcclResult};

/// A message that had to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The edge of the message.
    pub edge: Edge,
    /// When it was started.
    pub from: SimTime,
    /// When it was delivered; `None` while it waits, and if the job failed before.
    pub to: Option<SimTime>,
}

/// Why a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureCause {
    /// It never started: a connection could not be made.
    #[error("no connection")]
    Connect(#[source] ConnectError),
    /// A connection died.
    #[error("a connection died")]
    Network(#[source] Death),
    /// A rank's process ended.
    #[error("host {} lost its rank", .0.number())]
    RankLost(HostId),
    /// A message was in flight for the time limit, without any error.
    #[error("hung\n(hint: the network reported no error; only the time limit ends such a job)")]
    Hung,
}

impl FailureCause {
    /// The result of the ranks' calls; `None` for a hung job, whose calls have not returned.
    #[must_use]
    pub const fn result(self) -> Option<NcclResult> {
        match self {
            Self::Connect(error) => Some(error.result()),
            Self::Network(_) | Self::RankLost(_) => Some(NcclResult::SystemError),
            Self::Hung => None,
        }
    }
}

/// The failure of a job. It affects all ranks, because one dead connection ends the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Time since the drill's start.
    pub at: SimTime,
    /// The edge on which it occurred; `None` for a lost rank.
    pub edge: Option<Edge>,
    /// The cause.
    pub cause: FailureCause,
}
