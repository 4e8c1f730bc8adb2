//! What a player is told while a monitor runs, in the order in which it happened.
//!
//! The mount tells of listings, holds and moments, the connector of calls, a chair of ends. All of
//! it comes through one channel to the thread that plays.

use observe::Delivery;
use platforms::NodeName;
use simfs::{Fs, MomentId, RuleId};
use simfs_fuse::{HoldId, MomentAnswer, Observer};
use tokio::sync::{mpsc, oneshot};

use director::{MonitorId, Reaction};

/// Something that happened, on a node.
#[derive(Debug)]
pub(super) struct NodeEvent {
    pub(super) node: NodeName,
    pub(super) what: RuntimeEvent,
}

/// What happened. A `pid` is that of the thread which made the system call.
#[derive(Debug)]
pub(super) enum RuntimeEvent {
    /// A listing of the anchor is held.
    Gate { hold: HoldId, pid: u32 },
    /// A rule holds a request.
    Hung {
        hold: HoldId,
        pid: u32,
        rule: RuleId,
    },
    /// A moment has come, and its request is held.
    Moment {
        hold: HoldId,
        pid: u32,
        moment: MomentId,
    },
    /// A killed process cannot die, because a rule holds it.
    Stuck,
    /// A killed process was let go.
    Killed { hold: HoldId },
    /// A call was received and waits for what becomes of it.
    Call {
        reported: Delivery,
        pid: u32,
        answer: oneshot::Sender<Reaction>,
    },
    /// A monitor has ended, and is not reaped yet.
    Ended { monitor: MonitorId },
}

/// Where news are sent. Whoever plays no more has no ear for it, which is fine.
#[derive(Clone, Debug)]
pub(super) struct EventSender {
    node: NodeName,
    to: mpsc::UnboundedSender<NodeEvent>,
}

impl EventSender {
    pub(super) fn new(node: NodeName, to: mpsc::UnboundedSender<NodeEvent>) -> Self {
        Self { node, to }
    }

    pub(super) fn report(&self, what: RuntimeEvent) {
        let _ = self.to.send(NodeEvent {
            node: self.node.clone(),
            what,
        });
    }
}

impl Observer for EventSender {
    fn gate(&self, hold: HoldId, pid: u32) {
        self.report(RuntimeEvent::Gate { hold, pid });
    }

    fn hung(&self, hold: HoldId, pid: u32, rule: RuleId, _: &str) {
        self.report(RuntimeEvent::Hung { hold, pid, rule });
    }

    fn moment(&self, _: &mut Fs, _: MomentId, _: u32) -> MomentAnswer {
        MomentAnswer::Hold
    }

    fn held(&self, hold: HoldId, pid: u32, moment: MomentId) {
        self.report(RuntimeEvent::Moment { hold, pid, moment });
    }

    fn stuck(&self, _: HoldId, _: u32) {
        self.report(RuntimeEvent::Stuck);
    }

    fn killed(&self, hold: HoldId, _: u32) {
        self.report(RuntimeEvent::Killed { hold });
    }
}
