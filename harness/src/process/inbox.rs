//! Events of the mount, the connector and the monitor processes, for the thread that plays a drill.
//!
//! The FUSE server reports listings, held requests and moments; the connector reports calls; and
//! the end of each monitor process is reported. All events go through one channel, so the playing
//! thread receives them in the order in which they happened.

use observe::Delivery;
use platforms::NodeName;
use simfs::{Fs, MomentId, RuleId};
use simfs_fuse::{HoldId, MomentAnswer, Observer};
use tokio::sync::{mpsc, oneshot};

use director::{MonitorId, Reaction};

#[derive(Debug)]
pub(super) struct NodeEvent {
    pub(super) node: NodeName,
    pub(super) what: RuntimeEvent,
}

/// The kind of event. `pid` is the id of the thread that made the system call.
#[derive(Debug)]
pub(super) enum RuntimeEvent {
    /// A listing of the class folder is held: the next poll is about to begin.
    Gate { hold: HoldId, pid: u32 },
    /// A rule holds a request, which hangs.
    Hung {
        hold: HoldId,
        pid: u32,
        rule: RuleId,
    },
    /// A moment within the poll was reached, and its request is held.
    Moment {
        hold: HoldId,
        pid: u32,
        moment: MomentId,
    },
    /// A killed process cannot exit, because a rule holds its request.
    Stuck,
    /// A killed process was released from its held request.
    Killed { hold: HoldId },
    /// The connector received a call and waits for its reaction.
    Call {
        reported: Delivery,
        pid: u32,
        answer: oneshot::Sender<Reaction>,
    },
    /// The answer of a monitor to a request has come, or cannot come any more.
    Answered,
    /// A monitor process has ended and is not reaped yet.
    Ended { monitor: MonitorId },
}

/// The sending end of the channel. Events after the end of the drill are dropped.
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
