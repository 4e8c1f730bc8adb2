//! Actions on functions: they leave the bus or their driver, and return.
//!
//! Removal happens in the kernel's order within one instant: RDMA and net devices before the PCI
//! function. Returning takes time: the function first, its RDMA and net devices after the driver has
//! probed it, then its ports train.

use std::collections::BTreeMap;

use platforms::{DeviceName, LinkEvent, NodeName, PciAddress, Restart, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, Fabric, FunctionRef, PortEvent, PortEventKind,
    agenda::{Key, Rank, Step},
    device::Attachment,
};

impl Fabric {
    pub(crate) fn remove(&mut self, function: &FunctionRef) -> Result<(), ActionError> {
        let device = self.node(&function.node)?.device(function.pci)?;
        if device.removed {
            return Err(ActionError::AlreadyRemoved(function.clone()));
        }
        let now = self.now;
        self.call_off(function);
        let node = self.node_mut(&function.node);
        if node.is_on_bus(function.pci) {
            node.happen_to_all(function.pci, LinkEvent::Removed, now);
        }
        node.device_mut(function.pci).removed = true;
        node.leave_by(function.pci, Restart::Rescan);
        self.place(&function.node, function.pci);
        Ok(())
    }

    pub(crate) fn restore(&mut self, function: &FunctionRef) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        let device = node.device(function.pci)?;
        if !device.removed {
            return Err(ActionError::NotRemoved(function.clone()));
        }
        if let Some(parent) = device.parent.filter(|parent| !node.is_on_bus(*parent)) {
            return Err(ActionError::ParentAbsent(function.clone(), parent));
        }
        self.node_mut(&function.node)
            .device_mut(function.pci)
            .removed = false;
        self.probe(function);
        Ok(())
    }

    /// Puts a function on the bus; its driver attaches after the probe time.
    pub(crate) fn probe(&mut self, function: &FunctionRef) {
        let at = self.now + self.timing.probe;
        let key = self.schedule_attached(function, at);
        self.node_mut(&function.node)
            .device_mut(function.pci)
            .attachment = Attachment::Detached(key);
        self.place(&function.node, function.pci);
    }

    fn schedule_attached(&mut self, function: &FunctionRef, at: SimTime) -> Key {
        self.agenda.schedule(
            at,
            Rank::Kernel,
            Step::Attached(function.node.clone(), function.pci),
        )
    }

    /// Cancels the steps that would bring the function or its driver back; both count as back.
    pub(crate) fn call_off(&mut self, function: &FunctionRef) {
        let device = self.node_mut(&function.node).device_mut(function.pci);
        let attachment = std::mem::replace(&mut device.attachment, Attachment::Attached);
        let back = device.resetting.take();
        if let Attachment::Detached(key) | Attachment::Suspended(key) = attachment {
            self.agenda.cancel(key);
        }
        if let Some(key) = back {
            self.agenda.cancel(key);
        }
    }

    /// Replaces a function by new hardware, which is probed again if it was on the bus.
    pub(crate) fn replace(&mut self, function: &FunctionRef) -> Result<(), ActionError> {
        self.node(&function.node)?.device(function.pci)?;
        let node = self.node_mut(&function.node);
        let present = node.is_on_bus(function.pci);
        if present {
            self.remove(function)?;
        }
        self.node_mut(&function.node).renew(function.pci);
        if present {
            self.restore(function)?;
        }
        Ok(())
    }

    pub(crate) fn unload(&mut self, node: &NodeName) -> Result<(), ActionError> {
        if !self.node(node)?.machine.class_present {
            return Err(ActionError::DriverAlready(node.clone(), "unloaded"));
        }
        self.node_mut(node).machine.class_present = false;
        for pci in self.node_mut(node).functions() {
            if self.node_mut(node).is_on_bus(pci) {
                self.node_mut(node).leave_by(pci, Restart::DriverReload);
            }
            self.announce(node, pci);
            self.place(node, pci);
        }
        Ok(())
    }

    pub(crate) fn load(
        &mut self,
        name: &NodeName,
        names: &BTreeMap<PciAddress, DeviceName>,
    ) -> Result<(), ActionError> {
        let node = self.node(name)?;
        if node.machine.class_present {
            return Err(ActionError::DriverAlready(name.clone(), "loaded"));
        }
        node.check_names(names, |pci| {
            node.devices.get(&pci).is_some_and(|device| !device.removed)
        })?;
        let node = self.node_mut(name);
        node.give_names(names);
        node.machine.class_present = true;
        for pci in self.node_mut(name).functions() {
            self.place(name, pci);
        }
        Ok(())
    }

    /// All functions of the card disappear, and are back after `takes`.
    pub(crate) fn reset_firmware(
        &mut self,
        function: &FunctionRef,
        takes: SimTime,
    ) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        node.require_on_bus(function.pci)?;
        let card = node.card_mates(function.pci);
        // The driver attaches at `takes`; the function returns to the bus one probe time earlier.
        let back = self.now + takes.since(self.timing.probe);
        let attached = self.now + takes;
        for pci in card {
            let mate = FunctionRef {
                node: function.node.clone(),
                pci,
            };
            self.call_off(&mate);
            let step = Step::BackOnBus(mate.node.clone(), pci);
            let resetting = self.agenda.schedule(back, Rank::Kernel, step);
            let key = self.schedule_attached(&mate, attached);
            let node = self.node_mut(&mate.node);
            let device = node.device_mut(pci);
            device.resetting = Some(resetting);
            device.attachment = Attachment::Detached(key);
            node.leave_by(pci, Restart::FirmwareReset);
            self.announce(&mate.node, pci);
            self.place(&mate.node, pci);
        }
        Ok(())
    }

    /// A PCI error: the RDMA device goes, the net device stays without a carrier, and after `takes`
    /// the driver has recovered (`mlx5_pci_err_detected`, `mlx5_pci_resume`).
    pub(crate) fn suspend(
        &mut self,
        function: &FunctionRef,
        takes: SimTime,
    ) -> Result<(), ActionError> {
        self.node(&function.node)?.require_rdma(function.pci)?;
        let now = self.now;
        self.call_off(function);
        let key = self.schedule_attached(function, now + takes);
        let node = self.node_mut(&function.node);
        node.device_mut(function.pci).attachment = Attachment::Suspended(key);
        node.leave_by(function.pci, Restart::FirmwareReset);
        node.happen_to_all(function.pci, LinkEvent::PciError, now);
        for jack in node.device_mut(function.pci).jacks.values_mut() {
            jack.events.push(PortEvent {
                at: now,
                kind: PortEventKind::DeviceFatal,
            });
        }
        self.place(&function.node, function.pci);
        Ok(())
    }

    /// The driver has probed or recovered a function.
    pub(crate) fn attach(&mut self, function: &FunctionRef) {
        let now = self.now;
        let node = self.node_mut(&function.node);
        let device = node.device_mut(function.pci);
        let before = std::mem::replace(&mut device.attachment, Attachment::Attached);
        let event = match before {
            Attachment::Suspended(_) => LinkEvent::PciRecovered,
            Attachment::Detached(_) | Attachment::Attached => LinkEvent::Probed,
        };
        node.happen_to_all(function.pci, event, now);
        self.place(&function.node, function.pci);
    }

    pub(crate) fn change_namespace(
        &mut self,
        function: &FunctionRef,
        leave: bool,
    ) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        node.device(function.pci)?;
        if node
            .function(function.pci)
            .is_some_and(|known| known.in_other_namespace == leave)
        {
            let place = if leave {
                "in another namespace"
            } else {
                "in the host's namespace"
            };
            return Err(ActionError::NamespaceAlready(function.clone(), place));
        }
        self.node_mut(&function.node)
            .function_mut(function.pci)
            .in_other_namespace = leave;
        self.place(&function.node, function.pci);
        Ok(())
    }

    /// A new function of the same model as `like` appears.
    pub(crate) fn hot_add(
        &mut self,
        function: &FunctionRef,
        like: PciAddress,
        name: &DeviceName,
        cabled: bool,
    ) -> Result<(), ActionError> {
        let node = self.node(&function.node)?;
        if node.devices.contains_key(&function.pci) {
            return Err(ActionError::AddressTaken(function.clone()));
        }
        let model = node.device(like)?;
        if let Some(parent) = model.parent {
            return Err(ActionError::VfOfVf(node.function_ref(like), parent));
        }
        if model.jacks.is_empty() {
            return Err(ActionError::NoPorts(node.function_ref(like)));
        }
        if let Some(one) = node.bearer(name) {
            let (node, name) = (function.node.clone(), name.clone());
            return Err(ActionError::NameTaken {
                node,
                name,
                one,
                other: function.pci,
            });
        }
        let lid = self.free_lid();
        let node = self.node_mut(&function.node);
        node.add_like(function.pci, like, name, cabled, lid);
        for port in node.port_numbers(function.pci) {
            let node = function.node.clone();
            let pci = function.pci;
            self.cabling.plug(SlotRef { node, pci, port }, None);
        }
        self.probe(function);
        Ok(())
    }
}
