//! Which switch stands behind which port: what a rule across nodes needs to know of the world.

use std::collections::BTreeMap;

/// A port of a node, by the names that events use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CabledPort {
    /// The node.
    pub node: String,
    /// The device, as entity `NIC` names it.
    pub device: String,
    /// The port, as entity `NICPort` names it.
    pub port: String,
}

/// Ports and the switches behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cabling(BTreeMap<CabledPort, String>);

impl Cabling {
    /// Plugs a port into a switch, instead of the one where it was before.
    pub fn plug(&mut self, port: CabledPort, switch: &str) {
        self.0.insert(port, switch.to_owned());
    }

    /// The switch behind this port, if it is known.
    #[must_use]
    pub fn switch(&self, port: &CabledPort) -> Option<&str> {
        self.0.get(port).map(String::as_str)
    }

    /// How many ports are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is no port known?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
