//! The signals that classify NICs: whether the one that a story turns is the one that decides.
//!
//! Source: "NIC Health Monitor: Link State Detection", 4.2.2: default route, NUMA node, PIX or PXB, link layer, other
//! levels, all SYS. There the NUMA node comes before PIX and PXB in the algorithm, and below "Precedence explained" PIX
//! and PXB are authoritative: a NUMA node decides beyond doubt only where no GPU is that near.

use std::collections::BTreeSet;

use fabric::{Action, DeviceAction, NodeAction};
use platforms::{
    DeviceName, Function, LinkLayer, Machine, MetadataFile, NicRole, Routes, TopoLevel,
};

use super::cast::Cast;
use super::fact::{Fact, Topic};
use crate::resolved_world::{ResolvedPort, ResolvedWorld, default_route};
use crate::story::{FileRef, StepAction};

/// Clauses that are about one signal as a whole; a scenario that covers one is about that signal.
const CLAUSES: [(&str, Topic); 3] = [
    ("lsd/4/signal-default-route", Topic::Route),
    ("lsd/4/signal-numa", Topic::Numa),
    ("lsd/4/signal-topology", Topic::Matrix),
];

/// Types of BlueField cards, which are management where every level is SYS (4.2.3).
const BLUEFIELD: [&str; 3] = ["MT41682", "MT41686", "MT41692"];

/// A fact for each signal that the story is about.
pub(crate) fn facts(cast: &Cast<'_>) -> Vec<Fact> {
    [route(cast), numa(cast), matrix(cast), vf(cast)]
        .into_iter()
        .flatten()
        .collect()
}

fn covers(cast: &Cast<'_>, topic: Topic) -> bool {
    let mut clauses = CLAUSES.iter().filter(|(_, of)| *of == topic);
    clauses.any(|(clause, _)| cast.story.covers.iter().any(|covered| covered == clause))
}

/// What decides a NIC's role at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decider {
    Route,
    Numa,
    Near(TopoLevel),
    InfiniBand,
    Row,
    AllSys { bluefield: bool },
}

struct Nic<'w> {
    port: &'w ResolvedPort,
    machine: &'w Machine,
    function: &'w Function,
}

impl<'w> Nic<'w> {
    fn of(world: &'w ResolvedWorld, port: usize) -> Option<Self> {
        let port = &world.ports[port];
        let machine = &world.nodes[port.node].machine;
        let function = machine.functions.get(&port.facts.pci)?;
        Some(Self {
            port,
            machine,
            function,
        })
    }

    fn name(&self) -> &DeviceName {
        &self.port.facts.device
    }

    fn carries_the_route(&self) -> bool {
        let route = default_route(&self.machine.routes);
        route.is_some() && route == self.port.facts.netdev.as_deref()
    }

    /// Whether its NUMA node has no GPU.
    fn is_far(&self) -> bool {
        let mut gpus = self.machine.gpus.iter().filter(|gpu| gpu.numa >= 0);
        gpus.all(|gpu| gpu.numa != self.function.numa)
    }

    fn near(&self) -> Option<TopoLevel> {
        let is_near = |level: &&TopoLevel| matches!(level, TopoLevel::PIX | TopoLevel::PXB);
        self.function.topo.iter().find(is_near).copied()
    }

    /// What decides if the route does not.
    fn without_route(&self) -> Decider {
        let mut levels = self.function.topo.iter();
        if self.is_far() {
            Decider::Numa
        } else if let Some(level) = self.near() {
            Decider::Near(level)
        } else if self.port.facts.layer == LinkLayer::InfiniBand {
            Decider::InfiniBand
        } else if levels.any(|level| *level != TopoLevel::SYS) {
            Decider::Row
        } else {
            let rdma = self.function.rdma.as_ref();
            let hca_type = rdma.and_then(|rdma| rdma.hca_type.as_deref());
            let bluefield = hca_type.is_some_and(|hca_type| BLUEFIELD.contains(&hca_type));
            Decider::AllSys { bluefield }
        }
    }

    fn decider(&self) -> Decider {
        if self.carries_the_route() {
            Decider::Route
        } else {
            self.without_route()
        }
    }
}

/// The default route: it decides where nothing else excludes the NIC that it leads over.
fn route(cast: &Cast<'_>) -> Option<Fact> {
    let nics = || (0..cast.world.ports.len()).filter_map(|port| Nic::of(cast.world, port));
    let judged = |nic: Nic<'_>| {
        let name = nic.name();
        match nic.without_route() {
            Decider::Numa => Fact::lacks(
                Topic::Route,
                format!("the NUMA node excludes {name} anyway"),
            ),
            Decider::AllSys { bluefield: true } => {
                Fact::lacks(Topic::Route, format!("{name} is a DPU and excluded anyway"))
            }
            _ => Fact::holds(
                Topic::Route,
                format!("only the default route excludes {name}"),
            ),
        }
    };
    let carrier = || nics().find(Nic::carries_the_route);
    let mut asked = None;
    for action in cast.story.actions() {
        match action {
            StepAction::World(Action::Node(_, NodeAction::Routes { routes })) => {
                let Routes::Rows(_) = routes else { continue };
                let Some(interface) = default_route(routes) else {
                    continue;
                };
                let over = nics().find(|nic| nic.port.facts.netdev.as_deref() == Some(interface));
                asked = asked.or(over.map(judged));
            }
            StepAction::Rule(rule) if is_path(&rule.file, "proc/net/route") => {
                let nobody = || Fact::lacks(Topic::Route, "no NIC carries the default route");
                asked = asked.or(Some(carrier().map_or_else(nobody, judged)));
            }
            _ => {}
        }
    }
    let by_clause = || {
        let nobody = || Fact::lacks(Topic::Route, "no NIC carries the default route");
        covers(cast, Topic::Route).then(|| carrier().map_or_else(nobody, judged))
    };
    asked.or_else(by_clause)
}

fn is_path(file: &FileRef, path: &str) -> bool {
    matches!(file, FileRef::Path(of) if of == path)
}

/// The NUMA node: it decides where neither the route excludes the NIC nor a near GPU speaks for it.
fn numa(cast: &Cast<'_>) -> Option<Fact> {
    let mut turned = cast.story.actions().filter_map(|action| match action {
        StepAction::Rule(rule) => match &rule.file {
            FileRef::Device(node, pci, path) if path == "device/numa_node" => {
                cast.of_function(node, *pci).into_iter().next()
            }
            _ => None,
        },
        _ => None,
    });
    if let Some(nic) = turned.find_map(|port| Nic::of(cast.world, port)) {
        let name = nic.name();
        return Some(match (nic.carries_the_route(), nic.near()) {
            (true, _) => Fact::lacks(
                Topic::Numa,
                format!("{name} carries the default route, which decides first"),
            ),
            (false, Some(level)) => Fact::lacks(
                Topic::Numa,
                format!("{level} to a GPU decides what {name} is"),
            ),
            (false, None) => Fact::holds(
                Topic::Numa,
                format!("no GPU is near {name}, so its NUMA node decides"),
            ),
        });
    }
    if !covers(cast, Topic::Numa) {
        return None;
    }
    let management = cast
        .silent
        .iter()
        .filter_map(|port| Nic::of(cast.world, *port));
    let mut management = management.filter(|nic| nic.port.facts.role == NicRole::Management);
    let nic = management.next()?;
    let name = nic.name();
    Some(match nic.decider() {
        Decider::Numa => Fact::holds(
            Topic::Numa,
            format!("no GPU is on the NUMA node of {name}, which excludes it"),
        ),
        _ => Fact::lacks(
            Topic::Numa,
            format!("another signal than the NUMA node excludes {name}"),
        ),
    })
}

/// The row of the matrix: it decides where a near GPU, or the level to any GPU, makes the role.
fn matrix(cast: &Cast<'_>) -> Option<Fact> {
    let mut nics = changed_rows(cast)
        .into_iter()
        .filter_map(|port| Nic::of(cast.world, port));
    if let Some(nic) = nics.next() {
        let name = nic.name();
        return Some(match nic.decider() {
            Decider::Near(_) | Decider::Row => Fact::holds(
                Topic::Matrix,
                format!("the row of the matrix decides what {name} is"),
            ),
            _ => Fact::lacks(
                Topic::Matrix,
                format!("{name} is what it is without its row"),
            ),
        });
    }
    if !covers(cast, Topic::Matrix) {
        return None;
    }
    let usual = (0..cast.world.ports.len()).filter(|port| cast.world.ports[*port].is_usual());
    let mut usual = usual.filter_map(|port| Nic::of(cast.world, port));
    let by_row = |nic: &Nic<'_>| matches!(nic.decider(), Decider::Near(_) | Decider::Row);
    Some(match usual.find(by_row) {
        Some(_) => Fact::holds(Topic::Matrix, "the matrix makes the roles"),
        None => Fact::lacks(Topic::Matrix, "no role there depends on the matrix"),
    })
}

/// The ports of devices whose row a new metadata file lacks or shortens.
fn changed_rows(cast: &Cast<'_>) -> Vec<usize> {
    let mut changed = Vec::new();
    for action in cast.story.actions() {
        let StepAction::World(Action::Node(node, NodeAction::Metadata { file })) = action else {
            continue;
        };
        let MetadataFile::Written(metadata) = file else {
            continue;
        };
        if metadata.nic_topology.is_empty() {
            continue;
        }
        for (port, is) in cast.world.ports.iter().enumerate() {
            let row = metadata.nic_topology.get(&is.facts.device);
            let machine = &cast.world.nodes[is.node].machine;
            let own = machine.functions.get(&is.facts.pci);
            let own = own.map(|function| &function.topo);
            let listed = own.is_some_and(|own| !own.is_empty());
            if cast.world.node_of(port) == node && listed && row != own {
                changed.push(port);
            }
        }
    }
    changed
}

/// The mark of a virtual function: it decides where the physical function is monitored.
fn vf(cast: &Cast<'_>) -> Option<Fact> {
    let made = cast.story.actions().filter_map(|action| match action {
        StepAction::World(Action::Device(function, DeviceAction::CreateVfs { .. })) => {
            let ports = cast.of_function(&function.node, function.pci);
            ports.into_iter().next()
        }
        _ => None,
    });
    let virtuals = cast
        .named()
        .filter(|port| cast.world.ports[*port].facts.is_vf);
    let of: BTreeSet<NicRole> = made
        .chain(virtuals)
        .map(|port| cast.world.ports[port].facts.role)
        .collect();
    if of.is_empty() {
        None
    } else if of.contains(&NicRole::Management) {
        Some(Fact::lacks(
            Topic::Virtual,
            "its physical function is not watched either",
        ))
    } else {
        Some(Fact::holds(
            Topic::Virtual,
            "only its mark tells the virtual function from a watched one",
        ))
    }
}
