//! A world at rest: its nodes, and the ports that a scenario's handles choose.
//!
//! It knows what platforms declare, the state of their machines before the story starts, and the
//! cabling. It does not change while a story plays.

mod cabling;
mod choosing;
mod later;
mod unwatched;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use fabric::FunctionRef;
use platforms::{
    Card, DeviceName, LinkLayer, Machine, NicRole, NodeName, PciAddress, Platform, PortFacts,
    Routes, Shared, SlotRef, natural,
};

use mpib::Rail;

use crate::error::Unfit;
use crate::handle::Handle;
use crate::story::About;
use crate::subject::{Named, Subjects};

/// A world at rest, with the handles resolved in it. Scenarios that are resolved in one world share its parts.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedWorld {
    /// The world's name; the platform's for a world of one node.
    pub(crate) world: String,
    /// Whether it was built from one platform.
    pub(crate) is_platform: bool,
    /// Its nodes, in the world's order.
    pub(crate) nodes: Shared<Vec<ResolvedNode>>,
    /// Their ports, in the order of nodes, device names and port numbers.
    pub(crate) ports: Shared<Vec<ResolvedPort>>,
    /// The names of the switches.
    pub(crate) switches: Shared<BTreeSet<String>>,
    handles: BTreeMap<String, Vec<usize>>,
}

/// A node at rest.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedNode {
    /// Its name.
    pub(crate) name: NodeName,
    /// What it is made of.
    pub(crate) platform: Platform,
    /// Its machine.
    pub(crate) machine: Machine,
    /// Whether a monitor runs on it.
    pub(crate) monitored: bool,
}

/// A port at rest, with the properties that a handle can select by.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedPort {
    /// Its node's index in [`ResolvedWorld::nodes`].
    pub(crate) node: usize,
    /// The switch that it is cabled to, if the world states it.
    pub(crate) switch: Option<String>,
    /// Its rail and the rail's address, if the world states one.
    pub(crate) rail: Option<(Rail, Ipv4Addr)>,
    /// What the platform declares about it.
    pub(crate) facts: PortFacts,
    /// Whether it shows `ACTIVE` and `LinkUp`.
    pub(crate) healthy: bool,
    physfn: Option<PciAddress>,
    numa: i32,
    /// Position of its function among the RDMA functions of its card, from 1.
    function: usize,
    default_route: bool,
    /// Whether it is not there at rest, but may be made in the story.
    later: bool,
}

/// A resolved subject of a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// A port at rest, by its index in [`ResolvedWorld::ports`].
    Port(usize),
    /// A device.
    Device(FunctionRef),
    /// A card, by its lowest function.
    Card(FunctionRef),
    /// A device or port named by text.
    Named(About),
}

impl ResolvedWorld {
    /// A world of one node of this platform at rest.
    pub(crate) fn new(node: &NodeName, platform: &Platform) -> Self {
        let mut resolved = Self {
            world: platform.name(),
            is_platform: true,
            nodes: Shared::default(),
            ports: Shared::default(),
            switches: Shared::default(),
            handles: BTreeMap::new(),
        };
        resolved.add(node, platform, true);
        resolved
    }

    /// Adds a node.
    fn add(&mut self, name: &NodeName, platform: &Platform, monitored: bool) {
        let machine = platform.machine(name);
        let route = default_route(&machine.routes);
        let mut ports: Vec<ResolvedPort> = Vec::new();
        for facts in platform.ports() {
            let Some(function) = machine.functions.get(&facts.pci) else {
                continue;
            };
            let port = function
                .rdma
                .as_ref()
                .and_then(|rdma| rdma.ports.get(&facts.port));
            let on_card = machine.functions.values().filter(|other| {
                other.rdma.is_some() && other.card() == facts.card && other.pci <= facts.pci
            });
            ports.push(ResolvedPort {
                node: self.nodes.len(),
                switch: None,
                rail: None,
                healthy: port.is_some_and(|port| port.is_up()),
                physfn: function.physfn,
                numa: function.numa,
                function: on_card.count(),
                default_route: route.is_some() && facts.netdev.as_deref() == route,
                later: false,
                facts,
            });
        }
        ports.sort_by_cached_key(|port| (natural(port.facts.device.as_str()), port.facts.port));
        self.ports.extend(ports);
        self.nodes.push(ResolvedNode {
            name: name.clone(),
            platform: platform.clone(),
            machine,
            monitored,
        });
    }

    /// The node of this name.
    pub(crate) fn node(&self, name: &str) -> Option<&ResolvedNode> {
        self.nodes.iter().find(|node| node.name.as_str() == name)
    }

    /// The only node of a world of one node.
    pub(crate) fn sole(&self) -> Option<&ResolvedNode> {
        match &self.nodes[..] {
            [node] => Some(node),
            _ => None,
        }
    }

    /// The function of a port.
    pub(crate) fn function(&self, port: usize) -> FunctionRef {
        FunctionRef {
            node: self.node_of(port).clone(),
            pci: self.ports[port].facts.pci,
        }
    }

    /// The node of a port.
    pub(crate) fn node_of(&self, port: usize) -> &NodeName {
        &self.nodes[self.ports[port].node].name
    }

    /// Whether two ports are on one card.
    pub(crate) fn share_a_card(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.ports[one], &self.ports[other]);
        one.node == other.node && one.facts.card == other.facts.card
    }

    /// Resolves these handles in order; a later one may refer to an earlier one.
    pub(crate) fn choose(&mut self, handles: &[Handle]) -> Result<(), Unfit> {
        for handle in handles {
            if let Some(of) = &handle.filter.vf_of
                && handle.filter.appears_later
            {
                self.add_later_vfs(of);
            }
            let chosen = self.chosen(handle)?;
            self.handles.insert(handle.name.clone(), chosen);
        }
        Ok(())
    }

    /// The slot of a port.
    pub(crate) fn slot(&self, port: usize) -> SlotRef {
        let facts = &self.ports[port].facts;
        SlotRef {
            node: self.node_of(port).clone(),
            pci: facts.pci,
            port: facts.port,
        }
    }

    /// The first port of a handle.
    pub(crate) fn first_of(&self, handle: &str) -> Option<&ResolvedPort> {
        self.handles
            .get(handle)?
            .first()
            .map(|port| &self.ports[*port])
    }

    /// Resolves subjects in order, without duplicates; `it` is the current port of an `each`.
    pub(crate) fn find(&self, subjects: &Subjects, it: Option<usize>) -> Vec<Subject> {
        let mut found = Vec::new();
        for spec in &subjects.items {
            for subject in self.find_one(spec, it) {
                if !found.contains(&subject) {
                    found.push(subject);
                }
            }
        }
        found
    }

    /// The ports of these subjects, without duplicates.
    pub(crate) fn find_ports(&self, subjects: &Subjects, it: Option<usize>) -> Vec<usize> {
        let mut ports = Vec::new();
        for subject in self.find(subjects, it) {
            for port in self.ports_of(&subject) {
                if !ports.contains(&port) {
                    ports.push(port);
                }
            }
        }
        ports
    }

    /// The functions of these subjects, without duplicates: a port's own function, all functions of a
    /// card.
    pub(crate) fn find_functions(
        &self,
        subjects: &Subjects,
        it: Option<usize>,
    ) -> Vec<FunctionRef> {
        let mut functions = Vec::new();
        for port in self.find_ports(subjects, it) {
            let function = self.function(port);
            if !functions.contains(&function) {
                functions.push(function);
            }
        }
        functions
    }

    /// Resolves one subject.
    pub(crate) fn find_one(&self, spec: &Named, it: Option<usize>) -> Vec<Subject> {
        match spec {
            Named::Handle(name) => {
                let ports = self
                    .handles
                    .get(name)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                ports.iter().copied().map(Subject::Port).collect()
            }
            Named::It => it.map(Subject::Port).into_iter().collect(),
            Named::DeviceOf(of) => {
                let mut devices = Vec::new();
                for subject in self.find_one(of, it) {
                    for port in self.ports_of(&subject) {
                        let device = Subject::Device(self.function(port));
                        if !devices.contains(&device) {
                            devices.push(device);
                        }
                    }
                }
                devices
            }
            Named::CardOf(of) => {
                let mut cards = Vec::new();
                for subject in self.find_one(of, it) {
                    for port in self.ports_of(&subject) {
                        let card = Subject::Card(self.lowest_on_card(port));
                        if !cards.contains(&card) {
                            cards.push(card);
                        }
                    }
                }
                cards
            }
            Named::PortsOf(of) => {
                let mut ports = BTreeSet::new();
                for subject in self.find_one(of, it) {
                    match subject {
                        Subject::Port(port) => {
                            let device = Subject::Device(self.function(port));
                            ports.extend(self.ports_of(&device));
                        }
                        other => ports.extend(self.ports_of(&other)),
                    }
                }
                ports.into_iter().map(Subject::Port).collect()
            }
            Named::Port(name, port) => {
                vec![Subject::Named(About::NamedPort(name.clone(), *port))]
            }
            Named::Device(name) => vec![Subject::Named(About::NamedDevice(name.clone()))],
        }
    }

    /// The ports that belong to a subject at rest.
    pub(crate) fn ports_of(&self, subject: &Subject) -> Vec<usize> {
        let of = |fits: &dyn Fn(&ResolvedPort) -> bool| {
            (0..self.ports.len())
                .filter(|port| fits(&self.ports[*port]))
                .collect()
        };
        let on = |port: &ResolvedPort, node: &NodeName| self.nodes[port.node].name == *node;
        match subject {
            Subject::Port(port) => vec![*port],
            Subject::Device(device) => {
                of(&|port| port.facts.pci == device.pci && on(port, &device.node))
            }
            Subject::Card(card) => of(&|port| {
                !port.later && port.facts.card == card.pci.card() && on(port, &card.node)
            }),
            Subject::Named(About::NamedPort(name, number)) => {
                of(&|port| !port.later && port.facts.device == *name && port.facts.port == *number)
            }
            Subject::Named(About::NamedDevice(name)) => {
                of(&|port| !port.later && port.facts.device == *name)
            }
            Subject::Named(_) => Vec::new(),
        }
    }

    /// The link layer of a subject's first port at rest; `None` for a name.
    pub(crate) fn layer_of(&self, subject: &Subject) -> Option<LinkLayer> {
        self.ports_of(subject)
            .first()
            .map(|port| self.ports[*port].facts.layer)
    }

    /// The subject in the form in which an expected event holds it.
    pub(crate) fn about(&self, subject: &Subject) -> About {
        match subject {
            Subject::Port(port) => About::Port(self.slot(*port)),
            Subject::Device(device) => About::Device(device.node.clone(), device.pci),
            Subject::Card(card) => About::Card(card.node.clone(), card.pci),
            Subject::Named(about) => about.clone(),
        }
    }

    /// The node of a subject; `None` for a name, which may exist on any node.
    pub(crate) fn node_of_subject(&self, subject: &Subject) -> Option<NodeName> {
        match subject {
            Subject::Port(port) => Some(self.node_of(*port).clone()),
            Subject::Device(of) | Subject::Card(of) => Some(of.node.clone()),
            Subject::Named(_) => None,
        }
    }

    /// The subject of an event that clears what was reported under the name at rest.
    pub(crate) fn about_at_rest(&self, subject: &Subject) -> About {
        match subject {
            Subject::Port(port) => {
                let facts = &self.ports[*port].facts;
                About::NamedPort(facts.device.clone(), facts.port)
            }
            Subject::Device(device) => match self.name_at_rest(device) {
                Some(name) => About::NamedDevice(name),
                None => self.about(subject),
            },
            Subject::Card(_) | Subject::Named(_) => self.about(subject),
        }
    }

    /// The name of a device at rest.
    pub(crate) fn name_at_rest(&self, device: &FunctionRef) -> Option<DeviceName> {
        let ports = self.ports_of(&Subject::Device(device.clone()));
        ports
            .first()
            .map(|port| self.ports[*port].facts.device.clone())
    }

    /// The number of cards with a port that `fits`.
    pub(crate) fn cards(&self, fits: impl Fn(&ResolvedPort) -> bool) -> usize {
        let cards: BTreeSet<(usize, Card)> = self
            .ports
            .iter()
            .filter(|port| fits(port))
            .map(|port| (port.node, port.facts.card))
            .collect();
        cards.len()
    }

    fn lowest_on_card(&self, port: usize) -> FunctionRef {
        let mates = (0..self.ports.len()).filter(|mate| self.share_a_card(*mate, port));
        mates
            .map(|mate| self.function(mate))
            .min()
            .expect("a port's card has that port's function")
    }
}

/// The interface of the default route.
pub(crate) fn default_route(routes: &Routes) -> Option<&str> {
    match routes {
        Routes::Rows(rows) => rows
            .iter()
            .find(|row| row.prefix == 0)
            .map(|row| row.interface.as_str()),
        Routes::Text(_) | Routes::Missing => None,
    }
}

impl ResolvedPort {
    /// Whether handles choose it by default.
    pub(crate) fn is_usual(&self) -> bool {
        self.healthy && self.facts.is_monitored()
    }

    /// Whether handles choose it by default, and it has this role.
    pub(crate) fn has(&self, role: NicRole) -> bool {
        self.is_usual() && self.facts.role == role
    }

    /// The value of a message's placeholder, at rest.
    pub(crate) fn field_text(&self, field: &str) -> String {
        let facts = &self.facts;
        match field {
            "device" => facts.device.to_string(),
            "port" => facts.port.to_string(),
            "card" => facts.card.to_string(),
            "role" => facts.role.to_string(),
            "netdev" => facts.netdev.clone().unwrap_or_default(),
            _ => facts.pci.to_string(),
        }
    }
}
