//! The messages to a player while a monitor runs, in the order in which the events happened.
//!
//! The mount reports listings, holds and moments, the connector calls, and a monitor process its
//! end. All of them go through one channel to the thread that plays.

use observe::Delivery;
use platforms::NodeName;
use simfs::{Fs, MomentId, RuleId};
use simfs_fuse::{HoldId, MomentAnswer, Observer};
use tokio::sync::{mpsc, oneshot};

use director::{MonitorId, Reaction};

/// An event on a node.
#[derive(Debug)]
pub(super) struct NodeEvent {
    pub(super) node: NodeName,
    pub(super) what: RuntimeEvent,
}

/// The event. A `pid` is that of the thread that made the system call.
#[derive(Debug)]
pub(super) enum RuntimeEvent {
    /// A listing of the anchor folder is held.
    Gate { hold: HoldId, pid: u32 },
    /// A rule holds a request.
    Hung {
        hold: HoldId,
        pid: u32,
        rule: RuleId,
    },
    /// A moment within the poll has come, and its request is held.
    Moment {
        hold: HoldId,
        pid: u32,
        moment: MomentId,
    },
    /// A killed process cannot end, because a rule holds its request.
    Stuck,
    /// A killed process was released.
    Killed { hold: HoldId },
    /// A call was received and waits for a reaction.
    Call {
        reported: Delivery,
        pid: u32,
        answer: oneshot::Sender<Reaction>,
    },
    /// A monitor has ended, and is not reaped yet.
    Ended { monitor: MonitorId },
}

/// The sending end of the channel. Messages after the player's end are dropped.
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
