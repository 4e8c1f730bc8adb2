//! The events of an LNet, in order, as read by workloads and tests.

use std::collections::BTreeMap;

use platforms::NodeName;
use simfs::SimTime;

use super::{
    health::Health,
    message::MessageId,
    nid::Nid,
    stats::MessageKind,
    status::MsgStatus,
    trace::{TraceEntry, Traced},
};

/// An event on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadEvent {
    /// When.
    pub at: SimTime,
    /// The node.
    pub node: NodeName,
    /// The event.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A message was given to a driver.
    Sent {
        /// The message.
        message: MessageId,
        /// Its kind.
        kind: MessageKind,
        /// Its purpose.
        errand: Errand,
        /// The local interface.
        by: Nid,
        /// The interface of the next hop.
        to: Nid,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// An attempt ended and was classified; not emitted for an attempt that failed after the
    /// deadline.
    Judged {
        /// The message.
        message: MessageId,
        /// The status.
        status: MsgStatus,
        /// Whether it is sent again.
        resend: bool,
    },
    /// A message of this node is completed.
    Ended {
        /// The message.
        message: MessageId,
        /// The status of the last attempt.
        status: MsgStatus,
        /// Number of resends.
        resends: u32,
        /// How it is counted.
        ending: Ending,
    },
    /// A health value changed.
    Health {
        /// The interface.
        ni: Nid,
        /// Whether it is local or a peer's.
        side: Side,
        /// The old value.
        before: Health,
        /// The new value.
        after: Health,
        /// The cause.
        cause: Cause,
    },
    /// The layer above got an event about its request.
    Told {
        /// The request.
        request: MessageId,
        /// The event.
        event: UlpEvent,
        /// The result.
        result: UlpResult,
        /// Whether it is the last event about this request.
        last: bool,
    },
    /// A PUT or GET for the layer above arrived.
    Arrived {
        /// The request.
        request: MessageId,
        /// Its kind.
        kind: MessageKind,
        /// The interface of its origin.
        from: Nid,
        /// Number of bytes that it carries or asks for.
        length: u64,
    },
    /// A received message was dropped.
    Dropped {
        /// The interface on which it arrived.
        by: Nid,
        /// Its kind.
        kind: MessageKind,
    },
    /// A line on the console.
    Console(String),
}

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Errand {
    /// A request of the layer above.
    Ulp,
    /// Recovery ping of a local interface.
    RecoverLocal,
    /// Recovery ping of a peer's interface.
    RecoverPeer,
    /// Ping of a gateway.
    RouterPing,
    /// Notifies a peer of the status of interfaces.
    Push,
    /// Answer to a GET or PUT.
    Answer,
    /// Forwarded message.
    Forward,
}

/// How a completed message is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was delivered.
    Success,
    /// It failed.
    Failure,
    /// It failed after its deadline; no interface is blamed.
    Deadline,
}

/// Whether an interface is local or a peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Local.
    Local,
    /// A peer's.
    Peer,
}

/// The cause of a change of health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An attempt for this message ended with this status.
    Status(MessageId, MsgStatus),
    /// A message arrived.
    Arrival,
    /// A recovery ping was sent or answered.
    Recovery,
    /// A recovery ping failed (HLD).
    PingFailed,
    /// A response did not come in time.
    ResponseTimeout,
    /// The peer reported that the interface is down.
    ReportedDown,
    /// An administrator set it.
    Set,
}

/// Events for the layer above (`LNET_EVENT_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UlpEvent {
    /// The request was sent, or failed to be.
    Send,
    /// The ACK arrived.
    Ack,
    /// The REPLY arrived.
    Reply,
    /// No further events follow.
    Unlink,
}

impl UlpEvent {
    /// All events.
    pub const ALL: [Self; 4] = [Self::Send, Self::Ack, Self::Reply, Self::Unlink];

    /// Its name, without `LNET_EVENT_`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Send => "SEND",
            Self::Ack => "ACK",
            Self::Reply => "REPLY",
            Self::Unlink => "UNLINK",
        }
    }
}

/// The result in an event for the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UlpResult {
    /// Success.
    Ok,
    /// It could not be sent.
    Failed(MsgStatus),
    /// No response came in time.
    TimedOut,
    /// LNet was unloaded.
    Shutdown,
}

impl UlpResult {
    /// All results; a message never fails with [`MsgStatus::Ok`].
    pub fn all() -> impl Iterator<Item = Self> {
        let failed = MsgStatus::ALL.into_iter();
        let failed = failed.filter(|status| *status != MsgStatus::Ok);
        let failed = failed.map(Self::Failed);
        [Self::Ok, Self::TimedOut, Self::Shutdown]
            .into_iter()
            .chain(failed)
    }

    /// Its name in a scenario: `ok`, `timed_out`, `unloaded`, or the status of the message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed(status) => status.name(),
            Self::TimedOut => "timed_out",
            Self::Shutdown => "unloaded",
        }
    }
}

/// The list of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) now: SimTime,
    pub(crate) reported: Vec<WorkloadEvent>,
    /// How often each node's layer above was told an event with a result; an unloaded LNet does not reset it.
    pub(crate) told: BTreeMap<(NodeName, UlpEvent, UlpResult), u64>,
    /// `None` if no trace is recorded.
    pub(crate) trace: Option<Vec<TraceEntry>>,
}

impl Log {
    pub(crate) fn say(&mut self, node: &NodeName, what: What) {
        self.note(node, || Traced::Event(what.clone()));
        if let What::Told { event, result, .. } = &what {
            *self
                .told
                .entry((node.clone(), *event, *result))
                .or_insert(0) += 1;
        }
        self.reported.push(WorkloadEvent {
            at: self.now,
            node: node.clone(),
            what,
        });
    }

    /// Adds an entry to the trace, if one is recorded.
    pub(crate) fn note(&mut self, node: &NodeName, what: impl FnOnce() -> Traced) {
        let at = self.now;
        if let Some(trace) = &mut self.trace {
            trace.push(TraceEntry {
                at,
                node: node.clone(),
                what: what(),
            });
        }
    }
}
