//! Names of RDMA devices: which device has a name, and changes of several names at once.
//!
//! A device that is gone keeps its last name. If another device has that name when it returns, it
//! gets the lowest free one, as the kernel would number it.

use std::collections::BTreeMap;

use platforms::{DeviceName, PciAddress};

use crate::{ActionError, Fabric, FunctionRef, node::Node};

impl Node {
    /// The function whose RDMA device has this name; if there is none, one that had it last.
    pub(crate) fn bearer(&self, name: &DeviceName) -> Option<PciAddress> {
        let bears = |pci: &PciAddress| self.rdma(*pci).is_some_and(|rdma| rdma.name == *name);
        let mut present = self
            .devices
            .keys()
            .copied()
            .filter(|pci| self.has_rdma(*pci));
        present
            .find(bears)
            .or_else(|| self.devices.keys().copied().find(bears))
    }

    /// Checks that these names can be given at once on a node with only the functions in `here`.
    pub(crate) fn check_names(
        &self,
        names: &BTreeMap<PciAddress, DeviceName>,
        here: impl Fn(PciAddress) -> bool,
    ) -> Result<(), ActionError> {
        for pci in names.keys() {
            self.device(*pci)?;
        }
        let mut bearers: BTreeMap<&DeviceName, PciAddress> = BTreeMap::new();
        for pci in self
            .devices
            .keys()
            .copied()
            .filter(|pci| here(*pci) || names.contains_key(pci))
        {
            let Some(rdma) = self.rdma(pci) else { continue };
            let name = names.get(&pci).unwrap_or(&rdma.name);
            if let Some(one) = bearers.insert(name, pci) {
                let (node, name) = (self.name().clone(), name.clone());
                return Err(ActionError::NameTaken {
                    node,
                    name,
                    one,
                    other: pci,
                });
            }
        }
        Ok(())
    }

    /// Gives these names, which must have been checked.
    pub(crate) fn give_names(&mut self, names: &BTreeMap<PciAddress, DeviceName>) {
        for (pci, name) in names {
            if let Some(rdma) = self.rdma_mut(*pci) {
                rdma.name = name.clone();
            }
        }
    }

    /// The lowest `mlx5_<n>` that no device has or had last.
    pub(crate) fn free_name(&self) -> DeviceName {
        let mut names = (0_u32..).map(|number| DeviceName(format!("mlx5_{number}")));
        let free = names.find(|name| self.bearer(name).is_none());
        free.expect("there are more numbers than devices")
    }
}

impl Fabric {
    /// Renames a device; a device that has the new name takes the old one. One that its driver still probes comes under the
    /// new name.
    pub(crate) fn rename(
        &mut self,
        function: &FunctionRef,
        to: &DeviceName,
    ) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        if !node.is_probed(function.pci) {
            node.require_rdma(function.pci)?;
        }
        let old = node.rdma(function.pci).map(|rdma| rdma.name.clone());
        let mut names = BTreeMap::from([(function.pci, to.clone())]);
        let other = node
            .bearer(to)
            .filter(|other| *other != function.pci && node.has_rdma(*other));
        if let Some((other, old)) = other.zip(old) {
            names.insert(other, old);
        }
        self.node_mut(&function.node).give_names(&names);
        Ok(())
    }
}
