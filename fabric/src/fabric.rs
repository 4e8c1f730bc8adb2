//! A world over time: its nodes, their links, and the scheduled steps.
//!
//! Time passes only in [`Fabric::advance`]. `walk.rs` moves links; `act.rs` and the files it lists
//! perform actions.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{DeviceName, Machine, NicRole, NodeName, PciAddress, Platform, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, Carriage, CarriageChange, Edge, FunctionRef, KernelLine, LinkStep, ManagerTerm,
    PortEvent, Timing,
    agenda::{Agenda, Step},
    cabling::{Cabling, part_lids},
    link::Link,
    node::Node,
    opa::Notice,
    subnet::SubnetManager,
};

/// One or more nodes, the links of their ports, and the time.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) timing: Timing,
    pub(crate) now: SimTime,
    pub(crate) agenda: Agenda,
    pub(crate) manager: SubnetManager,
    /// Who managed the subnet when.
    pub(crate) terms: Vec<ManagerTerm>,
    pub(crate) nodes: Vec<Node>,
    /// The place of each node among them: a world may have a thousand, and each tick asks for each of them.
    places: BTreeMap<NodeName, usize>,
    /// The ports at the other ends of its links.
    pub(crate) cabling: Cabling,
    /// What the fabric manager wrote to the system's log.
    pub(crate) notices: Vec<Notice>,
    /// Ports with counters that grow by themselves.
    pub(crate) growing: BTreeSet<SlotRef>,
}

/// The true state of a port of a function that is present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortTruth {
    /// Which port.
    pub slot: SlotRef,
    /// Its device's present name.
    pub device: DeviceName,
    /// Its role in the platform; `None` for a function that the platform does not describe.
    pub role: Option<NicRole>,
    /// Whether it has a cable and is in use, so that it is up unless there is a fault.
    pub should_be_up: bool,
    /// Whether it is `ACTIVE` with `LinkUp`.
    pub healthy: bool,
}

impl Fabric {
    /// A world at rest at time zero: every port that has a cable is up.
    ///
    /// Node names must be distinct; of two nodes with the same name only the first is ever found.
    #[must_use]
    pub fn new(nodes: Vec<(NodeName, Platform)>, timing: Timing) -> Self {
        // Values captured from one machine would otherwise be repeated on several.
        let is_one = nodes.len() == 1;
        let nodes = nodes.into_iter().map(|(name, platform)| {
            let platform = if is_one {
                platform
            } else {
                platform.anonymous()
            };
            Node::at_rest(&name, platform)
        });
        let mut nodes: Vec<Node> = nodes.collect();
        if !is_one {
            part_lids(&mut nodes);
        }
        let mut places = BTreeMap::new();
        for (place, node) in nodes.iter().enumerate() {
            places.entry(node.name().clone()).or_insert(place);
        }
        let mut world = Self {
            timing,
            now: SimTime::ZERO,
            agenda: Agenda::default(),
            manager: SubnetManager::running(),
            terms: vec![ManagerTerm {
                number: 1,
                from: SimTime::ZERO,
                until: None,
                remembers: true,
            }],
            nodes,
            places,
            cabling: Cabling::default(),
            notices: Vec::new(),
            growing: BTreeSet::new(),
        };
        world.plug([], []);
        world
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Advances time to `to`; does nothing if `to` is in the past.
    ///
    /// Everything due up to and including `to` happens, in order of time; at one instant, physical
    /// faults come before links, links before devices, devices before the subnet manager, then steps
    /// follow in the order of scheduling.
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
                node.report(to);
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

    /// The platform of a node.
    #[must_use]
    pub fn platform(&self, node: &NodeName) -> Option<&Platform> {
        self.node(node).ok().map(|node| &node.platform)
    }

    /// Whether a node is up; `None` while it reboots, otherwise when it last booted, zero for the world's
    /// start. `None` for an unknown node too.
    #[must_use]
    pub fn booted_at(&self, node: &NodeName) -> Option<SimTime> {
        let node = self.node(node).ok()?;
        node.reboot.is_none().then_some(node.booted.0)
    }

    /// The name of a function's RDMA device: the present one, or its last one if the device is gone.
    /// `None` if it never had one.
    #[must_use]
    pub fn name_of(&self, function: &FunctionRef) -> Option<&DeviceName> {
        Some(&self.node(&function.node).ok()?.rdma(function.pci)?.name)
    }

    /// The function whose RDMA device has this name; if the device is gone, the function that had it
    /// last.
    #[must_use]
    pub fn function_named(&self, node: &NodeName, name: &DeviceName) -> Option<FunctionRef> {
        let node = self.node(node).ok()?;
        node.bearer(name).map(|pci| node.function_ref(pci))
    }

    /// When a port became unhealthy or healthy since the start; empty for an unknown port.
    #[must_use]
    pub fn edges(&self, slot: &SlotRef) -> &[Edge] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.edges)
    }

    /// What a port carried since the start, and when that changed: at first every port whose link is
    /// active carries data. Empty for an unknown port.
    #[must_use]
    pub fn carriages(&self, slot: &SlotRef) -> &[CarriageChange] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.carriages)
    }

    /// What a port carries now; `None` for an unknown port.
    #[must_use]
    pub fn carriage(&self, slot: &SlotRef) -> Option<Carriage> {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.ok().map(|jack| jack.carriage)
    }

    /// The states of both ends of a port's link since the start, each with the time from which it
    /// applies. Empty for an unknown port.
    #[must_use]
    pub fn walk(&self, slot: &SlotRef) -> &[LinkStep] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.walk)
    }

    /// The events that the kernel delivered to a port's users since the start; empty for an unknown
    /// port.
    #[must_use]
    pub fn port_events(&self, slot: &SlotRef) -> &[PortEvent] {
        let jack = self.node(&slot.node).and_then(|node| node.jack(slot));
        jack.map_or(&[], |jack| &jack.events)
    }

    /// The kernel log of a node's present boot, oldest line first; empty for an unknown node.
    #[must_use]
    pub fn kernel_log(&self, node: &NodeName) -> &[KernelLine] {
        self.node(node).map_or(&[], |node| &node.log)
    }

    /// The true state of every visible port of a node, by function and number.
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

    /// The role of a function in its platform, as [`PortTruth::role`] of its ports: `None` if none of them is visible.
    #[must_use]
    pub fn role_of(&self, node: &NodeName, pci: PciAddress) -> Option<NicRole> {
        let node = self.node(node).ok()?;
        let rdma = node.machine.functions.get(&pci)?.rdma.as_ref()?;
        let mut ports = rdma.ports.keys();
        let is_seen = ports.any(|port| node.seen_port(pci, *port).is_some());
        node.devices.get(&pci)?.role.filter(|_| is_seen)
    }

    /// Whether nothing is scheduled and every port that should be up is up.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.agenda.is_empty() && self.nodes.iter().all(Node::is_well)
    }

    /// The node of this name.
    pub(crate) fn node(&self, name: &NodeName) -> Result<&Node, ActionError> {
        let place = self.places.get(name).ok_or_else(|| {
            let known: Vec<String> = self.nodes().map(|name| format!("`{name}`")).collect();
            ActionError::NoSuchNode(name.clone(), known.join(", "))
        })?;
        Ok(&self.nodes[*place])
    }

    /// The node of this name, which was looked up before.
    pub(crate) fn node_mut(&mut self, name: &NodeName) -> &mut Node {
        let place = self.places.get(name);
        let place = place.expect("a node that an action or a step names was looked up before");
        &mut self.nodes[*place]
    }

    /// The link of a port that was looked up before.
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
            Step::CheckOverruns(slot) => self.check_overruns(&slot),
            Step::Read(slot) => {
                self.link(&slot).read = None;
                self.read(&slot);
            }
        }
    }

    /// Adds what counters grew by themselves until now.
    fn grow(&mut self) {
        let now = self.now;
        let growing = std::mem::take(&mut self.growing);
        for slot in &growing {
            self.node_mut(&slot.node).grow(slot, now);
        }
        self.growing = growing;
    }

    /// Every port of a node, including those of hidden functions, in the order of the bus; empty for an
    /// unknown node.
    #[must_use]
    pub fn slots_of(&self, node: &NodeName) -> Vec<SlotRef> {
        self.node(node).map_or_else(|_| Vec::new(), Node::slots)
    }

    /// Every port of the world, including those of hidden functions.
    pub(crate) fn slots(&self) -> Vec<SlotRef> {
        self.nodes.iter().flat_map(Node::slots).collect()
    }
}
