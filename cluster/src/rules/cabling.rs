//! The cabling of ports and switches, which rules across nodes need.

use std::collections::BTreeMap;

/// A port of a node, with the names used in events.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CabledPort {
    /// The node.
    pub node: String,
    /// The device, as in the entity `NIC`.
    pub device: String,
    /// The port, as in the entity `NICPort`.
    pub port: String,
}

/// The ports and their switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cabling(BTreeMap<CabledPort, String>);

impl Cabling {
    /// Connects a port to a switch, in place of any previous one.
    pub fn plug(&mut self, port: CabledPort, switch: &str) {
        self.0.insert(port, switch.to_owned());
    }

    /// The switch of this port, if it is known.
    #[must_use]
    pub fn switch(&self, port: &CabledPort) -> Option<&str> {
        self.0.get(port).map(String::as_str)
    }

    /// The number of known ports.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no port is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
