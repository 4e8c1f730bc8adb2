//! The observable traffic: posts, and bytes at each NIC.

use simfs::SimTime;

use super::connection::ConnectionId;
use super::message::Immediate;
use super::{Bytes, HostId, Rail};

/// The purpose of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PostKind {
    /// A part of a message.
    Data,
    /// Clear-to-send for the receiver's buffers.
    ClearToSend,
}

/// One `ibv_post_send`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// When it was posted, since the drill's start.
    pub at: SimTime,
    /// The connection.
    pub connection: ConnectionId,
    /// The host that posted it.
    pub host: HostId,
    /// The rail of its queue pair.
    pub rail: Rail,
    /// The queue pair, as an index into the end's array with SOUT's first and SUP's after them.
    pub queue_pair: u8,
    /// Its purpose.
    pub kind: PostKind,
    /// Its size.
    pub bytes: Bytes,
    /// Its immediate data; `None` for a clear-to-send write.
    pub immediate: Option<Immediate>,
    /// Whether it requests a completion.
    pub is_signaled: bool,
}

/// The byte counters of a NIC. Both ends count a write when it is delivered; lost tries are not
/// counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicBytes {
    /// Bytes sent by the port.
    pub sent: Bytes,
    /// Bytes received by the port.
    pub received: Bytes,
}
