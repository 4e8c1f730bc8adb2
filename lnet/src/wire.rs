//! The inlet: what LNet is told about ports and wires, and what it makes of a failed try.
//!
//! Whoever moves links calls [`Lnet::notify`](super::Lnet::tell) with a [`Notice`] at the moment it
//! happens. Nothing else comes in from below.

use platforms::{NodeName, PortRef};
use simfs::SimTime;

use super::{nid::Lnd, status::MsgStatus};

/// What the world below says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something happened to a port.
    Port {
        /// Which.
        port: PortRef,
        /// What.
        event: PortEvent,
    },
    /// From now on this is what becomes of messages from one port to another, as long as both
    /// carry. One direction only: a wire that is dead both ways is two notices.
    Wire {
        /// The sending port.
        from: PortRef,
        /// The receiving port.
        to: PortRef,
        /// What it does.
        wire: Wire,
    },
    /// A node's LNet is loaded, and remembers nothing, or is unloaded with all that it had under way.
    Node {
        /// Which.
        node: NodeName,
        /// Loaded or unloaded.
        loaded: bool,
    },
}

/// What can happen to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// `IB_EVENT_PORT_ACTIVE`, or the netdev is up: it carries, and the fatal flag is cleared.
    Active,
    /// `IB_EVENT_PORT_ERR`, `IB_EVENT_DEVICE_FATAL`, or the netdev is down: it carries nothing, and
    /// the fatal flag is set.
    Error,
    /// It carries nothing, and the kernel has not said so yet.
    Lost,
    /// Its device was removed: it carries nothing. `RDMA_CM_EVENT_DEVICE_REMOVAL` leaves the flag as
    /// it is; there is a line on the console.
    Gone,
}

/// What a wire between two ports that carry does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Carries it.
    Carries,
    /// Carries it, later than others do.
    Delays(SimTime),
    /// Makes this trouble.
    Fails(Trouble),
}

/// How a try fails, in the driver's terms ("lnet/klnds/o2iblnd/o2iblnd_cb.c",
/// "lnet/klnds/socklnd/socklnd_cb.c").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// It was posted and its completion failed: the retries of the reliable connection ran out.
    CompletionFailed,
    /// It was sent and the driver's answer never came.
    AwaitingResponse,
    /// It was still being sent when its time was over: a black hole.
    StillSending,
    /// It still stood behind others when its time was over.
    StillQueued,
    /// Connecting took too long.
    ConnectTimedOut,
    /// Connecting found no host.
    ConnectUnreachable,
    /// Connecting was refused: the other side runs no LNet.
    ConnectRefused,
    /// Connecting failed otherwise.
    ConnectFailed,
    /// The other side answered with an error.
    Nak,
    /// There was no descriptor to send it with, or no mapping.
    NoResources,
}

/// When a trouble is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noticed {
    AtOnce,
    AfterRetries,
    AfterLndTimeout,
}

impl Trouble {
    /// All.
    pub const ALL: [Self; 10] = [
        Self::CompletionFailed,
        Self::AwaitingResponse,
        Self::StillSending,
        Self::StillQueued,
        Self::ConnectTimedOut,
        Self::ConnectUnreachable,
        Self::ConnectRefused,
        Self::ConnectFailed,
        Self::Nak,
        Self::NoResources,
    ];

    /// What the driver calls it. Drivers other than `socklnd` are taken to speak as `o2iblnd` does.
    #[must_use]
    pub fn status(self, lnd: Lnd) -> MsgStatus {
        let sock = lnd == Lnd::Sock;
        match self {
            Self::CompletionFailed | Self::ConnectRefused => MsgStatus::RemoteDropped,
            Self::AwaitingResponse => MsgStatus::RemoteTimeout,
            Self::StillSending | Self::ConnectTimedOut => MsgStatus::NetworkTimeout,
            Self::StillQueued if sock => MsgStatus::NetworkTimeout,
            Self::StillQueued => MsgStatus::LocalTimeout,
            Self::ConnectUnreachable if sock => MsgStatus::RemoteDropped,
            Self::ConnectUnreachable => MsgStatus::NetworkTimeout,
            Self::ConnectFailed | Self::Nak if sock => MsgStatus::LocalError,
            Self::ConnectFailed => MsgStatus::LocalDropped,
            Self::Nak => MsgStatus::RemoteError,
            Self::NoResources => MsgStatus::LocalError,
        }
    }

    pub(crate) fn noticed(self) -> Noticed {
        match self {
            Self::CompletionFailed => Noticed::AfterRetries,
            Self::AwaitingResponse
            | Self::StillSending
            | Self::StillQueued
            | Self::ConnectTimedOut => Noticed::AfterLndTimeout,
            Self::ConnectUnreachable
            | Self::ConnectRefused
            | Self::ConnectFailed
            | Self::Nak
            | Self::NoResources => Noticed::AtOnce,
        }
    }
}

/// How long the world below takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From posting to arrival on a wire that carries.
    pub latency: SimTime,
    /// Until the retries of a reliable connection run out. It is below every LND timeout.
    pub rc_retry: SimTime,
}

impl Default for Timing {
    /// 1 ms, chosen: anything well below the monitor's second does. 4 s for the retries.
    fn default() -> Self {
        Self {
            latency: SimTime::from_ms(1),
            rc_retry: SimTime::from_secs(4),
        }
    }
}
