//! The world in motion: nodes, their links, and what is going to happen to them.
//!
//! Time passes in [`Fabric::advance`] only. Everything that changes a link ends in `settle`, which
//! takes the link to where it now must be, puts its next stage on the agenda, and shows its face.
//! What an action does is `act.rs`'s and its modules'.

use std::collections::BTreeSet;

use platforms::{DeviceName, LinkEvent, Machine, NodeName, PciAddress, Platform, Role, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, Carriage, CarriageChange, Edge, FunctionRef, KernelLine, LinkStep, PortEvent,
    PortEventKind, Timing,
    agenda::{Agenda, Rank, Step},
    link::{Hold, Link, Stage},
    node::Node,
    opa::Notice,
    subnet::SubnetManager,
    timing::Pace,
};

/// One or more nodes, the links of their ports, and the time.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) timing: Timing,
    pub(crate) now: SimTime,
    pub(crate) agenda: Agenda,
    pub(crate) manager: SubnetManager,
    pub(crate) nodes: Vec<Node>,
    /// What the fabric manager wrote to the system's log.
    pub(crate) notices: Vec<Notice>,
    /// Ports with counters that grow by themselves.
    pub(crate) growing: BTreeSet<SlotRef>,
}

/// The truth about a port of a function that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortTruth {
    /// Which port.
    pub slot: SlotRef,
    /// Its device's name now.
    pub device: DeviceName,
    /// Its role as the platform declares it; `None` for a function that the platform does not know.
    pub role: Option<Role>,
    /// Whether it has a cable and is in use, so that it should be up when nothing is wrong.
    pub should_be_up: bool,
    /// Whether it is `ACTIVE` with `LinkUp`.
    pub healthy: bool,
}

impl Fabric {
    /// A world at rest at time zero: every port that has a cable is up.
    ///
    /// The names of the nodes are distinct; of two with the same name only the first is ever found.
    #[must_use]
    pub fn new(nodes: Vec<(NodeName, Platform)>, timing: Timing) -> Self {
        // What a capture kept of one machine would stand in each of several.
        let is_one = nodes.len() == 1;
        let nodes = nodes.into_iter().map(|(name, platform)| {
            let platform = if is_one {
                platform
            } else {
                platform.anonymous()
            };
            Node::at_rest(&name, platform)
        });
        Self {
            timing,
            now: SimTime::ZERO,
            agenda: Agenda::default(),
            manager: SubnetManager::running(),
            nodes: nodes.collect(),
            notices: Vec::new(),
            growing: BTreeSet::new(),
        }
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Lets time pass until `to`; an earlier time than now changes nothing.
    ///
    /// Everything due up to and including `to` happens, in order of time, then physical faults
    /// before links before devices before the subnet manager, then in the order of scheduling.
    pub fn advance(&mut self, to: SimTime) {
        let before = self.now;
        while let Some((key, step)) = self.agenda.due(to) {
            self.now = self.now.max(key.at());
            self.grow();
            self.perform(step);
        }
        if self.now < to {
            self.now = to;
            self.grow();
        }
        if before < self.now {
            for node in &mut self.nodes {
                node.tell(to);
            }
        }
    }

    /// The names of the nodes, in the order in which they were given.
    pub fn nodes(&self) -> impl Iterator<Item = &NodeName> {
        self.nodes.iter().map(Node::name)
    }

    /// The machine of a node as its kernel shows it now.
    #[must_use]
    pub fn machine(&self, node: &NodeName) -> Option<&Machine> {
        self.node(node).ok().map(|node| &node.machine)
    }

    /// What a node is made of.
    #[must_use]
    pub fn platform(&self, node: &NodeName) -> Option<&Platform> {
        self.node(node).ok().map(|node| &node.platform)
    }

    /// The name of a function's RDMA device: the present one, or the last one borne if it is gone.
    /// `None` if it never had one.
    #[must_use]
    pub fn name_of(&self, function: &FunctionRef) -> Option<&DeviceName> {
        Some(&self.node(&function.node).ok()?.rdma(function.pci)?.name)
    }

    /// The function whose RDMA device bears this name; if it is gone, the one that bore it last.
    #[must_use]
    pub fn function_named(&self, node: &NodeName, name: &DeviceName) -> Option<FunctionRef> {
        let node = self.node(node).ok()?;
        node.bearer(name).map(|pci| node.function_ref(pci))
    }

    /// When a port left or returned to health since the start; empty for a port that does not exist.
    #[must_use]
    pub fn edges(&self, slot: &SlotRef) -> &[Edge] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.edges)
    }

    /// What a port began to carry since the start, and when: at first every port whose link is active
    /// carries data. Empty for a port that does not exist.
    #[must_use]
    pub fn carriages(&self, slot: &SlotRef) -> &[CarriageChange] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.carriages)
    }

    /// What a port carries now; `None` for one that does not exist.
    #[must_use]
    pub fn carriage(&self, slot: &SlotRef) -> Option<Carriage> {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.ok().map(|jack| jack.carriage)
    }

    /// How far up a port's link was since the start, as both its ends show it, each from when it was so.
    /// Empty for a port that does not exist.
    #[must_use]
    pub fn walk(&self, slot: &SlotRef) -> &[LinkStep] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.walk)
    }

    /// What the kernel told the users of a port since the start; empty for a port that does not exist.
    #[must_use]
    pub fn port_events(&self, slot: &SlotRef) -> &[PortEvent] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.events)
    }

    /// The kernel's log of a node's present boot, oldest line first; empty for an unknown node.
    #[must_use]
    pub fn kernel_log(&self, node: &NodeName) -> &[KernelLine] {
        self.node(node).map_or(&[], |node| &node.log)
    }

    /// The truth about every port that can be seen on a node, by function and number.
    #[must_use]
    pub fn ports(&self, node: &NodeName) -> Vec<PortTruth> {
        let Ok(node) = self.node(node) else {
            return Vec::new();
        };
        let seen = node
            .machine
            .functions
            .iter()
            .filter_map(|(pci, function)| Some((pci, function.rdma.as_ref()?)));
        let ports = seen
            .flat_map(|(pci, rdma)| rdma.ports.keys().map(move |port| (*pci, *port, &rdma.name)));
        ports
            .filter_map(|(pci, port, name)| {
                let up = node.seen_port(pci, port)?;
                Some(PortTruth {
                    slot: node.slot_ref(pci, port),
                    device: name.clone(),
                    role: node.devices.get(&pci).and_then(|device| device.role),
                    should_be_up: node.should_be_up(pci, port),
                    healthy: up.query_error.is_none() && up.is_up(),
                })
            })
            .collect()
    }

    /// Whether nothing is on its way and every port that should be up is.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.agenda.is_empty() && self.nodes.iter().all(Node::is_well)
    }

    /// The node of this name.
    pub(crate) fn node(&self, name: &NodeName) -> Result<&Node, ActionError> {
        self.nodes
            .iter()
            .find(|node| node.name() == name)
            .ok_or_else(|| {
                let known: Vec<String> = self
                    .nodes
                    .iter()
                    .map(|node| format!("`{}`", node.name()))
                    .collect();
                ActionError::NoSuchNode(name.clone(), known.join(", "))
            })
    }

    /// The node of this name, to change; the name was looked up before.
    pub(crate) fn node_mut(&mut self, name: &NodeName) -> &mut Node {
        let node = self.nodes.iter_mut().find(|node| node.name() == name);
        node.expect("a node that an action or a step names was looked up before")
    }

    /// The link of a port that was looked up before, to change.
    pub(crate) fn link(&mut self, slot: &SlotRef) -> &mut Link {
        &mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link
    }

    fn perform(&mut self, step: Step) {
        match step {
            Step::GoDark(slot) => self.go_dark(&slot),
            Step::Signal(slot) => self.signal(&slot),
            Step::Reach(slot, stage) => {
                self.node_mut(&slot.node)
                    .jack_mut(slot.pci, slot.port)
                    .link
                    .next = None;
                self.enter(&slot, stage);
                self.settle(&slot);
            }
            Step::BackOnBus(node, pci) => {
                self.node_mut(&node).device_mut(pci).resetting = None;
                self.place(&node, pci);
            }
            Step::Attached(node, pci) => self.attach(&FunctionRef { node, pci }),
            Step::Boot(node) => self.boot(&node),
            Step::Booted(node) => self.booted(&node),
            Step::NeighbourBack(slot) => self.neighbour_back(&slot),
            Step::Read(slot) => {
                self.link(&slot).read = None;
                self.read(&slot);
            }
        }
    }

    /// Puts a function and its virtual ones where they must be, and settles their ports.
    pub(crate) fn place(&mut self, name: &NodeName, pci: PciAddress) {
        for pci in self.node_mut(name).family(pci) {
            let node = self.node_mut(name);
            node.place(pci);
            for port in node.port_numbers(pci) {
                self.settle(&SlotRef {
                    node: name.clone(),
                    pci,
                    port,
                });
            }
        }
    }

    /// Takes a link to where it now must be, puts its next stage on the agenda, shows its face, and
    /// does the same for the virtual functions that live on it.
    pub(crate) fn settle(&mut self, slot: &SlotRef) {
        let node = self.node_mut(&slot.node);
        let powered = node.is_powered(slot.pci, slot.port);
        let uplink = node.has_uplink(slot.pci, slot.port);
        let link = &mut node.jack_mut(slot.pci, slot.port).link;
        let was_powered = !link.here.has(Hold::Unpowered);
        link.here.set(Hold::Unpowered, !powered);
        link.there.set(Hold::Uplink, !uplink);
        let stage = link.held_back();
        self.enter(slot, stage);
        self.arrange(slot);
        self.follow(slot, was_powered, powered);
        let now = self.now;
        let node = self.node_mut(&slot.node);
        node.jack_mut(slot.pci, slot.port).note(now);
        node.show(slot, now);
        for child in node.family(slot.pci).into_iter().skip(1) {
            if self
                .node(&slot.node)
                .is_ok_and(|node| node.uplink_changed(child, slot.port))
            {
                self.settle(&SlotRef {
                    pci: child,
                    ..slot.clone()
                });
            }
        }
    }

    /// Puts the link's next stage on the agenda; one that is there already stays.
    fn arrange(&mut self, slot: &SlotRef) {
        let (now, timing, manager) = (self.now, self.timing, self.manager);
        let link = &mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link;
        let following = link.following(now, &timing, manager);
        if link.next.map(|(_, stage)| stage) == following.map(|(_, stage)| stage) {
            return;
        }
        let managed = link.is_managed();
        if let Some((key, _)) = link.next.take() {
            self.agenda.cancel(key);
        }
        if let Some((at, stage)) = following {
            let rank = if managed && stage > Stage::Init {
                Rank::SubnetManager
            } else {
                Rank::Link
            };
            let key = self
                .agenda
                .schedule(at, rank, Step::Reach(slot.clone(), stage));
            self.node_mut(&slot.node)
                .jack_mut(slot.pci, slot.port)
                .link
                .next = Some((key, stage));
        }
    }

    /// Takes a link to a stage and counts what that means.
    pub(crate) fn enter(&mut self, slot: &SlotRef, stage: Stage) {
        let (now, quiet) = (self.now, self.timing.quiet);
        let node = self.node_mut(&slot.node);
        let tells = node.has_rdma(slot.pci);
        let jack = node.jack_mut(slot.pci, slot.port);
        let link = &mut jack.link;
        let before = link.stage;
        let stage = if stage == Stage::Down && before > stage && quiet > SimTime::ZERO {
            Stage::Quiet
        } else {
            stage
        };
        if before == stage {
            return;
        }
        link.stage = stage;
        if stage == Stage::Active {
            link.pace = None;
        }
        let lost = before.is_up() && !stage.is_up();
        let came_up = !before.is_up() && stage.is_up();
        let kind = if lost {
            Some(PortEventKind::PortErr)
        } else {
            (stage == Stage::Active && before < stage).then_some(PortEventKind::PortActive)
        };
        jack.events.extend(
            kind.filter(|_| tells)
                .map(|kind| PortEvent { at: now, kind }),
        );
        self.remember(slot, before);
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        jack.note(now);
        let link = &mut jack.link;
        let event = if stage == Stage::Recovering {
            Some(LinkEvent::Recovery)
        } else if stage == Stage::Active && before < stage {
            Some(LinkEvent::Up)
        } else {
            (link.is_linked(before) && !link.is_linked(stage)).then_some(LinkEvent::Down)
        };
        if let Some((key, _)) = link.next.take() {
            self.agenda.cancel(key);
        }
        if let Some(event) = event {
            self.node_mut(&slot.node)
                .happen(slot.pci, slot.port, event, now);
        }
        if lost || came_up {
            self.trap(slot);
        }
    }

    /// Lets a link lose its signal for no time: it walks all the way again.
    pub(crate) fn fall_dark(&mut self, slot: &SlotRef) {
        self.enter(slot, Stage::Down);
    }

    /// Takes a configured link back to where it waits for the subnet manager.
    pub(crate) fn uninitialise(&mut self, slot: &SlotRef) {
        let link = &self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link;
        if link.is_managed() && link.stage > Stage::Init {
            self.enter(slot, Stage::Init);
        }
    }

    /// Begins the next turn of a flap: the far end goes dark, for as long as leaves time to train.
    fn go_dark(&mut self, slot: &SlotRef) {
        let (now, timing) = (self.now, self.timing);
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        let Some(mut flap) = jack.flap else { return };
        let natural = jack.link.natural_pace(&timing);
        let (dark, pace) = natural.within(flap.down);
        jack.link.there.set(Hold::Flap, true);
        jack.link.pace = Some(pace);
        flap.left -= 1;
        flap.next = self
            .agenda
            .schedule(now + dark, Rank::Fault, Step::Signal(slot.clone()));
        self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).flap = Some(flap);
        self.settle(slot);
    }

    /// Ends the dark part of a turn, and arranges the next turn if there is one.
    fn signal(&mut self, slot: &SlotRef) {
        let now = self.now;
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        let Some(mut flap) = jack.flap.take() else {
            return;
        };
        jack.link.there.set(Hold::Flap, false);
        let walk = jack.link.pace.map_or(SimTime::ZERO, Pace::total);
        if flap.left > 0 {
            flap.next = self.agenda.schedule(
                now + walk + flap.up,
                Rank::Fault,
                Step::GoDark(slot.clone()),
            );
            self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).flap = Some(flap);
        }
        self.settle(slot);
    }

    /// Counts what grew by itself until now.
    fn grow(&mut self) {
        let now = self.now;
        for slot in self.growing.clone() {
            self.node_mut(&slot.node).grow(&slot, now);
        }
    }

    /// Every port of a node, also of functions that cannot be seen, in the order of the bus; empty for
    /// an unknown node.
    #[must_use]
    pub fn slots_of(&self, node: &NodeName) -> Vec<SlotRef> {
        self.node(node).map_or_else(|_| Vec::new(), Node::slots)
    }

    /// Every port of the world, also of functions that cannot be seen.
    pub(crate) fn slots(&self) -> Vec<SlotRef> {
        self.nodes.iter().flat_map(Node::slots).collect()
    }
}
