//! The course of an outage on the queue pairs: lost posts, retransmissions, completions, and the
//! asynchronous events of the devices.
//!
//! A net keeps these always, because they are few: a write that is acknowledged at once is none of them
//! (for those, see [`Net::posts`](super::Net::posts)).

use std::fmt;

use simfs::SimTime;

use super::connection::{ConnectionId, Side};
use super::{Bytes, HostId, PostKind, Rail, RailMask, RailState};

/// A queue pair of a connection's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePairId {
    /// The connection.
    pub connection: ConnectionId,
    /// The end that posts on it.
    pub side: Side,
    /// Its index in the end's array, with SOUT's first and SUP's after them.
    pub index: u8,
}

/// An asynchronous event of a device, with libibverbs' name and number ("rdma-core,
/// libibverbs/verbs.h", `enum ibv_event_type`). A thread of the plugin would read them; the first
/// generation defines one and never starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncEvent {
    /// The device has failed or is gone.
    DeviceFatal,
    /// The port carries traffic again.
    PortActive,
    /// The port carries no traffic any more.
    PortError,
}

impl AsyncEvent {
    /// The event of a port that changes; `None` if nothing changes, or the device only returns.
    #[must_use]
    pub const fn of_change(from: RailState, to: RailState) -> Option<Self> {
        match (from, to) {
            (RailState::Up, RailState::Down) => Some(Self::PortError),
            (RailState::Down, RailState::Up) => Some(Self::PortActive),
            (RailState::Up | RailState::Down, RailState::Gone) => Some(Self::DeviceFatal),
            _ => None,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::DeviceFatal => 8,
            Self::PortActive => 9,
            Self::PortError => 10,
        }
    }
}

impl fmt::Display for AsyncEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeviceFatal => "IBV_EVENT_DEVICE_FATAL",
            Self::PortActive => "IBV_EVENT_PORT_ACTIVE",
            Self::PortError => "IBV_EVENT_PORT_ERR",
        })
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetEventKind {
    /// A device raised an asynchronous event.
    Async(AsyncEvent),
    /// A write was posted and not acknowledged, or waits behind such a write.
    Post {
        /// The queue pair.
        queue_pair: QueuePairId,
        /// Its purpose.
        purpose: PostKind,
        /// Its size.
        bytes: Bytes,
        /// The mask of its message; `None` for clear-to-send.
        mask: Option<RailMask>,
        /// Number of writes before it on the queue pair.
        behind: usize,
    },
    /// A try ended without an acknowledgement, and the write was sent again.
    Retry {
        /// The queue pair.
        queue_pair: QueuePairId,
        /// The number of tries so far, with the new one.
        tries: u8,
    },
    /// A retransmission was acknowledged: `IBV_WC_SUCCESS` for it and for all behind it.
    Acknowledged {
        /// The queue pair.
        queue_pair: QueuePairId,
        /// Number of writes acknowledged.
        writes: usize,
    },
    /// The last try ended without an acknowledgement: `IBV_WC_RETRY_EXC_ERR` for the first write,
    /// `IBV_WC_WR_FLUSH_ERR` for those behind it.
    RetryExceeded {
        /// The queue pair.
        queue_pair: QueuePairId,
        /// The number of tries.
        tries: u8,
        /// Number of flushed writes behind the first.
        flushed: usize,
    },
}

/// An event of a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetEvent {
    /// Time since the drill's start.
    pub at: SimTime,
    /// The host that sees it.
    pub host: HostId,
    /// The rail.
    pub rail: Rail,
    /// What happened.
    pub kind: NetEventKind,
}
