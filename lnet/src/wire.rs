//! The input of LNet: changes of ports and wires, and the statuses of failed attempts.
//!
//! The owner of the links calls [`Lnet::notify`](super::Lnet::notify) with a [`Notice`] at the time of
//! each change. There is no other input from below.

use platforms::{NodeName, PortRef};
use simfs::SimTime;

use super::{nid::Lnd, status::MsgStatus};

/// A change of a port, a wire or a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A port changed.
    Port {
        /// The port.
        port: PortRef,
        /// The change.
        event: PortEvent,
    },
    /// Sets what happens to messages from one port to another, as long as both carry. It applies to
    /// one direction; a wire that is dead both ways needs two notices.
    Wire {
        /// The sending port.
        from: PortRef,
        /// The receiving port.
        to: PortRef,
        /// The new behaviour.
        wire: Wire,
    },
    /// A node's LNet is loaded without any state, or unloaded with everything in flight.
    Node {
        /// The node.
        node: NodeName,
        /// Whether it is loaded.
        loaded: bool,
    },
}

/// A change of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortEvent {
    /// `IB_EVENT_PORT_ACTIVE`, or the netdev is up: it carries, and the fatal flag is cleared.
    Active,
    /// `IB_EVENT_PORT_ERR`, `IB_EVENT_DEVICE_FATAL`, or the netdev is down: it carries nothing, and
    /// the fatal flag is set.
    Error,
    /// It carries nothing, and the kernel has not reported it yet.
    Lost,
    /// Its device was removed (`RDMA_CM_EVENT_DEVICE_REMOVAL`): it carries nothing. In the HLD profile the
    /// fatal flag is set; in the releases it does not change, and there is a line on the console. An interface
    /// of `socklnd` loses its netdev, which sets the fatal flag.
    Gone,
}

/// What a wire between two carrying ports does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Carries it.
    Carries,
    /// Carries it with this additional delay.
    Delays(SimTime),
    /// Fails in this way.
    Fails(Trouble),
}

/// The kinds of failed attempts, in the driver's terms ("lnet/klnds/o2iblnd/o2iblnd_cb.c",
/// "lnet/klnds/socklnd/socklnd_cb.c").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// It was posted and its completion failed: the retries of the reliable connection ran out.
    CompletionFailed,
    /// It was sent, but the driver's answer never came.
    AwaitingResponse,
    /// It was still being sent at its timeout: a black hole.
    StillSending,
    /// It was still queued at its timeout.
    StillQueued,
    /// Connecting took too long.
    ConnectTimedOut,
    /// Connecting found no host.
    ConnectUnreachable,
    /// Connecting was refused: the other side does not run LNet.
    ConnectRefused,
    /// Connecting failed for another reason.
    ConnectFailed,
    /// The other side answered with an error.
    Nak,
    /// There was no descriptor or no mapping to send it with.
    NoResources,
}

/// When a failure is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noticed {
    AtOnce,
    AfterRetries,
    AfterLndTimeout,
}

impl Trouble {
    /// All kinds.
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

    /// The driver's status. Drivers other than `socklnd` are treated like `o2iblnd`.
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

    /// Whether the driver closes the connection that the message was on ("LNet Health HLD, Reasons for timeout"). What
    /// was not connected yet has none, and an answer or a lack of descriptors leaves it as it is.
    pub(crate) fn closes_connection(self) -> bool {
        matches!(
            self,
            Self::CompletionFailed
                | Self::AwaitingResponse
                | Self::StillSending
                | Self::StillQueued
        )
    }

    /// The status of another message between the same two interfaces once this closes their connection: `state` is how
    /// that message would have failed, if it would ("lnet/klnds/o2iblnd/o2iblnd_cb.c", `kiblnd_tx_complete` and
    /// `kiblnd_abort_txs`). `None` if it is not on the connection: it still connects, or waits for a credit behind what
    /// was posted.
    pub(crate) fn status_of_dropped(self, state: Option<Self>, lnd: Lnd) -> Option<MsgStatus> {
        let timed_out = self.noticed() == Noticed::AfterLndTimeout;
        match state {
            Some(state) if !state.closes_connection() => None,
            Some(Self::StillQueued) if !timed_out => None,
            _ if lnd == Lnd::Sock => Some(self.status(lnd)),
            _ if !timed_out => Some(MsgStatus::RemoteDropped),
            Some(Self::StillQueued) => Some(MsgStatus::LocalTimeout),
            Some(Self::AwaitingResponse) => Some(MsgStatus::RemoteTimeout),
            _ => Some(MsgStatus::NetworkTimeout),
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

/// Latencies of the network below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time from posting to arrival on a wire that carries.
    pub latency: SimTime,
    /// Time until the retries of a reliable connection run out. It is below every LND timeout.
    pub rc_retry: SimTime,
}

impl Default for Timing {
    /// 1 ms, chosen: it only has to be well below the monitor thread's second. 4 s for the retries.
    fn default() -> Self {
        Self {
            latency: SimTime::from_ms(1),
            rc_retry: SimTime::from_secs(4),
        }
    }
}
