//! What changes of a port, of a node and of what lies between two ports.
//!
//! It leaves out why it changes (`doing.rs`) and when (`network.rs`). Start at [`Port`].

use std::collections::BTreeSet;

use simfs::SimTime;

use crate::KernelLine;

use super::{
    init::LinkInitReason,
    layout::{EndRef, NodeKind, Socket},
    offline::OfflineDisabledReason,
    port_error::PortErrorAction,
    reason::LinkDownReason,
    record::{Profile, Record},
    state::{Logical, Physical},
};

/// Both states of a port from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// From when.
    pub at: SimTime,
    /// Its logical state.
    pub logical: Logical,
    /// Its physical state.
    pub physical: Physical,
}

/// A port.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// Its line, if it has a cable.
    pub(super) line: Option<usize>,
    pub(super) record: Record,
    pub(super) logical: Logical,
    pub(super) physical: Physical,
    pub(super) init: LinkInitReason,
    /// Whether the subnet manager has configured it since its link came up.
    pub(super) configured: bool,
    pub(super) action: PortErrorAction,
    /// How often its link went down, by the driver's count.
    pub(super) link_downed: u32,
    pub(super) socket: Socket,
    pub(super) module: bool,
    /// The reasons that keep it down.
    pub(super) holds: BTreeSet<LinkDownReason>,
    pub(super) testing: bool,
    /// Its states so far.
    pub(super) walk: Vec<Step>,
}

impl Port {
    /// A port that looks for a partner.
    pub(super) fn new(profile: Profile, socket: Socket, module: bool) -> Self {
        let mut port = Self {
            line: None,
            record: Record::new(profile),
            logical: Logical::Down,
            physical: Physical::Polling,
            init: LinkInitReason::NONE,
            configured: false,
            action: PortErrorAction::EVERYTHING,
            link_downed: 0,
            socket,
            module,
            holds: BTreeSet::new(),
            testing: false,
            walk: Vec::new(),
        };
        port.find_socket();
        port
    }

    /// Whether its link is up.
    pub(super) fn is_up(&self) -> bool {
        self.logical > Logical::Down
    }

    /// Whether nothing about the port keeps it from signalling; it may be without power.
    pub(super) fn may_signal(&self) -> bool {
        self.holds.is_empty() && !self.testing && !self.lacks_module()
    }

    /// Whether a module can be put into it.
    pub(super) fn takes_module(&self) -> bool {
        matches!(self.socket, Socket::Qsfp | Socket::Variable)
    }

    fn lacks_module(&self) -> bool {
        !self.module && self.takes_module()
    }

    /// Finds at its start what it has for a cable, and what holds it.
    fn find_socket(&mut self) {
        let reason = match self.socket {
            Socket::Qsfp if !self.module => Some(LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED),
            Socket::Variable if !self.module => Some(LinkDownReason::CHASSIS_CONFIG),
            _ => None,
        };
        if self.socket == Socket::Disconnected {
            self.holds.insert(LinkDownReason::DISCONNECTED);
        }
        for reason in self.holds.clone().into_iter().chain(reason) {
            self.goes_offline(reason);
        }
        self.physical = self.at_rest();
    }

    /// The device starts anew: it remembers nothing, and only what its user set by the subnet
    /// management agent no longer holds it.
    pub(super) fn restart(&mut self) {
        self.record.forget();
        self.holds.remove(&LinkDownReason::SMA_DISABLED);
        self.testing = false;
        self.init = LinkInitReason::NONE;
        self.find_socket();
    }

    /// Notes that it is offline or disabled, for this reason among others.
    pub(super) fn goes_offline(&mut self, reason: LinkDownReason) {
        if let Some(offline) = OfflineDisabledReason::of(reason) {
            self.record.goes_offline(offline);
        }
    }

    /// Its link broke before it was up.
    pub(super) fn break_training(&mut self) {
        self.record.broke_in_training();
        let hfi1 = self.record.profile() == Profile::Hfi1;
        if hfi1 && self.socket == Socket::Fixed {
            self.goes_offline(LinkDownReason::NOT_INSTALLED);
        }
    }

    /// A reason no longer holds it. A port by the document says what still does; an hfi1 says
    /// nothing new until it polls.
    pub(super) fn let_go(&mut self, reason: LinkDownReason) {
        let held = self.holds.remove(&reason);
        if held && self.record.profile() == Profile::Spec {
            self.record.polls();
            let module = LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED;
            let module = Some(module).filter(|_| self.lacks_module());
            for reason in self.holds.clone().into_iter().chain(module) {
                self.goes_offline(reason);
            }
        }
    }

    /// The physical state of a port whose link is down and that is past its silence.
    pub(super) fn at_rest(&self) -> Physical {
        let disabled = [LinkDownReason::SMA_DISABLED, LinkDownReason::SWITCH_MGMT];
        if self.testing {
            Physical::Test
        } else if disabled.iter().any(|reason| self.holds.contains(reason)) {
            Physical::Disabled
        } else if self.may_signal() {
            Physical::Polling
        } else {
            Physical::Offline
        }
    }

    /// Takes both states.
    pub(super) fn go(&mut self, logical: Logical, physical: Physical, at: SimTime) {
        if (self.logical, self.physical) == (logical, physical) {
            return;
        }
        (self.logical, self.physical) = (logical, physical);
        if logical == Logical::Down {
            self.configured = false;
        }
        if physical == Physical::Polling {
            self.record.polls();
        }
        self.walk.push(Step {
            at,
            logical,
            physical,
        });
    }
}

/// How far a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Gone down a moment ago; no end signals yet.
    Quiet,
    /// Not both ends signal.
    Dark,
    /// They do, and look for each other.
    Polling,
    /// They agree on width and speed.
    Training,
    /// Physically up.
    Up,
}

/// What lies between two ports.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) ends: [EndRef; 2],
    /// Whether the cable is whole and plugged.
    pub(super) whole: bool,
    pub(super) phase: Phase,
    /// When its next step is due.
    pub(super) next: Option<SimTime>,
}

/// Whether a node can be asked anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    /// It can.
    On,
    /// Its driver is gone; what the device remembers stands until it is loaded.
    Unloaded,
    /// It is without power.
    Off,
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) power: Power,
    pub(super) log: Vec<KernelLine>,
}
