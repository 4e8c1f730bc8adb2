//! A message, what it is for, and how far it has come.

use std::fmt;

use platforms::NodeName;
use simfs::SimTime;

use super::{nid::Nid, stats::MessageKind, workload_event::Errand};

/// A message on one hop. A request is known by its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub(crate) u64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What the layer above may ask for.
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
    /// The node that asks.
    pub node: NodeName,
    /// What it asks for.
    pub verb: Verb,
    /// The local interface to use; `None`: any.
    pub source: Option<Nid>,
    /// Where to.
    pub destination: Nid,
    /// Bytes that are put or asked for.
    pub length: u64,
    /// The portal: 0 is LNet's own, which answers pings.
    pub portal: u32,
}

/// What a ping buffer says of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NiWord {
    pub(crate) nid: Nid,
    pub(crate) up: bool,
}

/// The interface that a GET came in by, and from which, until its REPLY is judged with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) by: Nid,
    pub(crate) from: Nid,
}

/// Where a try goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leg {
    /// The local interface.
    pub(crate) by: Nid,
    /// The next hop's.
    pub(crate) to: Nid,
    /// The next hop is this node.
    pub(crate) own: bool,
}

/// What for, and what it needs to know at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Ulp,
    RecoverLocal(Nid),
    RecoverPeer(Nid),
    /// By the gateway's primary NID.
    RouterPing(Nid),
    Push(Vec<NiWord>),
    /// With the ping buffer if a ping is answered.
    Answer(Option<Vec<NiWord>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: MessageId,
    /// The request that it is, or answers.
    pub(crate) transaction: MessageId,
    /// The node whose LNet holds it: the origin's or a router's.
    pub(crate) holder: NodeName,
    pub(crate) kind: MessageKind,
    pub(crate) purpose: Purpose,
    pub(crate) forwarded: bool,
    pub(crate) wants_answer: bool,
    pub(crate) source_given: Option<Nid>,
    /// The interface it set out from; known from the first try on.
    pub(crate) origin: Option<Nid>,
    pub(crate) destination: Nid,
    pub(crate) length: u64,
    pub(crate) portal: u32,
    /// Set at the first try, as the net decides.
    pub(crate) deadline: Option<SimTime>,
    /// How often it was given to a driver.
    pub(crate) tries: u32,
    pub(crate) used: Vec<Nid>,
    pub(crate) leg: Option<Leg>,
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

    /// Recovery pings take the NID they are sent to, and are never sent again.
    pub(crate) fn is_recovery(&self) -> bool {
        matches!(self.errand(), Errand::RecoverLocal | Errand::RecoverPeer)
    }

    /// Bytes on the wire: a GET and an ACK bring none.
    pub(crate) fn payload(&self) -> u64 {
        match self.kind {
            MessageKind::Put | MessageKind::Reply => self.length,
            MessageKind::Get | MessageKind::Ack | MessageKind::Hello => 0,
        }
    }

    pub(crate) fn is_past_deadline(&self, now: SimTime) -> bool {
        self.deadline.is_some_and(|deadline| now > deadline)
    }
}
