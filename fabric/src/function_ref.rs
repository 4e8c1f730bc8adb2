//! A reference to a PCI function of a world.

use platforms::{NodeName, PciAddress};

/// A PCI function of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionRef {
    /// The node.
    pub node: NodeName,
    /// The address of the function on that node.
    pub pci: PciAddress,
}
