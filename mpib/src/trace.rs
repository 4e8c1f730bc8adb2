//! What can be counted on the wire: posts, and bytes at each NIC.

use simfs::SimTime;

use super::connection::ConnectionId;
use super::message::Immediate;
use super::{Bytes, HostId, Rail};

/// What a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PostKind {
    /// A part of a message.
    Data,
    /// Clear-to-send: the receiver's buffers.
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
    /// The queue pair, as an index into the end's array: SOUT first, SUP behind.
    pub queue_pair: u8,
    /// What it is for.
    pub kind: PostKind,
    /// What it carries.
    pub bytes: Bytes,
    /// What it announces to the receiver; a clear-to-send write announces nothing.
    pub immediate: Option<Immediate>,
    /// Whether it asks for a completion.
    pub is_signaled: bool,
}

/// The byte counters of a NIC. They move when a write gets through, at both ends at once; a lost try
/// is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicBytes {
    /// What left through the port.
    pub sent: Bytes,
    /// What came in.
    pub received: Bytes,
}
