//! A node: the machine that its kernel shows, and the hardware behind it.
//!
//! The machine has the visible parts, each [`Device`] its hidden ones. This file finds parts in
//! either; `presence.rs` moves them. It schedules nothing. Start at [`Node`].

use std::{collections::BTreeMap, sync::Arc};

use platforms::{
    Driver, Function, LinkEvent, Machine, NetDev, NodeName, PciAddress, Platform, Port, PortNumber,
    Rdma, Shared, SlotRef,
};
use simfs::SimTime;

use crate::{
    ActionError, FunctionRef,
    device::{Device, Jack},
    history::KernelLine,
    link::Cable,
    reboot::Reboot,
};

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) platform: Platform,
    /// What its kernel shows.
    pub(crate) machine: Machine,
    /// What its kernel showed at the start, without faults.
    pub(crate) rest: Machine,
    /// The hardware behind each function, including hidden ones.
    pub(crate) devices: BTreeMap<PciAddress, Device>,
    /// How often it was rebooted.
    pub(crate) boots: u32,
    /// When it was booted, and its boot clock's value then.
    pub(crate) booted: (SimTime, u64),
    /// The sum of its wall clock steps, in nanoseconds.
    pub(crate) stepped_ns: i64,
    /// The reboot in progress; the kernel runs while there is none.
    pub(crate) reboot: Option<Reboot>,
    /// The kernel log of this boot.
    pub(crate) log: Vec<KernelLine>,
    /// How many times virtual functions were created.
    pub(crate) generations: u32,
    next_ifindex: u32,
}

impl Node {
    pub(crate) fn at_rest(name: &NodeName, platform: Platform) -> Self {
        let machine = platform.machine(name);
        let mut drivers: BTreeMap<&str, Arc<Driver>> = BTreeMap::new();
        let mut devices = BTreeMap::new();
        for (pci, function) in &machine.functions {
            let owner = function.physfn.unwrap_or(*pci);
            let declared = platform
                .profile()
                .devices
                .iter()
                .find(|device| device.pci == owner);
            let declared =
                declared.expect("a platform declares every function that its machine has");
            let driver = drivers.entry(&declared.driver).or_insert_with(|| {
                let driver = platform.driver(&declared.driver).cloned();
                Arc::new(driver.expect("a platform has every driver that it names"))
            });
            let cabled = |port: PortNumber| declared.cabled.contains(&port.0);
            devices.insert(
                *pci,
                Device::of(function, Some(declared.role), driver, declared.rate, cabled),
            );
        }
        Self {
            devices,
            boots: 0,
            booted: (SimTime::ZERO, machine.clock.boot_ns),
            stepped_ns: 0,
            reboot: None,
            log: Vec::new(),
            generations: 0,
            next_ifindex: machine.next_ifindex(),
            rest: machine.clone(),
            machine,
            platform,
        }
    }

    pub(crate) fn name(&self) -> &NodeName {
        &self.machine.node
    }

    /// Sets the clocks.
    pub(crate) fn report(&mut self, now: SimTime) {
        let wall_ns = self.rest.clock.wall_ns.saturating_add(now.as_ns());
        self.machine.clock.wall_ns = wall_ns.saturating_add_signed(self.stepped_ns);
        self.machine.clock.boot_ns = self
            .booted
            .1
            .saturating_add(now.since(self.booted.0).as_ns());
    }

    /// A reference to one of its functions.
    pub(crate) fn function_ref(&self, pci: PciAddress) -> FunctionRef {
        FunctionRef {
            node: self.name().clone(),
            pci,
        }
    }

    /// A reference to one of its ports.
    pub(crate) fn slot_ref(&self, pci: PciAddress, port: PortNumber) -> SlotRef {
        SlotRef {
            node: self.name().clone(),
            pci,
            port,
        }
    }

    /// The hardware of a function, visible or not.
    pub(crate) fn device(&self, pci: PciAddress) -> Result<&Device, ActionError> {
        self.devices
            .get(&pci)
            .ok_or_else(|| ActionError::NoSuchFunction(self.function_ref(pci)))
    }

    /// As [`Self::device`], mutable; the function was looked up before.
    pub(crate) fn device_mut(&mut self, pci: PciAddress) -> &mut Device {
        self.devices
            .get_mut(&pci)
            .expect("a function that an action or a step names was looked up before")
    }

    /// The hardware of a port.
    pub(crate) fn jack(&self, slot: &SlotRef) -> Result<&Jack, ActionError> {
        let device = self.device(slot.pci)?;
        let jack = device.jacks.get(&slot.port);
        jack.map(AsRef::as_ref).ok_or_else(|| {
            let ports: Vec<String> = device
                .jacks
                .keys()
                .map(|port| format!("port {port}"))
                .collect();
            let ports = if ports.is_empty() {
                "no port".to_owned()
            } else {
                ports.join(", ")
            };
            ActionError::NoSuchPort(slot.clone(), ports)
        })
    }

    /// As [`Self::jack`], mutable; the port was looked up before.
    pub(crate) fn jack_mut(&mut self, pci: PciAddress, port: PortNumber) -> &mut Jack {
        let jack = self.device_mut(pci).jacks.get_mut(&port);
        jack.expect("a port that an action or a step names was looked up before")
    }

    /// The function, visible or parked.
    pub(crate) fn function(&self, pci: PciAddress) -> Option<&Shared<Function>> {
        self.machine
            .functions
            .get(&pci)
            .or_else(|| self.devices.get(&pci)?.parked.function.as_ref())
    }

    /// As [`Self::function`], mutable.
    pub(crate) fn function_mut(&mut self, pci: PciAddress) -> &mut Function {
        let parked = self
            .devices
            .get_mut(&pci)
            .and_then(|device| device.parked.function.as_mut());
        let function = self.machine.functions.get_mut(&pci).or(parked);
        function.expect("the function of every device is either seen or parked")
    }

    /// The RDMA device, visible or parked.
    pub(crate) fn rdma(&self, pci: PciAddress) -> Option<&Rdma> {
        let seen = self
            .machine
            .functions
            .get(&pci)
            .and_then(|function| function.rdma.as_ref());
        seen.or_else(|| self.devices.get(&pci)?.parked.rdma.as_ref())
    }

    /// As [`Self::rdma`], mutable.
    pub(crate) fn rdma_mut(&mut self, pci: PciAddress) -> Option<&mut Rdma> {
        if self.devices.get(&pci)?.parked.rdma.is_some() {
            return self.devices.get_mut(&pci)?.parked.rdma.as_mut();
        }
        self.machine.functions.get_mut(&pci)?.rdma.as_mut()
    }

    /// A port, listed or not, visible or parked; mutable.
    pub(crate) fn port_mut(&mut self, pci: PciAddress, number: PortNumber) -> Option<&mut Port> {
        if self
            .devices
            .get(&pci)?
            .jacks
            .get(&number)?
            .unlisted
            .is_some()
        {
            return self.jack_mut(pci, number).unlisted.as_deref_mut();
        }
        self.rdma_mut(pci)?
            .ports
            .get_mut(&number)
            .map(|port| &mut **port)
    }

    /// As [`Self::port_mut`], shared.
    pub(crate) fn port(&self, pci: PciAddress, number: PortNumber) -> Option<&Port> {
        let unlisted = self
            .devices
            .get(&pci)?
            .jacks
            .get(&number)?
            .unlisted
            .as_deref();
        unlisted.or_else(|| self.rdma(pci)?.ports.get(&number).map(|port| &**port))
    }

    /// The network interface of a port, visible or parked; mutable.
    pub(crate) fn netdev_mut(
        &mut self,
        pci: PciAddress,
        number: PortNumber,
    ) -> Option<&mut NetDev> {
        let seen = self.machine.functions.get(&pci).is_some_and(|function| {
            function
                .netdevs
                .iter()
                .any(|netdev| stands_for(netdev, number))
        });
        let netdevs = match self.machine.functions.get_mut(&pci) {
            Some(function) if seen => &mut function.netdevs,
            _ => &mut self.devices.get_mut(&pci)?.parked.netdevs,
        };
        netdevs.iter_mut().find(|netdev| stands_for(netdev, number))
    }

    /// As [`Self::netdev_mut`], shared.
    pub(crate) fn netdev(&self, pci: PciAddress, number: PortNumber) -> Option<&NetDev> {
        let seen = self
            .machine
            .functions
            .get(&pci)
            .into_iter()
            .flat_map(|function| &function.netdevs);
        let parked = self
            .devices
            .get(&pci)
            .into_iter()
            .flat_map(|device| &device.parked.netdevs);
        seen.chain(parked).find(|netdev| stands_for(netdev, number))
    }

    /// A port that is visible in sysfs; `None` if it is not.
    pub(crate) fn seen_port(&self, pci: PciAddress, number: PortNumber) -> Option<&Port> {
        let function = self.machine.functions.get(&pci)?;
        let seen = self.machine.class_present && !function.in_other_namespace;
        let rdma = function.rdma.as_ref().filter(|_| seen)?;
        rdma.ports.get(&number).map(|port| &**port)
    }

    /// Every function, visible or not, in the order of the bus.
    pub(crate) fn functions(&self) -> Vec<PciAddress> {
        self.devices.keys().copied().collect()
    }

    /// A function and its virtual functions, the physical one first.
    pub(crate) fn family(&self, pci: PciAddress) -> Vec<PciAddress> {
        std::iter::once(pci).chain(self.children(pci)).collect()
    }

    /// The physical functions on the bus that share this function's card, or the card of its
    /// physical function.
    pub(crate) fn card_mates(&self, pci: PciAddress) -> Vec<PciAddress> {
        let owner = self
            .devices
            .get(&pci)
            .and_then(|device| device.parent)
            .unwrap_or(pci);
        let mates = self
            .devices
            .iter()
            .filter(|(mate, device)| device.parent.is_none() && mate.card() == owner.card());
        mates
            .map(|(mate, _)| *mate)
            .filter(|mate| self.is_on_bus(*mate))
            .collect()
    }

    /// The numbers of a function's ports.
    pub(crate) fn port_numbers(&self, pci: PciAddress) -> Vec<PortNumber> {
        self.devices
            .get(&pci)
            .map_or(Vec::new(), |device| device.jacks.keys().copied().collect())
    }

    /// Every port, visible or not.
    pub(crate) fn slots(&self) -> Vec<SlotRef> {
        let slots = self
            .devices
            .iter()
            .flat_map(|(pci, device)| device.jacks.keys().map(move |port| (*pci, *port)));
        slots.map(|(pci, port)| self.slot_ref(pci, port)).collect()
    }

    /// Whether a port has a cable and is in use; a virtual function's port uses its physical
    /// function's cable.
    pub(crate) fn should_be_up(&self, pci: PciAddress, port: PortNumber) -> bool {
        let Some(device) = self.devices.get(&pci) else {
            return false;
        };
        let used = device
            .jacks
            .get(&port)
            .is_some_and(|jack| jack.link.cable != Cable::Absent && jack.is_assigned());
        used && device
            .parent
            .is_none_or(|parent| self.should_be_up(parent, port))
    }

    /// Whether every port that should be up is healthy.
    pub(crate) fn is_well(&self) -> bool {
        let jacks = self
            .devices
            .iter()
            .flat_map(|(pci, device)| device.jacks.iter().map(move |jack| (*pci, jack)));
        jacks
            .into_iter()
            .all(|(pci, (port, jack))| jack.healthy || !self.should_be_up(pci, *port))
    }

    /// Applies an event to each port of a function.
    pub(crate) fn happen_to_all(&mut self, pci: PciAddress, event: LinkEvent, now: SimTime) {
        for port in self.port_numbers(pci) {
            self.happen(pci, port, event, now);
        }
    }

    /// The number of the next interface to be registered; increments it.
    pub(crate) fn take_ifindex(&mut self) -> u32 {
        self.next_ifindex = self.next_ifindex.max(self.machine.next_ifindex()) + 1;
        self.next_ifindex - 1
    }
}

/// Whether a net device belongs to the port of this number.
fn stands_for(netdev: &NetDev, number: PortNumber) -> bool {
    netdev.dev_port + 1 == u16::from(number.0)
}
