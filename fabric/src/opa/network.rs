//! Links with both their ends, and the time.
//!
//! Time passes in [`Network::advance`] only. At equal times lines step before the subnet manager
//! sweeps. What is done to a network is `doing.rs`'s, how a line goes down `falling.rs`'s, sweeps
//! are `manager.rs`'s, and what can be asked is `asking.rs`'s. Start at [`Network::new`].

use std::collections::BTreeMap;

use platforms::NodeName;
use simfs::SimTime;

use crate::Timing;

use super::{
    deed::DeedError,
    kernel::{KernelEvent, KernelEventKind},
    layout::{EndRef, Layout, NodeKind},
    line::{Line, Node, Phase, Port, Power},
    manager::Manager,
    record::Profile,
    state::{Logical, Physical},
};

/// Hosts and switches, the links between their ports, and the subnet manager.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) timing: Timing,
    /// How long a port that went down stays Offline before it polls.
    pub(super) quiet: SimTime,
    pub(super) now: SimTime,
    pub(super) nodes: BTreeMap<NodeName, Node>,
    pub(super) ports: BTreeMap<EndRef, Port>,
    pub(super) lines: Vec<Line>,
    pub(super) manager: Manager,
    pub(super) events: Vec<KernelEvent>,
}

impl Network {
    /// A network at rest at time zero: every link that can be up is active, the subnet manager runs.
    /// Hosts behave by `profile`, switches by the document.
    ///
    /// # Errors
    ///
    /// The layout names a node twice, joins ports that are not there, or gives one two cables.
    pub fn new(layout: &Layout, profile: Profile, timing: Timing) -> Result<Self, DeedError> {
        let mut nodes = BTreeMap::new();
        let kinds = [
            (NodeKind::Host, &layout.hosts),
            (NodeKind::Switch, &layout.switches),
        ];
        for (kind, names) in kinds {
            for name in names.keys() {
                let power = if layout.off.contains(name) {
                    Power::Off
                } else {
                    Power::On
                };
                let node = Node {
                    kind,
                    power,
                    log: Vec::new(),
                };
                if nodes.insert(name.clone(), node).is_some() {
                    return Err(DeedError::NodeTwice(name.clone()));
                }
            }
        }
        if let Some(name) = layout.off.iter().find(|name| !nodes.contains_key(name)) {
            return Err(DeedError::NoSuchNode(name.clone()));
        }
        let ports = layout.ends().map(|end| {
            let profile = match nodes[&end.node].kind {
                NodeKind::Host => profile,
                NodeKind::Switch => Profile::Spec,
            };
            let socket = layout.sockets.get(&end).copied().unwrap_or_default();
            let port = Port::new(profile, socket, !layout.empty.contains(&end));
            (end, port)
        });
        let mut network = Self {
            timing,
            quiet: SimTime::ZERO,
            now: SimTime::ZERO,
            ports: ports.collect(),
            nodes,
            lines: Vec::new(),
            manager: Manager::running(&timing),
            events: Vec::new(),
        };
        let joined = layout.cables.iter().flat_map(|(one, other)| [one, other]);
        for end in joined.chain(layout.sockets.keys()).chain(&layout.empty) {
            network.port(end)?;
        }
        for (one, other) in &layout.cables {
            network.join(one, other)?;
        }
        for (end, port) in &network.ports {
            network.manager.know(end, port.is_up());
        }
        Ok(network)
    }

    /// The same network, whose ports stay Offline so long before they poll. By default it is no
    /// time at all; real ones take up to seconds (`chip.c`, `goto_offline`).
    #[must_use]
    pub fn quiet_for(mut self, quiet: SimTime) -> Self {
        self.quiet = quiet;
        self
    }

    fn join(&mut self, one: &EndRef, other: &EndRef) -> Result<(), DeedError> {
        let index = self.lines.len();
        for end in [one, other] {
            let port = self.port_mut(end);
            if port.line.replace(index).is_some() {
                return Err(DeedError::CabledTwice(end.clone()));
            }
        }
        self.lines.push(Line {
            ends: [one.clone(), other.clone()],
            whole: true,
            phase: Phase::Dark,
            next: None,
        });
        if self.has_signal(index) {
            self.lines[index].phase = Phase::Up;
            for end in [one, other] {
                let port = self.port_mut(end);
                port.logical = Logical::Active;
                port.physical = Physical::LinkUp;
                port.configured = true;
                port.init = port.init.after_link_up();
            }
        } else {
            self.show_rest(index);
        }
        for end in [one, other] {
            self.port_mut(end).walk.clear();
        }
        Ok(())
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Lets time pass until `to`; an earlier time than now changes nothing.
    pub fn advance(&mut self, to: SimTime) {
        loop {
            let lines = self.lines.iter().enumerate();
            let line = lines.filter_map(|(index, line)| Some((line.next?, index)));
            let line = line.min();
            let sweep = self.manager.next();
            match (line, sweep) {
                (Some((at, index)), sweep) if at <= to && sweep.is_none_or(|due| at <= due) => {
                    self.now = self.now.max(at);
                    self.step(index);
                }
                (_, Some(at)) if at <= to => {
                    self.now = self.now.max(at);
                    self.sweep();
                }
                _ => break,
            }
        }
        self.now = self.now.max(to);
    }

    /// The port, if there is one.
    pub(super) fn port(&self, end: &EndRef) -> Result<&Port, DeedError> {
        let port = self.ports.get(end);
        port.ok_or_else(|| DeedError::NoSuchEnd(end.clone()))
    }

    /// The same, to change; it was looked up before.
    pub(super) fn port_mut(&mut self, end: &EndRef) -> &mut Port {
        let port = self.ports.get_mut(end);
        port.expect("an end that a deed or a line names was looked up before")
    }

    /// The node, if there is one.
    pub(super) fn node(&self, name: &NodeName) -> Result<&Node, DeedError> {
        let node = self.nodes.get(name);
        node.ok_or_else(|| DeedError::NoSuchNode(name.clone()))
    }

    /// The same, to change; it was looked up before.
    pub(super) fn node_mut(&mut self, name: &NodeName) -> &mut Node {
        let node = self.nodes.get_mut(name);
        node.expect("a node that a deed or an end names was looked up before")
    }

    /// Whether the node of an end is on.
    pub(super) fn is_on(&self, end: &EndRef) -> bool {
        self.node(&end.node)
            .is_ok_and(|node| node.power == Power::On)
    }

    /// Whether both ends signal over a whole cable.
    pub(super) fn has_signal(&self, index: usize) -> bool {
        let line = &self.lines[index];
        let signals = |end| self.is_on(end) && self.port(end).is_ok_and(Port::may_signal);
        line.whole && line.ends.iter().all(signals)
    }

    /// A line's due step.
    fn step(&mut self, index: usize) {
        let now = self.now;
        let line = &mut self.lines[index];
        line.next = None;
        match line.phase {
            Phase::Quiet => {
                line.phase = Phase::Dark;
                self.refresh(index);
            }
            Phase::Dark => {}
            Phase::Polling => {
                line.phase = Phase::Training;
                let rest = self.timing.training.since(self.polling());
                self.lines[index].next = Some(now + rest);
                self.show(index, Logical::Down, Physical::Training);
            }
            Phase::Training => {
                line.phase = Phase::Up;
                for end in self.lines[index].ends.clone() {
                    let port = self.port_mut(&end);
                    port.init = port.init.after_link_up();
                }
                self.show(index, Logical::Init, Physical::LinkUp);
                self.trap();
            }
            Phase::Up => self.activate(index),
        }
    }

    /// The part of training that is spent in Polling: the first third.
    fn polling(&self) -> SimTime {
        SimTime::from_ns(self.timing.training.as_ns() / 3)
    }

    /// Takes both ends of a line to these states.
    pub(super) fn show(&mut self, index: usize, logical: Logical, physical: Physical) {
        let now = self.now;
        for end in self.lines[index].ends.clone() {
            self.port_mut(&end).go(logical, physical, now);
        }
    }

    /// Shows both ends of a line that is down as they are by themselves.
    fn show_rest(&mut self, index: usize) {
        for end in self.lines[index].ends.clone() {
            self.rest(&end);
        }
    }

    /// Shows an end whose link is down as it is by itself.
    pub(super) fn rest(&mut self, end: &EndRef) {
        let (now, on) = (self.now, self.is_on(end));
        let port = self.port_mut(end);
        let physical = if on {
            port.at_rest()
        } else {
            Physical::Offline
        };
        port.go(Logical::Down, physical, now);
    }

    /// Lets a line begin to train if it now has a signal. One that trains or is up and loses it was
    /// taken down before.
    pub(super) fn refresh(&mut self, index: usize) {
        match self.lines[index].phase {
            Phase::Quiet => {
                for end in self.lines[index].ends.clone() {
                    let polls = self
                        .port(&end)
                        .is_ok_and(|port| port.at_rest() == Physical::Polling);
                    if !polls || !self.is_on(&end) {
                        self.rest(&end);
                    }
                }
            }
            Phase::Dark => {
                self.show_rest(index);
                if self.has_signal(index) {
                    let polling = self.polling();
                    let line = &mut self.lines[index];
                    line.phase = Phase::Polling;
                    line.next = Some(self.now + polling);
                }
            }
            Phase::Polling | Phase::Training | Phase::Up => {}
        }
    }

    /// A line's ends become active: both must be armed, for a port carries data only when its
    /// neighbour will. A subnet manager that stops calls this step off.
    fn activate(&mut self, index: usize) {
        let ends = self.lines[index].ends.clone();
        let armed = |end| {
            self.port(end)
                .is_ok_and(|port| port.logical >= Logical::Armed)
        };
        if ends.iter().all(armed) {
            for end in &ends {
                self.make_active(end);
            }
        }
    }

    /// An armed port becomes active, and its kernel tells.
    pub(super) fn make_active(&mut self, end: &EndRef) {
        let now = self.now;
        let port = self.port_mut(end);
        if port.logical == Logical::Armed {
            port.go(Logical::Active, Physical::LinkUp, now);
            self.tell(end, KernelEventKind::PortActive);
        }
    }
}
