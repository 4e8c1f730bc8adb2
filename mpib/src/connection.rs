//! A connection: two ends with their queue pairs, and the receiver's ring of offered buffers.

use std::collections::BTreeMap;

use simfs::SimTime;

use super::hints::HintSlot;
use super::message::{Buffer, Group, Immediate, Receive, RequestId};
use super::queue_pair::QueuePair;
use super::{Bytes, FlowId, HostId, NcclResult, Path, Rail, Unregistered};

/// A connection's number in its net, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub(super) u32);

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The end that called `connect` and sends data.
    Send,
    /// The end that called `accept`, offers buffers and sends clear-to-send.
    Receive,
}

/// Why a connection could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The rank's plugin was refused, or never started.
    #[error("the plugin of host {} is not loaded", .host.number())]
    NotLoaded {
        /// The host.
        host: HostId,
    },
    /// A rail that has queue pairs does not carry traffic.
    #[error("{rail} of host {} is not up", .host.number())]
    RailNotUp {
        /// The host.
        host: HostId,
        /// The rail.
        rail: Rail,
    },
    /// The agent of one end assigns no slot.
    #[error("host {} got no hint slot: {reason}", .host.number())]
    Unregistered {
        /// The host.
        host: HostId,
        /// The agent's reason.
        reason: Unregistered,
    },
}

impl ConnectError {
    /// The result of `connect` or `accept`. That it is fatal is known; the specific result is chosen:
    /// a missing plugin is a bug of the caller.
    #[must_use]
    pub const fn result(self) -> NcclResult {
        match self {
            Self::NotLoaded { .. } => NcclResult::InternalError,
            _ => NcclResult::SystemError,
        }
    }
}

/// Why a connection died. Calls on it return [`NcclResult::SystemError`] from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Death {
    /// A write was not acknowledged in any of its tries: completion status 12.
    #[error("transport retry counter exceeded on {rail} of host {}", .host.number())]
    RetryExceeded {
        /// The host that posted the write.
        host: HostId,
        /// The rail that it was posted on.
        rail: Rail,
    },
    /// The queue of clear-to-send writes was full: none of its writes had asked for a completion that
    /// came (`ibv_post_send` returns `ENOMEM`).
    #[error("send queue full on {rail} of host {}", .host.number())]
    QueueFull {
        /// The host that posted the write.
        host: HostId,
        /// The rail of the queue.
        rail: Rail,
    },
    /// A device with queue pairs of the connection disappeared.
    #[error("{rail} of host {} is gone", .host.number())]
    DeviceGone {
        /// The device's host.
        host: HostId,
        /// The device's rail.
        rail: Rail,
    },
}

/// A write on a queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) bytes: Bytes,
    pub(super) load: Load,
}

/// The purpose of a write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// The receiver's buffers of group `head` may be filled. If it asks for a completion, `signaled` is its
    /// number among these writes, from 1.
    Clear { head: u64, signaled: Option<u64> },
    /// A part of a message for buffer `index` of group `head`.
    Data {
        head: u64,
        index: usize,
        request: RequestId,
        immediate: Immediate,
    },
}

#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) host: HostId,
    pub(super) flow: FlowId,
    pub(super) slot: Option<HintSlot>,
    pub(super) path: Path,
    pub(super) queue_pairs: Vec<QueuePair<Write>>,
}

impl End {
    pub(super) fn new(host: HostId, flow: FlowId, slot: Option<HintSlot>, path: Path) -> Self {
        let count = path.queue_pairs();
        let on = |rail| (0..count[rail]).map(move |_| QueuePair::new(rail));
        Self {
            host,
            flow,
            slot,
            path,
            queue_pairs: on(Rail::Sout).chain(on(Rail::Sup)).collect(),
        }
    }

    pub(super) fn has_queue_pairs_on(&self, rail: Rail) -> bool {
        self.path.queue_pairs()[rail] > 0
    }
}

/// A connection: both ends, and the offered, cleared and sent buffers.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) send: End,
    pub(super) receive: End,
    pub(super) dead: Option<(SimTime, Death)>,
    /// Offered groups by their position in the ring, until they are complete.
    groups: BTreeMap<u64, Group>,
    /// The position of the next group to be offered.
    tail: u64,
    /// The position of the group that the sender fills.
    head: u64,
    /// Number of sends without a completion.
    pub(super) sends_open: u32,
    /// Number of clear-to-send writes posted so far.
    pub(super) clears: u64,
    /// Number of them whose places in the send queue are free again: a completion frees its own and all
    /// before it.
    pub(super) clears_freed: u64,
    /// Number of messages sent with each mask, by its bits.
    pub(super) masks: [u64; 4],
}

impl Connection {
    pub(super) const fn new(send: End, receive: End) -> Self {
        Self {
            send,
            receive,
            dead: None,
            groups: BTreeMap::new(),
            tail: 0,
            head: 0,
            sends_open: 0,
            clears: 0,
            clears_freed: 0,
            masks: [0; 4],
        }
    }

    pub(super) fn end(&self, side: Side) -> &End {
        match side {
            Side::Send => &self.send,
            Side::Receive => &self.receive,
        }
    }

    pub(super) fn end_mut(&mut self, side: Side) -> &mut End {
        match side {
            Side::Send => &mut self.send,
            Side::Receive => &mut self.receive,
        }
    }

    /// Number of groups that are not complete.
    pub(super) fn receives_open(&self) -> usize {
        self.groups.len()
    }

    /// Adds an offered group; returns its position in the ring.
    pub(super) fn offer(&mut self, request: RequestId, receives: &[Receive]) -> u64 {
        let place = self.tail;
        self.tail += 1;
        let buffers = receives.iter().copied().map(Buffer::new).collect();
        let group = Group {
            request,
            is_clear: false,
            buffers,
        };
        self.groups.insert(place, group);
        place
    }

    pub(super) fn clear(&mut self, place: u64) {
        if let Some(group) = self.groups.get_mut(&place) {
            group.is_clear = true;
        }
    }

    /// The buffer for the next message with this tag: the position of the group at the head, and the
    /// first unsent buffer in it with the tag. `None` before clear-to-send has arrived.
    pub(super) fn next_buffer(&self, tag: super::Tag) -> Option<(u64, usize, Receive)> {
        let group = self.groups.get(&self.head).filter(|group| group.is_clear)?;
        let fits = |buffer: &Buffer| !buffer.is_sent && buffer.receive.tag == tag;
        let index = group.buffers.iter().position(fits)?;
        Some((self.head, index, group.buffers[index].receive))
    }

    /// Records that a message was sent into a buffer; the head advances if it was the group's last.
    pub(super) fn sent(&mut self, place: u64, index: usize) {
        let group = self
            .groups
            .get_mut(&place)
            .expect("a group is kept until it is complete");
        group.buffers[index].is_sent = true;
        if group.buffers.iter().all(|buffer| buffer.is_sent) {
            self.head += 1;
        }
    }

    /// Records that a part has arrived. Returns the group's request if this completed it.
    pub(super) fn arrived(
        &mut self,
        place: u64,
        index: usize,
        rail: Rail,
        immediate: Immediate,
    ) -> Option<RequestId> {
        let group = self.groups.get_mut(&place)?;
        group.buffers[index].arrived(rail, immediate);
        if !group.is_complete() {
            return None;
        }
        self.groups.remove(&place).map(|group| group.request)
    }
}
