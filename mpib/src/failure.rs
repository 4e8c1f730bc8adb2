//! What became of a job, with its instants.

use simfs::SimTime;

use super::traffic::Edge;
use super::{ConnectError, Death, HostId, NcclResult};

/// A message that had to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The edge that it was sent on.
    pub edge: Edge,
    /// When it was begun.
    pub from: SimTime,
    /// When it got through; `None` while it waits, and for ever if the job failed before.
    pub to: Option<SimTime>,
}

/// Why a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureCause {
    /// It never started: a connection was not made.
    #[error("no connection")]
    Connect(#[source] ConnectError),
    /// A connection died under it.
    #[error("a connection died")]
    Network(#[source] Death),
    /// A rank's process ended.
    #[error("host {} lost its rank", .0.number())]
    RankLost(HostId),
    /// A message was under way for the time limit, without any error.
    #[error("hung\n(hint: the network reported no error; only the time limit ends such a job)")]
    Hung,
}

impl FailureCause {
    /// What the ranks' calls returned; a hung job's calls have not returned.
    #[must_use]
    pub const fn result(self) -> Option<NcclResult> {
        match self {
            Self::Connect(error) => Some(error.result()),
            Self::Network(_) | Self::RankLost(_) => Some(NcclResult::SystemError),
            Self::Hung => None,
        }
    }
}

/// The end of a job: one for all ranks, as one dead connection ends the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Since the drill's start.
    pub at: SimTime,
    /// The edge on which it was seen; `None` for a lost rank.
    pub edge: Option<Edge>,
    /// Why.
    pub cause: FailureCause,
}
