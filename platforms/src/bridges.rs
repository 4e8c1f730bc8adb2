//! The PCIe bridges above a machine's functions: root ports and switches.
//!
//! A profile states no bridge. Which functions share one follows from `topo -m`: `PIX` is one switch, `PXB` a
//! switch behind a switch, `PHB` one host bridge, and everything else has a host bridge of its own. A bridge
//! needs bus numbers below those of its functions; where the profile's addresses leave too few, bridges are left
//! out, in the worst case all of them, and the functions are on their root bus. Start at [`Layout::of`].

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Machine, PciAddress, TopoLevel};

/// A PCI-to-PCI bridge: a port of PCI Express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// Its address.
    pub pci: PciAddress,
    /// The folder of the bus that it is on, from `sys/devices/` on.
    pub bus: Arc<str>,
    /// Which kind of port it is.
    pub port: BridgePort,
    /// The number of the bus below it.
    pub secondary: u8,
    /// The highest number of a bus below it.
    pub subordinate: u8,
    /// Its NUMA node; -1 if unknown.
    pub numa: i32,
    /// CPUs of that NUMA node as a list, if known.
    pub cpus: Option<String>,
    /// Speed of its link, as in `32.0 GT/s PCIe`.
    pub pcie_speed: String,
    /// Lanes of its link.
    pub pcie_width: u8,
}

/// The kind of a port of PCI Express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BridgePort {
    /// A port of the root complex.
    Root,
    /// The port of a switch that leads to the root complex.
    Upstream,
    /// A port of a switch that leads to a function or to another switch.
    Downstream,
}

impl Machine {
    /// The folder of the bus that a function at this address is on, from `sys/devices/` on: below its bridge if
    /// the machine has one that leads to this bus, otherwise a root bus.
    #[must_use]
    pub fn bus_of(&self, pci: &PciAddress) -> Arc<str> {
        let leads = |bridge: &&Bridge| {
            let PciAddress { domain, bus, .. } = *pci;
            (bridge.pci.domain, bridge.secondary) == (domain, bus)
        };
        match self.bridges.iter().find(leads) {
            Some(Bridge { pci, bus, .. }) => format!("{bus}/{pci}").into(),
            None => root_bus(pci.domain, pci.bus),
        }
    }
}

/// A function that is put below bridges.
pub(crate) struct Endpoint {
    pub(crate) pci: PciAddress,
    pub(crate) numa: i32,
    pub(crate) cpus: Option<String>,
    pub(crate) pcie_speed: String,
    pub(crate) pcie_width: u8,
    pub(crate) role: EndpointRole,
}

/// What `topo -m` has of a function.
pub(crate) enum EndpointRole {
    /// The GPU of this number.
    Gpu(usize),
    /// A NIC with its levels to the GPUs.
    Nic(Vec<TopoLevel>),
}

/// Where every function is.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) bridges: Vec<Bridge>,
    buses: BTreeMap<(u32, u8), Arc<str>>,
}

impl Layout {
    /// The bridges above these functions.
    pub(crate) fn of(endpoints: &[Endpoint]) -> Self {
        let mut domains: BTreeMap<u32, BTreeMap<u8, Vec<&Endpoint>>> = BTreeMap::new();
        for endpoint in endpoints {
            let PciAddress { domain, bus, .. } = endpoint.pci;
            let buses = domains.entry(domain).or_default();
            buses.entry(bus).or_default().push(endpoint);
        }
        let mut layout = Self::default();
        for (domain, buses) in domains {
            let units: Vec<Unit<'_>> = buses
                .into_iter()
                .map(|(bus, endpoints)| Unit { bus, endpoints })
                .collect();
            let mut free = 0;
            for group in groups(&units, TopoLevel::PHB) {
                layout.place(domain, &group, free);
                free = u16::from(group.last().expect("a group has a unit").bus) + 1;
            }
        }
        layout
    }

    /// The folder of the bus of this function, from `sys/devices/` on.
    pub(crate) fn bus(&self, pci: &PciAddress) -> Arc<str> {
        let known = self.buses.get(&(pci.domain, pci.bus));
        known
            .cloned()
            .unwrap_or_else(|| root_bus(pci.domain, pci.bus))
    }

    /// Puts units that share a host bridge below it. Buses from `free` up to the first unit are free.
    fn place(&mut self, domain: u32, group: &[Unit<'_>], free: u16) {
        let first = group[0].bus;
        let room = u16::from(first).saturating_sub(free);
        let Some(room) = room.checked_sub(1) else {
            // No number is left for a root bus: every unit is on its own.
            for unit in group {
                self.buses
                    .insert((domain, unit.bus), root_bus(domain, unit.bus));
            }
            return;
        };
        let mut above = room;
        let mut plans = Vec::new();
        for top in groups(group, TopoLevel::PXB) {
            if let Some(before) = plans.last().map(Plan::last) {
                above = u16::from(top[0].bus) - u16::from(before) - 1;
            }
            if top.len() == 1 || above < SWITCH {
                // Without room for a switch every unit has a root port of its own.
                plans.extend(top.into_iter().map(Plan::Bus));
            } else {
                plans.push(Plan::Switch(branches(&top, above - SWITCH)));
            }
        }
        let root = first - 1 - plans[0].needs();
        let folder = root_bus(domain, root);
        let mut ports = Ports {
            layout: self,
            domain,
        };
        for (number, plan) in (1..).zip(&plans) {
            ports.add(&folder, root, number, plan);
        }
    }
}

fn root_bus(domain: u32, bus: u8) -> Arc<str> {
    format!("pci{domain:04x}:{bus:02x}").into()
}

/// The functions of one bus.
#[derive(Clone)]
struct Unit<'a> {
    bus: u8,
    endpoints: Vec<&'a Endpoint>,
}

impl Unit<'_> {
    fn has_gpu(&self) -> bool {
        let mut endpoints = self.endpoints.iter();
        endpoints.any(|endpoint| matches!(endpoint.role, EndpointRole::Gpu(_)))
    }

    /// The nearest level between functions of the two, if `topo -m` has one.
    fn level(&self, other: &Self) -> Option<TopoLevel> {
        let pairs = self
            .endpoints
            .iter()
            .flat_map(|a| other.endpoints.iter().map(move |b| (a, b)));
        let levels = pairs.filter_map(|(a, b)| match (&a.role, &b.role) {
            (EndpointRole::Nic(levels), EndpointRole::Gpu(gpu))
            | (EndpointRole::Gpu(gpu), EndpointRole::Nic(levels)) => levels.get(*gpu).copied(),
            _ => None,
        });
        levels.min()
    }
}

/// The units in groups: two are in one if their level is at most `most`. A group whose buses are not in one
/// piece is dissolved. In the order of the buses.
fn groups<'a>(units: &[Unit<'a>], most: TopoLevel) -> Vec<Vec<Unit<'a>>> {
    let mut group_of: Vec<usize> = (0..units.len()).collect();
    for (i, a) in units.iter().enumerate() {
        for (j, b) in units.iter().enumerate().skip(i + 1) {
            if a.level(b).is_some_and(|level| level <= most) {
                let (kept, gone) = (group_of[i], group_of[j]);
                for group in &mut group_of {
                    if *group == gone {
                        *group = kept;
                    }
                }
            }
        }
    }
    let mut groups: Vec<(usize, Vec<Unit<'a>>)> = Vec::new();
    let mut torn = Vec::new();
    for (unit, group) in units.iter().zip(group_of) {
        match groups.last_mut() {
            Some((last, members)) if *last == group => members.push(unit.clone()),
            _ => {
                if groups.iter().any(|(before, _)| *before == group) {
                    torn.push(group);
                }
                groups.push((group, vec![unit.clone()]));
            }
        }
    }
    let whole = |(group, units): (usize, Vec<Unit<'a>>)| match torn.contains(&group) {
        true => units.into_iter().map(|unit| vec![unit]).collect(),
        false => vec![units],
    };
    groups.into_iter().flat_map(whole).collect()
}

/// What is below one root port.
enum Plan<'a> {
    /// A bus with functions.
    Bus(Unit<'a>),
    Switch(Vec<Branch<'a>>),
}

/// What is below one or more ports of the upper switch.
struct Branch<'a> {
    units: Vec<Unit<'a>>,
    /// Whether the units are behind a switch of their own.
    switch: bool,
}

/// A switch needs two buses: one for its upstream port, one inside.
const SWITCH: u16 = 2;

/// What is below a switch, with so many free buses before the first unit.
fn branches<'a>(top: &[Unit<'a>], mut room: u16) -> Vec<Branch<'a>> {
    let mut leaves = groups(top, TopoLevel::PIX);
    if leaves.len() == 1 {
        let units = leaves.remove(0);
        return vec![Branch {
            units,
            switch: false,
        }];
    }
    let mut before: Option<u8> = None;
    let mut branches: Vec<Branch<'a>> = Vec::new();
    let mut fits = Vec::new();
    for units in leaves {
        if let Some(before) = before {
            room = u16::from(units[0].bus) - u16::from(before) - 1;
        }
        before = units.last().map(|unit| unit.bus);
        fits.push(room >= SWITCH);
        let wanted = units.len() > 1 || units.iter().any(Unit::has_gpu);
        branches.push(Branch {
            switch: room >= SWITCH && wanted,
            units,
        });
    }
    // Between two branches are several switches if at least one of them has its own.
    for number in 0..branches.len() {
        let branch = &branches[number];
        let bare = |other: &Branch<'_>| !other.switch && branch.is_apart(other);
        if fits[number] && !branch.switch && branches.iter().any(bare) {
            branches[number].switch = true;
        }
    }
    branches
}

impl Branch<'_> {
    /// Whether `topo -m` has several bridges between units of the two.
    fn is_apart(&self, other: &Self) -> bool {
        let pairs = self.units.iter();
        let mut pairs = pairs.flat_map(|a| other.units.iter().map(move |b| (a, b)));
        pairs.any(|(a, b)| a.level(b) == Some(TopoLevel::PXB))
    }
}

impl Plan<'_> {
    /// The highest bus.
    fn last(&self) -> u8 {
        match self {
            Self::Bus(unit) => unit.bus,
            Self::Switch(branches) => {
                let last = branches.last().and_then(|branch| branch.units.last());
                last.expect("a switch has a unit").bus
            }
        }
    }

    /// How many buses it needs before its first unit.
    fn needs(&self) -> u8 {
        match self {
            Self::Bus(_) => 0,
            Self::Switch(branches) if branches[0].switch => 4,
            Self::Switch(_) => 2,
        }
    }
}

/// Adds bridges to a layout.
struct Ports<'l> {
    layout: &'l mut Layout,
    domain: u32,
}

impl Ports<'_> {
    /// Adds the root port of this number and what is below it.
    fn add(&mut self, root: &Arc<str>, bus: u8, number: u8, plan: &Plan<'_>) {
        // Devices 1 to 31 of the root bus, then their further functions.
        let (device, function) = (1 + (number - 1) % 31, (number - 1) / 31);
        match plan {
            Plan::Bus(unit) => {
                let at = self.address(bus, device, function);
                self.unit(root, at, BridgePort::Root, unit);
            }
            Plan::Switch(branches) => {
                let first = &branches[0].units[0];
                let upstream = first.bus - plan.needs();
                let at = self.address(bus, device, function);
                let inside = (upstream, plan.last());
                let folder = self.bridge(root, at, BridgePort::Root, inside, first);
                let folder = self.upstream(&folder, inside, first);
                let mut number = 0;
                for branch in branches {
                    let first = &branch.units[0];
                    let last = branch.units.last().map_or(first.bus, |unit| unit.bus);
                    if !branch.switch {
                        self.downstream(&folder, upstream + 1, &mut number, &branch.units);
                        continue;
                    }
                    let at = self.address(upstream + 1, number % 32, number / 32);
                    number += 1;
                    let below = (first.bus - 2, last);
                    let folder = self.bridge(&folder, at, BridgePort::Downstream, below, first);
                    let folder = self.upstream(&folder, below, first);
                    self.downstream(&folder, first.bus - 1, &mut 0, &branch.units);
                }
            }
        }
    }

    /// Adds the upstream port of a switch, which is alone on the first of these buses; returns the folder of
    /// the bus inside the switch.
    fn upstream(&mut self, above: &Arc<str>, (bus, last): (u8, u8), like: &Unit<'_>) -> Arc<str> {
        let at = self.address(bus, 0, 0);
        self.bridge(above, at, BridgePort::Upstream, (bus + 1, last), like)
    }

    /// Adds a downstream port for each unit.
    fn downstream(&mut self, inside: &Arc<str>, bus: u8, number: &mut u8, units: &[Unit<'_>]) {
        for unit in units {
            let at = self.address(bus, *number % 32, *number / 32);
            *number += 1;
            self.unit(inside, at, BridgePort::Downstream, unit);
        }
    }

    /// Adds the port above a unit.
    fn unit(&mut self, above: &Arc<str>, at: PciAddress, port: BridgePort, unit: &Unit<'_>) {
        let folder = self.bridge(above, at, port, (unit.bus, unit.bus), unit);
        self.layout.buses.insert((self.domain, unit.bus), folder);
    }

    /// Adds a bridge whose link is like the unit's; returns the folder of the bus below it.
    fn bridge(
        &mut self,
        above: &Arc<str>,
        pci: PciAddress,
        port: BridgePort,
        (secondary, subordinate): (u8, u8),
        like: &Unit<'_>,
    ) -> Arc<str> {
        let Endpoint {
            numa,
            cpus,
            pcie_speed,
            pcie_width,
            ..
        } = like.endpoints[0];
        self.layout.bridges.push(Bridge {
            pci,
            bus: Arc::clone(above),
            port,
            secondary,
            subordinate,
            numa: *numa,
            cpus: cpus.clone(),
            pcie_speed: pcie_speed.clone(),
            pcie_width: *pcie_width,
        });
        format!("{above}/{pci}").into()
    }

    fn address(&self, bus: u8, device: u8, function: u8) -> PciAddress {
        PciAddress {
            domain: self.domain,
            bus,
            device,
            function,
        }
    }
}

/// The code of a link speed in the registers of PCI Express (`PCI_EXP_LNKSTA_CLS`): 1 for `2.5 GT/s PCIe` up to 6
/// for `64.0 GT/s PCIe`; 0 if the text is another (`pci_speed_string`, drivers/pci/probe.c).
pub(crate) fn link_speed(text: &str) -> u8 {
    let known = ["2.5", "5.0", "8.0", "16.0", "32.0", "64.0"];
    let number = text.split(' ').next().unwrap_or_default();
    let found = (1..).zip(known).find(|(_, known)| *known == number);
    found.map_or(0, |(code, _)| code)
}
