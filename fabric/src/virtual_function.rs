//! Actions on virtual functions: they are created unassigned, assigned to guests, released,
//! destroyed (`lsd 8.3`).

use std::sync::Arc;

use platforms::{PciAddress, PortNumber, SlotRef};

use crate::{
    ActionError, Fabric, FunctionRef,
    device::{Device, Jack},
    link::Hold,
    node::Node,
};

impl Fabric {
    pub(crate) fn create_vfs(
        &mut self,
        function: &FunctionRef,
        count: u16,
    ) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        node.require_rdma(function.pci)?;
        let device = node.device(function.pci)?;
        if let Some(parent) = device.parent {
            return Err(ActionError::VfOfVf(function.clone(), parent));
        }
        let known = node.function(function.pci);
        let existing = known.map_or(0, |known| known.virtfns.len());
        if existing > 0 {
            return Err(ActionError::HasVfs(function.clone(), existing));
        }
        let total = known.and_then(|known| known.sriov_totalvfs).unwrap_or(0);
        if count == 0 || count > total {
            let limit = format!("its `sriov_totalvfs` is {total}, and at least one is created");
            return Err(ActionError::TooManyVfs {
                function: function.clone(),
                asked: count,
                limit,
            });
        }
        let node = self.node_mut(&function.node);
        for number in 0..count {
            if node.add_vf(function.pci, number).is_none() {
                node.drop_vfs(function.pci);
                let limit =
                    "the platform does not describe this card, so it cannot say what they would be";
                let limit = limit.to_owned();
                return Err(ActionError::TooManyVfs {
                    function: function.clone(),
                    asked: count,
                    limit,
                });
            }
        }
        self.place(&function.node, function.pci);
        Ok(())
    }

    pub(crate) fn destroy_vfs(&mut self, function: &FunctionRef) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        node.require_on_bus(function.pci)?;
        if let Some(parent) = node.device(function.pci)?.parent {
            return Err(ActionError::VfOfVf(function.clone(), parent));
        }
        if node.children(function.pci).is_empty() {
            return Err(ActionError::NoVfs(function.clone()));
        }
        self.discard_vfs(function);
        Ok(())
    }

    /// Removes the virtual functions of a physical one, and their scheduled steps.
    pub(crate) fn discard_vfs(&mut self, function: &FunctionRef) {
        for pci in self.node_mut(&function.node).children(function.pci) {
            let child = FunctionRef {
                node: function.node.clone(),
                pci,
            };
            self.call_off(&child);
            for port in self.node_mut(&child.node).port_numbers(pci) {
                let slot = SlotRef {
                    node: child.node.clone(),
                    pci,
                    port,
                };
                self.hurry(&slot);
                self.stop_flap(&slot);
                self.growing.remove(&slot);
            }
        }
        self.node_mut(&function.node).drop_vfs(function.pci);
    }

    pub(crate) fn assign(
        &mut self,
        function: &FunctionRef,
        assigned: bool,
    ) -> Result<(), ActionError> {
        let device = self.node(&function.node)?.device(function.pci)?;
        if device.parent.is_none() {
            return Err(ActionError::NotVirtual(function.clone()));
        }
        if device.jacks.values().all(|jack| jack.is_assigned()) == assigned {
            let state = if assigned { "assigned" } else { "unassigned" };
            return Err(ActionError::AssignedAlready(function.clone(), state));
        }
        let device = self.node_mut(&function.node).device_mut(function.pci);
        for jack in device.jacks.values_mut() {
            jack.link.here.set(Hold::Unassigned, !assigned);
        }
        self.place(&function.node, function.pci);
        Ok(())
    }
}

impl Jack {
    /// Whether this port is in use: always for a physical function, if assigned for a virtual one.
    pub(crate) fn is_assigned(&self) -> bool {
        !self.link.here.has(Hold::Unassigned)
    }
}

impl Node {
    /// Whether the physical function's link, on which this port depends, is up; `true` for a port of
    /// a physical function.
    pub(crate) fn has_uplink(&self, pci: PciAddress, port: PortNumber) -> bool {
        let device = self.devices.get(&pci);
        let parent = device
            .and_then(|device| device.parent)
            .and_then(|parent| self.devices.get(&parent));
        let uplink = parent.and_then(|parent| parent.jacks.get(&port));
        uplink.is_none_or(|uplink| uplink.link.is_linked(uplink.link.stage))
    }

    /// Whether a virtual function's port has not followed a change of its uplink yet.
    pub(crate) fn uplink_changed(&self, pci: PciAddress, port: PortNumber) -> bool {
        let jack = self
            .devices
            .get(&pci)
            .and_then(|device| device.jacks.get(&port));
        jack.is_some_and(|jack| jack.link.there.has(Hold::Uplink) == self.has_uplink(pci, port))
    }

    /// The virtual functions of a physical one, in order.
    pub(crate) fn children(&self, pci: PciAddress) -> Vec<PciAddress> {
        let children = self
            .devices
            .iter()
            .filter(|(_, device)| device.parent == Some(pci));
        children.map(|(child, _)| *child).collect()
    }

    /// Adds a virtual function to a visible physical one; `None`, and nothing has changed, if the
    /// platform does not describe it.
    pub(crate) fn add_vf(&mut self, parent: PciAddress, number: u16) -> Option<()> {
        let name = self.free_name();
        let owner = self.devices.get(&parent)?;
        let jack = owner.jacks.values().next()?;
        let (role, driver, rate) = (owner.role, Arc::clone(&jack.driver), jack.rate);
        let pci = self.platform.add_vf(&mut self.machine, parent, number)?;
        self.generations += 1;
        let ifindex = self.take_ifindex();
        let incarnation = self.generations;
        let function = self
            .machine
            .functions
            .get_mut(&pci)
            .expect("a function just added is seen");
        function.incarnation = incarnation;
        for (netdev, ifindex) in function.netdevs.iter_mut().zip(ifindex..) {
            netdev.ifindex = ifindex;
        }
        if let Some(rdma) = &mut function.rdma {
            rdma.name = name;
        }
        let function = function.clone();
        let device = Device::of(&function, role, &driver, rate, |_| true);
        self.devices.insert(pci, device);
        Some(())
    }

    fn drop_vfs(&mut self, parent: PciAddress) {
        for child in self.children(parent) {
            self.devices.remove(&child);
            self.machine.functions.remove(&child);
        }
        self.function_mut(parent).virtfns.clear();
    }
}
