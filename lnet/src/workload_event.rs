//! What happened, in order: the record that workloads, cases and laws read.

use platforms::NodeName;
use simfs::SimTime;

use super::{health::Health, message::MessageId, nid::Nid, stats::MessageKind, status::MsgStatus};

/// Something that happened on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadEvent {
    /// When.
    pub at: SimTime,
    /// Where.
    pub node: NodeName,
    /// What.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A message was given to a driver.
    Sent {
        /// Which.
        message: MessageId,
        /// What it is.
        kind: MessageKind,
        /// What for.
        errand: Errand,
        /// By which interface.
        by: Nid,
        /// To which interface of the next hop.
        to: Nid,
        /// 1 for the first try.
        attempt: u32,
    },
    /// A try ended and was judged; not said of one that failed after the deadline.
    Judged {
        /// Which.
        message: MessageId,
        /// How it ended.
        status: MsgStatus,
        /// Whether it is tried again.
        resend: bool,
    },
    /// A message of this node is done with.
    Ended {
        /// Which.
        message: MessageId,
        /// How the last try ended.
        status: MsgStatus,
        /// Tries beyond the first.
        resends: u32,
        /// How it counts.
        ending: Ending,
    },
    /// A health value changed.
    Health {
        /// Whose.
        ni: Nid,
        /// Ours or a peer's.
        side: Side,
        /// Before.
        before: Health,
        /// After.
        after: Health,
        /// By what.
        cause: Cause,
    },
    /// The layer above was told something about its request.
    Told {
        /// The request.
        request: MessageId,
        /// What it was told.
        event: UlpEvent,
        /// How it went.
        result: UlpResult,
        /// Nothing more will be said about this request.
        last: bool,
    },
    /// A PUT or GET of the layer above arrived.
    Arrived {
        /// The request it belongs to.
        request: MessageId,
        /// What it is.
        kind: MessageKind,
        /// The interface it set out from.
        from: Nid,
        /// Bytes that it brings or asks for.
        length: u64,
    },
    /// An arrival was dropped.
    Dropped {
        /// The interface it came in by.
        by: Nid,
        /// What it was.
        kind: MessageKind,
    },
    /// A line on the console.
    Console(String),
}

/// What a message is sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Errand {
    /// The layer above asked for it.
    Ulp,
    /// To see whether a local interface is well again.
    RecoverLocal,
    /// To see whether a peer's interface is well again.
    RecoverPeer,
    /// To see whether a gateway is alive.
    RouterPing,
    /// To tell a peer which interfaces are up.
    Push,
    /// It answers a GET or a PUT.
    Answer,
    /// It is passed on.
    Forward,
}

/// How a message counts when it is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It got through.
    Success,
    /// It failed.
    Failure,
    /// It failed after its deadline, which is nobody's fault any more.
    Deadline,
}

/// Whose interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// This node's own.
    Local,
    /// A peer's.
    Peer,
}

/// What changed a health value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A try of this message ended so.
    Status(MessageId, MsgStatus),
    /// Something arrived.
    Arrival,
    /// A recovery ping was sent or answered.
    Recovery,
    /// A response did not come in time.
    ResponseTimeout,
    /// The peer says that the interface is down.
    ReportedDown,
    /// Somebody set it.
    Set,
}

/// What the layer above is told about (`LNET_EVENT_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UlpEvent {
    /// The request was sent, or not.
    Send,
    /// The ACK came.
    Ack,
    /// The REPLY came.
    Reply,
    /// No more events will come.
    Unlink,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UlpResult {
    /// Well.
    Ok,
    /// It could not be sent.
    Failed(MsgStatus),
    /// No response came in time.
    TimedOut,
    /// LNet was unloaded.
    Shutdown,
}

/// Where happenings are written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) now: SimTime,
    pub(crate) reported: Vec<WorkloadEvent>,
}

impl Log {
    pub(crate) fn say(&mut self, node: &NodeName, what: What) {
        self.reported.push(WorkloadEvent {
            at: self.now,
            node: node.clone(),
            what,
        });
    }
}
