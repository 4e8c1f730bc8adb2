//! How a PCI function of a world is named.

use platforms::{NodeName, PciAddress};

/// A PCI function of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionRef {
    /// The node.
    pub node: NodeName,
    /// The function's address on that node.
    pub pci: PciAddress,
}
