//! The eleven statuses of a message, and the cost of each.

use std::{fmt, str::FromStr};

/// `LNET_MSG_STATUS_…`, in the order of the enumeration ("lnet/include/linux/lnet/lib-types.h").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MsgStatus {
    /// Nothing failed.
    Ok,
    /// The local interface was interrupted.
    LocalInterrupt,
    /// The local interface dropped it.
    LocalDropped,
    /// The local interface aborted it.
    LocalAborted,
    /// The local interface had no route.
    LocalNoRoute,
    /// The local side failed permanently.
    LocalError,
    /// It was queued on the local interface for too long.
    LocalTimeout,
    /// The remote side rejected it permanently.
    RemoteError,
    /// The remote side did not accept it.
    RemoteDropped,
    /// The remote side accepted it but did not answer.
    RemoteTimeout,
    /// It was in flight for too long, for an unknown reason.
    NetworkTimeout,
}

/// Which interface a resend avoids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// Another local interface is tried.
    Local,
    /// Another interface of the peer is tried.
    Remote,
}

impl MsgStatus {
    /// All statuses, in order; the index is the number of the bit in a drop rule.
    pub const ALL: [Self; 11] = [
        Self::Ok,
        Self::LocalInterrupt,
        Self::LocalDropped,
        Self::LocalAborted,
        Self::LocalNoRoute,
        Self::LocalError,
        Self::LocalTimeout,
        Self::RemoteError,
        Self::RemoteDropped,
        Self::RemoteTimeout,
        Self::NetworkTimeout,
    ];

    /// Its index in [`MsgStatus::ALL`].
    #[must_use]
    pub fn number(self) -> usize {
        self as usize
    }

    /// Whether it lowers the health of the local interface that carried the message.
    #[must_use]
    pub(crate) fn blames_local(self) -> bool {
        matches!(
            self,
            Self::LocalInterrupt
                | Self::LocalDropped
                | Self::LocalAborted
                | Self::LocalNoRoute
                | Self::LocalError
                | Self::LocalTimeout
                | Self::NetworkTimeout
        )
    }

    /// Whether it lowers the health of the peer's interface that the message was sent to.
    #[must_use]
    pub(crate) fn blames_peer(self) -> bool {
        matches!(
            self,
            Self::RemoteError | Self::RemoteDropped | Self::RemoteTimeout | Self::NetworkTimeout
        )
    }

    /// Which interface a resend avoids; `None` if the message is not resent, because the other side
    /// may have received it or a second attempt would fail in the same way.
    #[must_use]
    pub fn resend(self) -> Option<Resend> {
        match self {
            Self::LocalInterrupt
            | Self::LocalDropped
            | Self::LocalAborted
            | Self::LocalNoRoute
            | Self::LocalTimeout => Some(Resend::Local),
            Self::RemoteDropped => Some(Resend::Remote),
            Self::Ok
            | Self::LocalError
            | Self::RemoteError
            | Self::RemoteTimeout
            | Self::NetworkTimeout => None,
        }
    }

    /// The spelling in rules (`lnetctl fault drop add -e`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::LocalInterrupt => "local_interrupt",
            Self::LocalDropped => "local_dropped",
            Self::LocalAborted => "local_aborted",
            Self::LocalNoRoute => "local_no_route",
            Self::LocalError => "local_error",
            Self::LocalTimeout => "local_timeout",
            Self::RemoteError => "remote_error",
            Self::RemoteDropped => "remote_dropped",
            Self::RemoteTimeout => "remote_timeout",
            Self::NetworkTimeout => "network_timeout",
        }
    }
}

impl fmt::Display for MsgStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MsgStatus {
    type Err = StatusError;

    fn from_str(text: &str) -> Result<Self, StatusError> {
        Self::ALL
            .into_iter()
            .find(|status| status.name() == text)
            .ok_or_else(|| StatusError(text.to_owned()))
    }
}

/// An unknown status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a message status\nhint: {hint}", hint = Self::HINT)]
pub struct StatusError(String);

impl StatusError {
    /// The hint.
    pub const HINT: &str = "such as `local_dropped` or `network_timeout`";
}
