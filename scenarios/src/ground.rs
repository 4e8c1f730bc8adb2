//! The ground of a story: one node at rest, and the ports that a scenario's handles choose on it.
//!
//! It knows what a platform declares and how its machine stands before anything happens. What a
//! story does to it is not here.

mod choosing;

use std::collections::{BTreeMap, BTreeSet};

use platforms::{
    DeviceName, LinkLayer, Machine, NodeName, PciAddress, Platform, PortFacts, Role, Routes,
    SlotRef,
};

use crate::error::Unfit;
use crate::handle::Handle;
use crate::story::About;
use crate::subject::{Said, Subjects};

/// A node at rest, with the handles found on it.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    /// The node's name.
    pub(crate) node: NodeName,
    /// The platform's name.
    pub(crate) platform: String,
    /// Its machine at rest.
    pub(crate) machine: Machine,
    /// Its ports, in the order of device names and port numbers.
    pub(crate) ports: Vec<GroundPort>,
    handles: BTreeMap<String, Vec<usize>>,
}

/// A port at rest, with what a handle can ask of it.
#[derive(Clone, Debug)]
pub(crate) struct GroundPort {
    /// What the platform declares.
    pub(crate) facts: PortFacts,
    /// Whether it is `ACTIVE` with `LinkUp`.
    pub(crate) healthy: bool,
    physfn: Option<PciAddress>,
    numa: i32,
    /// Its function's place among the RDMA functions of its card, from 1.
    function: usize,
    default_route: bool,
}

/// Whom a line is about, found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    /// A port at rest, by its place in [`Ground::ports`].
    Port(usize),
    /// A device.
    Device(PciAddress),
    /// A card, by one of its functions: the lowest.
    Card(PciAddress),
    /// A name.
    Named(About),
}

impl Ground {
    /// A node of this platform at rest.
    pub(crate) fn new(node: &NodeName, platform: &Platform) -> Self {
        let machine = platform.machine(node);
        let route = default_route(&machine.routes);
        let mut ports: Vec<GroundPort> = Vec::new();
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
            ports.push(GroundPort {
                healthy: port.is_some_and(|port| port.is_up()),
                physfn: function.physfn,
                numa: function.numa,
                function: on_card.count(),
                default_route: route.is_some() && facts.netdev.as_deref() == route,
                facts,
            });
        }
        ports.sort_by_cached_key(|port| (natural(port.facts.device.as_str()), port.facts.port));
        let platform = platform.name();
        Self {
            node: node.clone(),
            platform,
            machine,
            ports,
            handles: BTreeMap::new(),
        }
    }

    /// Finds the ports of these handles, in order; a later one may name an earlier one.
    pub(crate) fn choose(&mut self, handles: &[Handle]) -> Result<(), Unfit> {
        for handle in handles {
            let chosen = self.chosen(handle)?;
            self.handles.insert(handle.name.clone(), chosen);
        }
        Ok(())
    }

    /// The slot of a port.
    pub(crate) fn slot(&self, port: usize) -> SlotRef {
        let facts = &self.ports[port].facts;
        SlotRef {
            node: self.node.clone(),
            pci: facts.pci,
            port: facts.port,
        }
    }

    /// The first port of a handle.
    pub(crate) fn first_of(&self, handle: &str) -> Option<&GroundPort> {
        self.handles
            .get(handle)?
            .first()
            .map(|port| &self.ports[*port])
    }

    /// What is meant, each once, in order; `it` is the port at hand of an `each`.
    pub(crate) fn find(&self, subjects: &Subjects, it: Option<usize>) -> Vec<Subject> {
        let mut found = Vec::new();
        for said in &subjects.items {
            for subject in self.find_one(said, it) {
                if !found.contains(&subject) {
                    found.push(subject);
                }
            }
        }
        found
    }

    /// The ports meant, each once.
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

    /// The functions meant, each once: of ports their own, of cards all.
    pub(crate) fn find_functions(&self, subjects: &Subjects, it: Option<usize>) -> Vec<PciAddress> {
        let mut functions = Vec::new();
        for port in self.find_ports(subjects, it) {
            let pci = self.ports[port].facts.pci;
            if !functions.contains(&pci) {
                functions.push(pci);
            }
        }
        functions
    }

    /// What one subject means.
    pub(crate) fn find_one(&self, said: &Said, it: Option<usize>) -> Vec<Subject> {
        match said {
            Said::Handle(name) => {
                let ports = self
                    .handles
                    .get(name)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                ports.iter().copied().map(Subject::Port).collect()
            }
            Said::It => it.map(Subject::Port).into_iter().collect(),
            Said::DeviceOf(of) => {
                let mut devices = Vec::new();
                for subject in self.find_one(of, it) {
                    for port in self.ports_of(&subject) {
                        let device = Subject::Device(self.ports[port].facts.pci);
                        if !devices.contains(&device) {
                            devices.push(device);
                        }
                    }
                }
                devices
            }
            Said::CardOf(of) => {
                let mut cards = Vec::new();
                for subject in self.find_one(of, it) {
                    for port in self.ports_of(&subject) {
                        let card = Subject::Card(self.lowest_on(&self.ports[port].facts.card));
                        if !cards.contains(&card) {
                            cards.push(card);
                        }
                    }
                }
                cards
            }
            Said::PortsOf(of) => {
                let mut ports = BTreeSet::new();
                for subject in self.find_one(of, it) {
                    match subject {
                        Subject::Port(port) => {
                            let pci = self.ports[port].facts.pci;
                            ports.extend(self.ports_of(&Subject::Device(pci)));
                        }
                        other => ports.extend(self.ports_of(&other)),
                    }
                }
                ports.into_iter().map(Subject::Port).collect()
            }
            Said::NamedPort(name, port) => {
                vec![Subject::Named(About::NamedPort(name.clone(), *port))]
            }
            Said::NamedDevice(name) => vec![Subject::Named(About::NamedDevice(name.clone()))],
        }
    }

    /// The ports that belong to a subject at rest.
    pub(crate) fn ports_of(&self, subject: &Subject) -> Vec<usize> {
        let of = |fits: &dyn Fn(&GroundPort) -> bool| {
            (0..self.ports.len())
                .filter(|port| fits(&self.ports[*port]))
                .collect()
        };
        match subject {
            Subject::Port(port) => vec![*port],
            Subject::Device(pci) => of(&|port| port.facts.pci == *pci),
            Subject::Card(pci) => of(&|port| port.facts.card == pci.card()),
            Subject::Named(About::NamedPort(name, number)) => {
                of(&|port| port.facts.device == *name && port.facts.port == *number)
            }
            Subject::Named(About::NamedDevice(name)) => of(&|port| port.facts.device == *name),
            Subject::Named(_) => Vec::new(),
        }
    }

    /// The link layer of a subject at rest, where it has one.
    pub(crate) fn layer_of(&self, subject: &Subject) -> Option<LinkLayer> {
        self.ports_of(subject)
            .first()
            .map(|port| self.ports[*port].facts.layer)
    }

    /// The subject as an event names it.
    pub(crate) fn about(&self, subject: &Subject) -> About {
        match subject {
            Subject::Port(port) => About::Port(self.slot(*port)),
            Subject::Device(pci) => About::Device(self.node.clone(), *pci),
            Subject::Card(pci) => About::Card(self.node.clone(), *pci),
            Subject::Named(about) => about.clone(),
        }
    }

    /// The subject as an event names it that clears what was said under the name at rest.
    pub(crate) fn about_at_rest(&self, subject: &Subject) -> About {
        match subject {
            Subject::Port(port) => {
                let facts = &self.ports[*port].facts;
                About::NamedPort(facts.device.clone(), facts.port)
            }
            Subject::Device(pci) => match self.name_at_rest(*pci) {
                Some(name) => About::NamedDevice(name),
                None => self.about(subject),
            },
            Subject::Card(_) | Subject::Named(_) => self.about(subject),
        }
    }

    /// The name of a device at rest.
    pub(crate) fn name_at_rest(&self, pci: PciAddress) -> Option<DeviceName> {
        self.ports
            .iter()
            .find(|port| port.facts.pci == pci)
            .map(|port| port.facts.device.clone())
    }

    /// Cards of a role and layer with a monitored port that is healthy at rest.
    pub(crate) fn cards(&self, fits: impl Fn(&GroundPort) -> bool) -> usize {
        let cards: BTreeSet<&str> = self
            .ports
            .iter()
            .filter(|port| fits(port))
            .map(|port| port.facts.card.as_str())
            .collect();
        cards.len()
    }

    fn lowest_on(&self, card: &str) -> PciAddress {
        let functions = self.ports.iter().filter(|port| port.facts.card == card);
        functions
            .map(|port| port.facts.pci)
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

impl GroundPort {
    /// Whether stories choose it unless they say otherwise.
    pub(crate) fn is_usual(&self) -> bool {
        self.healthy && self.facts.is_monitored()
    }

    /// Whether it is usual and has this role.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.is_usual() && self.facts.role == role
    }

    /// What a message's placeholder stands for at rest.
    pub(crate) fn told(&self, field: &str) -> String {
        let facts = &self.facts;
        match field {
            "device" => facts.device.to_string(),
            "port" => facts.port.to_string(),
            "card" => facts.card.clone(),
            "role" => facts.role.to_string(),
            "netdev" => facts.netdev.clone().unwrap_or_default(),
            _ => facts.pci.to_string(),
        }
    }
}

/// A name as people order them: `mlx5_9` before `mlx5_10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (letters, after) = rest.split_at(text);
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        parts.push((letters.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_order_them() {
        let mut names = ["mlx5_10", "mlx5_9", "ibp3s0", "mlx5_1", "ibP16p3s0"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(
            names,
            ["ibP16p3s0", "ibp3s0", "mlx5_1", "mlx5_9", "mlx5_10"]
        );
    }
}
