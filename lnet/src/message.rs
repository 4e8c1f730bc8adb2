//! A message, its purpose, and its progress.

use std::fmt;

use platforms::NodeName;
use simfs::SimTime;

use super::{
    nid::{Lnd, Nid},
    stats::MessageKind,
    wire::Trouble,
    workload_event::Errand,
};

/// A payload below this size is sent with `IBLND_MSG_IMMEDIATE`.
const IMMEDIATE_BYTES: u64 = 4096;

/// A message on one hop. A request has the id of its first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub(crate) u64);

impl MessageId {
    /// The number, from 1.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The requests of the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `LNetPut` without an ACK.
    Put,
    /// `LNetPut` with an ACK.
    PutAck,
    /// `LNetGet`, which is also what `lnetctl ping` sends.
    Get,
}

/// A request of the layer above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The requesting node.
    pub node: NodeName,
    /// The kind of request.
    pub verb: Verb,
    /// The local interface to use; any if `None`.
    pub source: Option<Nid>,
    /// The destination.
    pub destination: Nid,
    /// Number of bytes that are sent or asked for.
    pub length: u64,
    /// The portal: 0 is LNet's own, which answers pings.
    pub portal: u32,
}

/// The entry of a ping buffer for one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NiWord {
    pub(crate) nid: Nid,
    pub(crate) up: bool,
}

/// The interfaces on which a GET arrived and from which it was sent, until its REPLY is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) by: Nid,
    pub(crate) from: Nid,
}

/// LNet's own portal, on which pings are answered (`LNET_RESERVED_PORTAL`).
pub(crate) const PING_PORTAL: u32 = 0;

/// The path of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The local interface.
    pub(crate) by: Nid,
    /// The interface of the next hop.
    pub(crate) to: Nid,
    /// Whether the next hop is this node.
    pub(crate) own: bool,
}

impl Leg {
    /// To a peer, by these interfaces.
    pub(crate) fn chosen(by: Nid, to: Nid) -> Self {
        Self { by, to, own: false }
    }
}

/// The purpose of a message, with the data needed at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Ulp,
    RecoverLocal(Nid),
    RecoverPeer(Nid),
    /// To the gateway with this primary NID.
    RouterPing(Nid),
    Push(Vec<NiWord>),
    /// With the ping buffer, for the answer to a ping.
    Answer(Option<Vec<NiWord>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: MessageId,
    /// The request that it is or answers.
    pub(crate) transaction: MessageId,
    /// The node whose LNet holds it: the origin or a router.
    pub(crate) holder: NodeName,
    pub(crate) kind: MessageKind,
    pub(crate) purpose: Purpose,
    pub(crate) forwarded: bool,
    pub(crate) wants_answer: bool,
    pub(crate) source_given: Option<Nid>,
    /// The interface of its origin; set by the first attempt.
    pub(crate) origin: Option<Nid>,
    pub(crate) destination: Nid,
    pub(crate) length: u64,
    pub(crate) portal: u32,
    /// Set by the first attempt, depending on the net.
    pub(crate) deadline: Option<SimTime>,
    /// How often it was given to a driver.
    pub(crate) tries: u32,
    /// The interfaces of both ends that it has used, each once.
    pub(crate) used: Vec<Nid>,
    pub(crate) leg: Option<Leg>,
    /// How its driver will fail the present attempt, if it will.
    pub(crate) trouble: Option<Trouble>,
    pub(crate) heard: Option<Heard>,
}

impl Message {
    pub(crate) fn resends(&self) -> u32 {
        self.tries.saturating_sub(1)
    }

    pub(crate) fn errand(&self) -> Errand {
        if self.forwarded {
            return Errand::Forward;
        }
        match self.purpose {
            Purpose::Ulp => Errand::Ulp,
            Purpose::RecoverLocal(_) => Errand::RecoverLocal,
            Purpose::RecoverPeer(_) => Errand::RecoverPeer,
            Purpose::RouterPing(_) => Errand::RouterPing,
            Purpose::Push(_) => Errand::Push,
            Purpose::Answer(_) => Errand::Answer,
        }
    }

    /// Whether it is a recovery ping, which goes to a fixed NID and is never resent.
    pub(crate) fn is_recovery(&self) -> bool {
        matches!(self.errand(), Errand::RecoverLocal | Errand::RecoverPeer)
    }

    /// Number of bytes on the wire; a GET and an ACK carry none.
    pub(crate) fn payload(&self) -> u64 {
        match self.kind {
            MessageKind::Put | MessageKind::Reply => self.length,
            MessageKind::Get | MessageKind::Ack | MessageKind::Hello => 0,
        }
    }

    /// Number of messages that the driver needs for it: `o2iblnd` sends a PUT of 4 KiB or more as
    /// `IBLND_MSG_PUT_REQ` and `IBLND_MSG_PUT_DONE`, and everything else as one ("LNet Health HLD, LND
    /// timeout").
    pub(crate) fn lnd_messages(&self, lnd: Lnd) -> u64 {
        let handshake = self.kind == MessageKind::Put && self.length >= IMMEDIATE_BYTES;
        if lnd == Lnd::O2ib && handshake { 2 } else { 1 }
    }

    pub(crate) fn is_past_deadline(&self, now: SimTime) -> bool {
        self.deadline.is_some_and(|deadline| now > deadline)
    }
}
