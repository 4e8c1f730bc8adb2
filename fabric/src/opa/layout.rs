//! What a network is made of: hosts, switches, and the cables between their ports.
//!
//! It leaves out everything that changes (`network.rs`). Start at [`Layout`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use platforms::{NodeName, PortNumber};

/// One end of a link: a port of a host or of a switch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndRef {
    /// The host or switch.
    pub node: NodeName,
    /// Its port, from 1.
    pub port: PortNumber,
}

impl EndRef {
    /// The port of this number of the node of this name.
    #[must_use]
    pub fn new(node: &str, port: u8) -> Self {
        Self {
            node: NodeName::from(node),
            port: PortNumber(port),
        }
    }
}

impl fmt::Display for EndRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {}", self.node, self.port)
    }
}

/// What kind of node has a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// A host; its ports behave by the network's profile, and its kernel tells of them.
    Host,
    /// A switch; its ports behave by the document.
    Switch,
}

/// What a port has for a cable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Socket {
    /// A connector for a module.
    #[default]
    Qsfp,
    /// A connector whose kind depends on the chassis.
    Variable,
    /// A link on a board or a backplane; no module is needed.
    Fixed,
    /// None; the port can never be up.
    Disconnected,
}

/// A network at rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Hosts, and how many ports each has.
    pub hosts: BTreeMap<NodeName, u8>,
    /// Switches, and how many ports each has.
    pub switches: BTreeMap<NodeName, u8>,
    /// Which ends are joined; a host's may be joined to another host's.
    pub cables: Vec<(EndRef, EndRef)>,
    /// Ports with other sockets than for a module.
    pub sockets: BTreeMap<EndRef, Socket>,
    /// Ports that want a module and have none.
    pub empty: BTreeSet<EndRef>,
    /// Nodes that are without power at the start.
    pub off: BTreeSet<NodeName>,
}

impl Layout {
    /// One host with one port, `a`, on the first port of a switch of 8, `b`.
    #[must_use]
    pub fn host_and_switch() -> Self {
        Self {
            hosts: BTreeMap::from([(NodeName::from("a"), 1)]),
            switches: BTreeMap::from([(NodeName::from("b"), 8)]),
            cables: vec![(EndRef::new("a", 1), EndRef::new("b", 1))],
            ..Self::default()
        }
    }

    /// Two hosts with one port each, `a` and `b`, cabled to each other.
    #[must_use]
    pub fn two_hosts() -> Self {
        Self {
            hosts: BTreeMap::from([(NodeName::from("a"), 1), (NodeName::from("b"), 1)]),
            cables: vec![(EndRef::new("a", 1), EndRef::new("b", 1))],
            ..Self::default()
        }
    }

    /// Every end, in order.
    pub fn ends(&self) -> impl Iterator<Item = EndRef> {
        let nodes: BTreeMap<&NodeName, u8> = self
            .hosts
            .iter()
            .chain(&self.switches)
            .map(|(node, ports)| (node, *ports))
            .collect();
        nodes.into_iter().flat_map(|(node, ports)| {
            (1..=ports).map(|port| EndRef {
                node: node.clone(),
                port: PortNumber(port),
            })
        })
    }
}
