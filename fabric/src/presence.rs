//! Which parts of a function its kernel shows, and which are hidden.
//!
//! This file moves functions, net devices and RDMA devices between the machine and the parked parts
//! of their [`Device`](crate::device::Device), which also has the cause. Start at [`Node::place`].

use std::collections::BTreeSet;

use platforms::{Machine, PciAddress, Port, PortNumber, Rdma, Restart, Shared};

use crate::{ActionError, device::Attachment, node::Node};

impl Node {
    /// Whether the function is on the bus.
    pub(crate) fn is_on_bus(&self, pci: PciAddress) -> bool {
        self.reboot.is_none()
            && self.devices.get(&pci).is_some_and(|device| {
                let here = !device.removed && device.resetting.is_none();
                here && device.parent.is_none_or(|parent| self.is_on_bus(parent))
            })
    }

    /// Whether the driver runs the function (and its physical one, for a virtual one).
    fn is_attached(&self, pci: PciAddress) -> bool {
        self.is_on_bus(pci)
            && self.devices.get(&pci).is_some_and(|device| {
                let here = device.attachment == Attachment::Attached;
                here && device.parent.is_none_or(|parent| self.is_attached(parent))
            })
    }

    /// Whether the function's RDMA device is registered.
    pub(crate) fn has_rdma(&self, pci: PciAddress) -> bool {
        self.is_attached(pci) && self.machine.class_present
    }

    /// Whether the function's net devices are registered. A suspended driver keeps them; an
    /// unloaded RDMA driver removes them unless its data state that it keeps them.
    fn has_netdevs(&self, pci: PciAddress) -> bool {
        let Some(device) = self.devices.get(&pci) else {
            return false;
        };
        let suspended = matches!(device.attachment, Attachment::Suspended(_));
        let driven = self.is_attached(pci) || suspended && self.is_on_bus(pci);
        driven
            && (self.machine.class_present
                || device.keeps(Restart::DriverReload, |keeps| keeps.netdev))
    }

    /// Whether a driver runs this port's side of the link: the net driver if the port follows its
    /// net device, otherwise the RDMA driver. While the node boots it is the card's firmware.
    pub(crate) fn is_powered(&self, pci: PciAddress, port: PortNumber) -> bool {
        let jack = self
            .devices
            .get(&pci)
            .and_then(|device| device.jacks.get(&port));
        if let Some(reboot) = &self.reboot {
            let device = self.devices.get(&pci);
            return reboot.training.is_some()
                && device.is_some_and(|device| !device.removed && device.parent.is_none());
        }
        let managed = jack.is_some_and(|jack| jack.link.is_managed());
        self.is_attached(pci) && (self.has_rdma(pci) || !managed && self.has_netdevs(pci))
    }

    /// Moves the parts of a function to where they must be: first removals, with RDMA and net
    /// devices before the function, then additions in the opposite order.
    pub(crate) fn place(&mut self, pci: PciAddress) {
        let (on_bus, rdma, netdevs) = (
            self.is_on_bus(pci),
            self.has_rdma(pci),
            self.has_netdevs(pci),
        );
        let parked = &mut self
            .devices
            .get_mut(&pci)
            .expect("a function that is placed has its device")
            .parked;
        if let Some(function) = self.machine.functions.get_mut(&pci) {
            if !rdma && function.rdma.is_some() {
                parked.rdma = function.rdma.take();
            }
            if !netdevs && !function.netdevs.is_empty() {
                parked.netdevs = std::mem::take(&mut function.netdevs);
            }
            if !on_bus && let Some(mut function) = self.machine.functions.remove(&pci) {
                function.incarnation += 1;
                parked.function = Some(function);
            }
        }
        if on_bus && let Some(function) = parked.function.take() {
            self.machine.functions.insert(pci, function);
        }
        if netdevs {
            self.register_netdevs(pci);
        }
        if rdma {
            self.register_rdma(pci);
        }
    }

    fn register_netdevs(&mut self, pci: PciAddress) {
        let device = self.device_mut(pci);
        let mut netdevs = std::mem::take(&mut device.parked.netdevs);
        if netdevs.is_empty() {
            return;
        }
        let restart = device.parked.restart;
        let kept = restart.is_none_or(|restart| device.keeps(restart, |keeps| keeps.netdev));
        for netdev in netdevs.iter_mut().filter(|_| !kept) {
            netdev.ifindex = self.take_ifindex();
        }
        self.function_mut(pci).netdevs = netdevs;
        for port in self.port_numbers(pci).into_iter().filter(|_| !kept) {
            self.restart_netdev(pci, port);
        }
    }

    fn register_rdma(&mut self, pci: PciAddress) {
        let Some(mut rdma) = self.device_mut(pci).parked.rdma.take() else {
            return;
        };
        rdma.incarnation += 1;
        rdma.missing.clear();
        let taken = self
            .bearer(&rdma.name)
            .is_some_and(|other| self.has_registered(other));
        if taken {
            rdma.name = self.free_name();
        }
        self.number_apart(&mut rdma);
        self.function_mut(pci).rdma = Some(rdma);
        let Some(restart) = self.device_mut(pci).parked.restart.take() else {
            return;
        };
        for port in self.port_numbers(pci) {
            self.restart_counters(pci, port, restart);
        }
    }

    /// Gives a returning device other `uverbs` and `umad` numbers if its own are taken.
    fn number_apart(&self, rdma: &mut Rdma) {
        let registered = self.machine.functions.values();
        let others: Vec<&Rdma> = registered
            .filter_map(|function| function.rdma.as_ref())
            .collect();
        if others.iter().any(|other| other.uverbs == rdma.uverbs) {
            rdma.uverbs = self.machine.free_uverbs();
        }
        let ports = others.iter().flat_map(|other| other.ports.values());
        let taken: BTreeSet<u32> = ports.filter_map(|port| port.umad).collect();
        let is_taken = |port: &Shared<Port>| port.umad.is_some_and(|umad| taken.contains(&umad));
        if rdma.ports.values().any(is_taken) {
            for (port, umad) in rdma.ports.values_mut().zip(self.machine.free_umad()..) {
                port.umad = Some(umad);
            }
        }
    }

    fn has_registered(&self, pci: PciAddress) -> bool {
        self.machine
            .functions
            .get(&pci)
            .is_some_and(|function| function.rdma.is_some())
    }

    /// Records why a function and its virtual functions disappear, for their return.
    pub(crate) fn leave_by(&mut self, pci: PciAddress, restart: Restart) {
        for pci in self.family(pci) {
            self.device_mut(pci).parked.restart = Some(restart);
        }
    }

    /// Rejects a function that is not on the bus.
    pub(crate) fn require_on_bus(&self, pci: PciAddress) -> Result<(), ActionError> {
        self.device(pci)?;
        if self.is_on_bus(pci) {
            Ok(())
        } else {
            Err(ActionError::Absent(
                self.function_ref(pci),
                "it is off the bus",
            ))
        }
    }

    /// Whether a function is on the bus, and its driver attaches by itself.
    pub(crate) fn is_probed(&self, pci: PciAddress) -> bool {
        let device = self.devices.get(&pci);
        self.is_on_bus(pci)
            && self.machine.class_present
            && device.is_some_and(|device| matches!(device.attachment, Attachment::Detached(_)))
    }

    /// Rejects a function whose RDMA device is not registered.
    pub(crate) fn require_rdma(&self, pci: PciAddress) -> Result<(), ActionError> {
        self.require_on_bus(pci)?;
        if self.has_rdma(pci) {
            return Ok(());
        }
        Err(ActionError::Absent(
            self.function_ref(pci),
            "its driver is not attached",
        ))
    }

    /// The machine as it would be with nothing hidden.
    pub(crate) fn complete(&self) -> Machine {
        let mut machine = self.machine.clone();
        machine.class_present = true;
        for (pci, device) in &self.devices {
            if let Some(function) = &device.parked.function {
                machine.functions.insert(*pci, function.clone());
            }
            if let (Some(rdma), Some(function)) =
                (&device.parked.rdma, machine.functions.get_mut(pci))
            {
                function.rdma = Some(rdma.clone());
            }
        }
        machine
    }
}
