//! The actions that the agent requests, and their outcomes: the interface between logic and I/O.
//!
//! A caller carries out [`Todo`]s until [`Todo::Done`]. Publishing, retries, commits and saves are
//! decided by the agent only.

use std::sync::Arc;
use std::time::Duration;

use proto::HealthEvents;
use terms::Check;

use crate::flags::Settings;
use crate::hands::ReadError;
use crate::log_record::LogRecord;

/// The texts an agent starts from, or why they could not be read.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// The validated command line.
    pub settings: Settings,
    /// `--config`.
    pub config: Result<&'a [u8], ReadError>,
    /// `--metadata-path`.
    pub metadata: Result<&'a [u8], ReadError>,
    /// `--proc-net-route-path`.
    pub route: Result<&'a [u8], ReadError>,
    /// `--boot-id-path`.
    pub boot_id: Result<&'a [u8], ReadError>,
    /// `--state-file`.
    pub state: Result<&'a [u8], ReadError>,
}

/// The next action of the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Todo {
    /// Call the connector once and answer with [`crate::Agent::published`].
    Publish {
        /// The check whose events these are.
        check: Check,
        /// The call.
        batch: HealthEvents,
        /// The attempt within one batch, from 1.
        attempt: u32,
    },
    /// Wait before the next attempt. Needs no answer.
    Wait(Duration),
    /// Carry out the steps in order, stop at the first error, answer with [`crate::Agent::saved`].
    Save(Vec<SaveStep>),
    /// Print a log record. Needs no answer.
    LogRecord(LogRecord),
    /// Nothing to do until the next poll.
    Done,
}

/// One step of an atomic save. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaveStep {
    /// Create the folder and its parents, if they do not exist.
    CreateFolder(String),
    /// Create the file, or truncate it.
    Create(String),
    /// Write the bytes to the file just created.
    Write(String, Arc<[u8]>),
    /// Flush the file to the disk.
    Fsync(String),
    /// Rename the first to the second.
    Rename(String, String),
    /// Flush the folder to the disk.
    FsyncFolder(String),
}

/// The outcome of one attempt to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The connector accepted it.
    Accepted,
    /// The socket's path does not exist; no call was made.
    SocketMissing,
    /// The call ended with a gRPC status other than OK, from the connector or the transport.
    Status {
        /// The gRPC code, 1 to 16.
        code: i32,
        /// Its text.
        message: String,
    },
    /// The connection failed.
    Io(IoKind),
    /// No answer within `--publish-timeout`.
    TimedOut,
}

/// How a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IoKind {
    /// End of stream.
    Eof,
    /// Reset by the other side (`ECONNRESET`).
    Reset,
    /// The other side had closed it (`EPIPE`).
    BrokenPipe,
    /// Refused: no process listens (`ECONNREFUSED`).
    Refused,
    /// Another failure.
    Other,
}

impl Outcome {
    /// Whether the same batch may be sent again at once (NVSentinel, `commons/pkg/healthpub`; its
    /// Go client sees a refused connection as `UNAVAILABLE`).
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        const DEADLINE_EXCEEDED: i32 = 4;
        const UNAVAILABLE: i32 = 14;
        match self {
            Outcome::TimedOut => true,
            Outcome::Status { code, .. } => matches!(*code, DEADLINE_EXCEEDED | UNAVAILABLE),
            Outcome::Io(kind) => *kind != IoKind::Other,
            Outcome::Accepted | Outcome::SocketMissing => false,
        }
    }
    /// Whether the connector may have the batch although it did not accept it.
    #[must_use]
    pub(crate) fn leaves_doubt(&self) -> bool {
        const CANCELLED: i32 = 1;
        const DEADLINE_EXCEEDED: i32 = 4;
        match self {
            Outcome::TimedOut => true,
            Outcome::Status { code, .. } => matches!(*code, CANCELLED | DEADLINE_EXCEEDED),
            Outcome::Io(kind) => *kind != IoKind::Refused,
            Outcome::Accepted | Outcome::SocketMissing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Whether it may be sent again at once, and whether the connector may have it.
    #[rstest]
    #[case(Outcome::Accepted, false, false)]
    #[case(Outcome::SocketMissing, false, false)]
    #[case(Outcome::TimedOut, true, true)]
    #[case(Outcome::Io(IoKind::Eof), true, true)]
    #[case(Outcome::Io(IoKind::Reset), true, true)]
    #[case(Outcome::Io(IoKind::BrokenPipe), true, true)]
    #[case(Outcome::Io(IoKind::Refused), true, false)]
    #[case(Outcome::Io(IoKind::Other), false, true)]
    #[case(status(1), false, true)]
    #[case(status(3), false, false)]
    #[case(status(4), true, true)]
    #[case(status(14), true, false)]
    fn an_outcome_is_tried_again_or_doubted(
        #[case] outcome: Outcome,
        #[case] is_retryable: bool,
        #[case] leaves_doubt: bool,
    ) {
        assert_eq!(outcome.is_retryable(), is_retryable);
        assert_eq!(outcome.leaves_doubt(), leaves_doubt);
    }

    fn status(code: i32) -> Outcome {
        Outcome::Status {
            code,
            message: String::new(),
        }
    }
}
