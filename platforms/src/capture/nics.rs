//! The network functions of a node: models, devices, ports, counters, virtual functions.

use std::collections::{BTreeMap, BTreeSet};

use super::cards::{KnownCards, driver_file};
use super::ports::{Cable, ReadPort};
use super::unlinked_vfs::{Ids, Owner, owner_of_unlinked};
use super::{CaptureError, Snapshot, gpus::FoundGpus};
use crate::profile::{Device, Model, Skipped, TopoRow, Vfs};
use crate::topo::Topology;
use crate::{Driver, NicRole, PciAddress, Platforms, Rate, TopoLevel};

/// The NICs that were found.
#[derive(Default)]
pub(super) struct FoundNics {
    pub(super) models: BTreeMap<String, Model>,
    pub(super) devices: Vec<Device>,
    /// Devices that were found and cannot be described.
    pub(super) skipped: Vec<Skipped>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) vfs: Option<Vfs>,
    /// Their interfaces, those of virtual functions included.
    pub(super) netdevs: BTreeSet<String>,
    /// Paths of values that were chosen because they could not be read.
    pub(super) chosen: BTreeSet<String>,
    /// Paths of values about ports that were not at rest.
    pub(super) assumed: BTreeSet<String>,
}

impl FoundNics {
    pub(super) fn addresses(&self) -> Vec<PciAddress> {
        self.devices.iter().map(|device| device.pci).collect()
    }

    /// `18 RDMA devices`.
    pub(super) fn rendered(&self) -> String {
        format!("{} RDMA devices", self.devices.len())
    }
}

/// Every RDMA device that was found, physical functions in the order of the bus.
pub(super) fn nics(
    snapshot: &Snapshot,
    topology: Option<&Topology>,
    gpus: &FoundGpus,
    known: &Platforms,
    notes: &mut Vec<String>,
) -> Result<FoundNics, CaptureError> {
    let drivers = known.iter().next().map(|(_, platform)| platform);
    let drivers: Vec<&Driver> = drivers.into_iter().flat_map(|it| it.drivers()).collect();
    let mut reading = Reading {
        snapshot,
        gpus,
        drivers,
        cards: KnownCards::of(known),
        interfaces: interfaces_by_function(snapshot),
        found: FoundNics::default(),
    };
    let names = snapshot.names("infiniband");
    if names.is_empty() {
        return Err(CaptureError::NoNics);
    }
    let mut placed = Vec::new();
    let mut virtual_ones = Vec::new();
    let mut beside = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        let device = format!("infiniband/{name}/device");
        let pci = snapshot.address(&device);
        if pci.is_none() && snapshot.target(&device).is_some() {
            beside.push(name);
            continue;
        }
        let owner = pci.and_then(|pci| snapshot.address(&format!("pci/{pci}/physfn")));
        match (owner, pci) {
            (Some(owner), Some(pci)) => virtual_ones.push((owner, pci, name)),
            _ => {
                let pci = pci.unwrap_or_else(|| reading.choose_address(number, name));
                placed.push((pci, name));
            }
        }
    }
    placed.sort();
    let mut refused = beside.first().map(|name| CaptureError::NoFunction {
        device: (*name).to_owned(),
    });
    reading.skip((beside, None), NO_FUNCTION, notes);
    let of_matrix = topology.into_iter().flat_map(Topology::nics);
    let of_matrix: BTreeSet<String> = of_matrix.map(|nic| nic.device().to_string()).collect();
    let placed = reading.one_for_each_function(placed, &of_matrix, notes);
    let placed = reading.without_virtual(placed, &mut virtual_ones, notes);
    virtual_ones.sort();
    virtual_ones.dedup_by_key(|(_, pci, _)| *pci);
    for (pci, name) in &placed {
        if let Err(error) = reading.device(*pci, name, &virtual_ones, notes) {
            notes.push(format!("Device {name} is skipped: {}.", error.cause()));
            reading.found.skipped.push(Skipped {
                name: (*name).to_owned(),
                pci: Some(*pci).filter(|_| !reading.is_chosen(name, "pci")),
                why: error.cause(),
            });
            refused.get_or_insert(error);
        }
    }
    if let (Some(error), []) = (refused, reading.found.devices.as_slice()) {
        return Err(error);
    }
    reading.rates();
    reading.virtual_functions(&virtual_ones, notes);
    reading.counters(notes);
    let unlisted = gpus.rows.keys().cloned();
    let in_matrix = topology.into_iter().flat_map(Topology::nics);
    let unlisted: BTreeSet<String> = unlisted
        .chain(in_matrix.map(|nic| nic.device().to_string()))
        .filter(|name| !snapshot.names("infiniband").contains(name.as_str()))
        .collect();
    if !unlisted.is_empty() {
        let unlisted: Vec<String> = unlisted.into_iter().collect();
        notes.push(format!(
            "The matrix has NICs that sysfs lacks: {}.",
            unlisted.join(", ")
        ));
    }
    Ok(reading.found)
}

/// Why a device is left out whose parent is an auxiliary device (Linux drivers/net/ethernet/mellanox/mlx5/core/sf).
const NO_FUNCTION: &str = "it is on no PCI function of its own, as those of subfunctions are not";

/// Why a device is left out whose function has another one (Linux drivers/infiniband/core/device.c, `ib_add_sub_device`).
const SECOND: &str =
    "another RDMA device is on its PCI function, as with planes, and a platform has one for each";

struct Reading<'a> {
    snapshot: &'a Snapshot,
    gpus: &'a FoundGpus,
    drivers: Vec<&'a Driver>,
    cards: KnownCards<'a>,
    interfaces: BTreeMap<PciAddress, Vec<(i64, String)>>,
    found: FoundNics,
}

impl<'a> Reading<'a> {
    /// Leaves out devices, each for the same reason, which is told once.
    fn skip(
        &mut self,
        (names, pci): (Vec<&str>, Option<&BTreeMap<&str, PciAddress>>),
        why: &str,
        notes: &mut Vec<String>,
    ) {
        let what = match names.len() {
            0 => return,
            1 => "Device",
            _ => "Devices",
        };
        let is = if names.len() == 1 { "is" } else { "are" };
        notes.push(format!("{what} {} {is} skipped: {why}.", names.join(", ")));
        let skipped = names.into_iter().map(|name| Skipped {
            name: name.to_owned(),
            pci: pci.and_then(|pci| pci.get(name).copied()),
            why: why.to_owned(),
        });
        self.found.skipped.extend(skipped);
    }

    /// One device for each function: the one that the matrix names, or the first by name.
    fn one_for_each_function(
        &mut self,
        placed: Vec<(PciAddress, &'a str)>,
        of_matrix: &BTreeSet<String>,
        notes: &mut Vec<String>,
    ) -> Vec<(PciAddress, &'a str)> {
        let mut taken: BTreeMap<PciAddress, &str> = BTreeMap::new();
        for (pci, name) in &placed {
            let first = taken.entry(*pci).or_insert(*name);
            if of_matrix.contains(*name) && !of_matrix.contains(*first) {
                *first = *name;
            }
        }
        let (kept, others): (Vec<_>, Vec<_>) = placed
            .into_iter()
            .partition(|(pci, name)| taken[pci] == *name);
        let pci = others.iter().map(|(pci, name)| (*name, *pci)).collect();
        let names = others.iter().map(|(_, name)| *name).collect();
        self.skip((names, Some(&pci)), SECOND, notes);
        kept
    }

    /// The physical functions among those without a link to their owner; the virtual ones join the others.
    fn without_virtual(
        &mut self,
        placed: Vec<(PciAddress, &'a str)>,
        virtual_ones: &mut Vec<(PciAddress, PciAddress, &'a str)>,
        notes: &mut Vec<String>,
    ) -> Vec<(PciAddress, &'a str)> {
        let ids = placed.iter().map(|(pci, name)| Ids {
            pci: *pci,
            vendor: self.id(*pci, name, "vendor"),
            device: self
                .id(*pci, name, "device")
                .or_else(|| self.of_hca_type(name)),
        });
        let ids: Vec<Ids> = ids.collect();
        let mut physical = Vec::new();
        for ((pci, name), own) in placed.into_iter().zip(&ids) {
            match owner_of_unlinked(own, &ids, &self.cards) {
                Owner::Nobody => physical.push((pci, name)),
                Owner::One(owner) => {
                    notes.push(format!(
                        "Device {name} has the PCI id of a virtual function: taken for one of {owner}."
                    ));
                    virtual_ones.push((owner, pci, name));
                }
                Owner::Unknown => {
                    let why =
                        "it is a virtual function, and its link `physfn` was not read".to_owned();
                    notes.push(format!("Device {name} is skipped: {why}."));
                    self.found.skipped.push(Skipped {
                        name: name.to_owned(),
                        pci: Some(pci),
                        why,
                    });
                }
            }
        }
        physical
    }

    /// The PCI device id that mlx5 writes there in decimal (`drivers/infiniband/hw/mlx5/main.c`, `hca_type_show`).
    fn of_hca_type(&self, name: &str) -> Option<u16> {
        let text = self.snapshot.text(&format!("infiniband/{name}/hca_type"))?;
        text.strip_prefix("MT")?.parse().ok()
    }

    /// An address for a device of a dump without one: from bus 10 on, in the order of names.
    fn choose_address(&mut self, number: usize, name: &str) -> PciAddress {
        self.chosen(name, "pci");
        PciAddress {
            domain: 0,
            bus: u8::try_from(0x10 + number).unwrap_or(u8::MAX),
            device: 0,
            function: 0,
        }
    }

    fn chosen(&mut self, device: &str, key: &str) {
        self.found.chosen.insert(format!("devices.{device}.{key}"));
    }

    fn is_chosen(&self, device: &str, key: &str) -> bool {
        self.found
            .chosen
            .contains(&format!("devices.{device}.{key}"))
    }

    /// A file of a device's function, which a dump may have below the device only.
    fn of_function(&self, pci: PciAddress, name: &str, key: &str) -> Option<&'a str> {
        let on_bus = self.snapshot.text(&format!("pci/{pci}/{key}"));
        on_bus.or_else(|| {
            self.snapshot
                .text(&format!("infiniband/{name}/device/{key}"))
        })
    }

    /// A number in such a file, decimal or with `0x` hexadecimal.
    fn id(&self, pci: PciAddress, name: &str, key: &str) -> Option<u16> {
        let text = self.of_function(pci, name, key)?;
        match text.strip_prefix("0x") {
            Some(hex) => u16::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    }

    fn device(
        &mut self,
        pci: PciAddress,
        name: &str,
        vfs: &[(PciAddress, PciAddress, &str)],
        notes: &mut Vec<String>,
    ) -> Result<(), CaptureError> {
        let mut ports = ReadPort::all(self.snapshot, name);
        let layer = ports.iter().find_map(|port| port.link_layer.as_deref());
        let driver = driver_file(&self.drivers, name, self.module(pci, name, layer), layer)?;
        for port in &mut ports {
            port.judge(driver);
        }
        let with_cable: Vec<&ReadPort> = ports
            .iter()
            .filter(|port| port.cable != Cable::Out)
            .collect();
        let live = with_cable.iter().find(|port| port.cable == Cable::In);
        let shown = live.or(with_cable.first()).copied().or(ports.first());
        let rate = rate(name, shown)?;
        let (model, vendor_chosen) = self.model(pci, name, (driver, rate), vfs)?;
        let model = self.keep_model(model, &vendor_chosen);
        let cabled: Vec<u8> = with_cable.iter().map(|port| port.number).collect();
        for port in &ports {
            if let Cable::Assumed(read) = &port.cable {
                self.found.assumed.insert(format!("devices.{name}.cabled"));
                let number = port.number;
                notes.push(format!(
                    "Port {name}/{number} was not at rest when it was read ({read}): taken for a port with a cable."
                ));
            }
        }
        if shown.is_some_and(|port| !port.has_a_links_rate()) {
            self.chosen(name, "rate");
        }
        let count = ports.last().map_or(1, |port| port.number);
        let (driver, has_interfaces) = (driver.name.clone(), driver.has_interfaces);
        let netdevs = match has_interfaces {
            true => self.interfaces_of_ports(pci, name, count),
            false => Vec::new(),
        };
        self.found.netdevs.extend(netdevs.iter().cloned());
        let topo = match self.gpus.rows.get(name) {
            Some(row) => row.clone(),
            None if self.gpus.rows.is_empty() => Vec::new(),
            // A monitor treats a NIC that is missing in the matrix as far from every GPU.
            None => {
                self.chosen(name, "topo");
                vec![TopoLevel::SYS; self.gpus.profile.pci.len()]
            }
        };
        let numa = self.of_function(pci, name, "numa_node");
        let numa = match numa.and_then(|node| node.parse().ok()) {
            Some(node) => node,
            None => {
                self.chosen(name, "numa");
                self.nearest_numa(&topo)
            }
        };
        self.found.devices.push(Device {
            name: name.to_owned(),
            pci,
            model,
            driver,
            numa,
            netdevs,
            rate,
            role: NicRole::Compute,
            topo: TopoRow(topo),
            cabled,
            ports: count,
        });
        Ok(())
    }

    /// An interface for each port of a device: those that say which port they are for are there, others in their order, and
    /// names are chosen for ports without one.
    fn interfaces_of_ports(&mut self, pci: PciAddress, name: &str, count: u8) -> Vec<String> {
        let own = self.interfaces.get(&pci).cloned().unwrap_or_default();
        let ports: BTreeSet<i64> = own.iter().map(|(port, _)| *port).collect();
        let fits = |port: &i64| (0..i64::from(count)).contains(port);
        let is_said = ports.len() == own.len() && ports.iter().all(fits);
        let in_order = (0..).zip(own.iter().map(|(_, name)| name.clone()));
        let mut by_port: BTreeMap<i64, String> = match is_said {
            true => own.iter().cloned().collect(),
            false => in_order.collect(),
        };
        let of_port = |port: u8| by_port.remove(&i64::from(port)).ok_or(port);
        let found: Vec<Result<String, u8>> = (0..count).map(of_port).collect();
        if found.iter().any(Result::is_err) {
            self.chosen(name, "netdevs");
        }
        let chosen = |port: u8| chosen_interface(name, usize::from(port));
        let names = found.into_iter().map(|name| name.unwrap_or_else(chosen));
        names.collect()
    }

    /// The NUMA node of the nearest GPU; of the first one without a matrix.
    fn nearest_numa(&self, row: &[TopoLevel]) -> i32 {
        let numa = &self.gpus.profile.numa;
        let nearest = row.iter().zip(numa).min_by_key(|(level, _)| **level);
        let nearest = nearest.map(|(_, numa)| numa).or(numa.first());
        nearest.copied().unwrap_or(-1)
    }

    /// The kernel driver of a device. Without a link to it, in a dump: the one that devices without udev
    /// rules are named after (`mlx5_0`); for a renamed device the driver of its vendor's cards, or the only
    /// one with its link layer.
    fn module(&self, pci: PciAddress, name: &str, layer: Option<&str>) -> &'a str {
        let link = |path: String| self.snapshot.target(&path);
        let linked = link(format!("pci/{pci}/driver"));
        let linked = linked.or_else(|| link(format!("infiniband/{name}/device/driver")));
        let is_named_after = |driver: &&&Driver| {
            let stem = driver.name.split('-').next().unwrap_or_default();
            name.starts_with(stem)
        };
        let by_name = || {
            let found = self.drivers.iter().find(is_named_after)?;
            Some(found.kernel_driver.as_str())
        };
        let by_vendor = || self.cards.kernel_driver(self.id(pci, name, "vendor")?);
        let by_layer = || {
            let shows =
                |driver: &&&Driver| layer.is_some() && driver.link_layer_text.as_deref() == layer;
            let mut fitting = self.drivers.iter().filter(shows);
            let first = fitting.next()?;
            let is_only = fitting.next().is_none();
            is_only.then_some(first.kernel_driver.as_str())
        };
        let found = linked.or_else(by_name);
        let is_renamed = !name
            .rsplit_once('_')
            .is_some_and(|(_, number)| is_number(number));
        let found = found.or_else(|| is_renamed.then(|| by_vendor().or_else(by_layer)).flatten());
        found.unwrap_or("unknown")
    }

    /// The device's model, and which of its values were chosen.
    fn model(
        &self,
        pci: PciAddress,
        name: &str,
        (driver, rate): (&Driver, Rate),
        vfs: &[(PciAddress, PciAddress, &str)],
    ) -> Result<(Model, Vec<&'static str>), CaptureError> {
        let snapshot = self.snapshot;
        let text = |key: &str| snapshot.text(&format!("infiniband/{name}/{key}"));
        let id = |key: &str| self.id(pci, name, key);
        let slot = |key: &str| self.of_function(pci, name, key).filter(|it| !it.is_empty());
        let hca_type = text("hca_type").map(str::to_owned);
        let of_hca_type = self.of_hca_type(name);
        let vendor = id("vendor").or_else(|| self.cards.vendor(&driver.kernel_driver));
        let vendor = vendor.ok_or_else(|| CaptureError::NoVendor {
            device: name.to_owned(),
        })?;
        let like = self
            .cards
            .like(driver, vendor, id("device").or(of_hca_type), rate);
        let alike = like.map(|it| it.device);
        let alike = alike.or_else(|| self.cards.any_device(driver, vendor));
        let virtual_one = vfs.iter().find(|(owner, ..)| *owner == pci);
        let vf_hca_type = virtual_one.and_then(|(_, _, vf)| {
            snapshot
                .text(&format!("infiniband/{vf}/hca_type"))
                .map(str::to_owned)
        });
        let vf_device = slot("sriov_vf_device");
        let vf_device = vf_device.and_then(|hex| u16::from_str_radix(hex, 16).ok());
        let width = slot("max_link_width").and_then(|width| width.parse().ok());
        let mut chosen = Vec::new();
        let mut or = |key: &'static str, read: Option<u16>, other: Option<u16>| {
            read.unwrap_or_else(|| {
                chosen.push(key);
                other.unwrap_or_default()
            })
        };
        let model = Model {
            vendor: or("vendor", id("vendor"), Some(vendor)),
            device: or("device", id("device"), of_hca_type.or(alike)),
            vf_device,
            subsystem_vendor: or("subsystem_vendor", id("subsystem_vendor"), Some(vendor)),
            subsystem_device: or(
                "subsystem_device",
                id("subsystem_device"),
                like.map(|it| it.subsystem_device),
            ),
            revision: id("revision")
                .and_then(|it| u8::try_from(it).ok())
                .unwrap_or(0),
            vf_hca_type: vf_hca_type.or(vf_device
                .filter(|_| of_hca_type.is_some())
                .map(|device| format!("MT{device}"))),
            hca_type,
            fw_ver: text("fw_ver").unwrap_or_default().to_owned(),
            board_id: text("board_id").map(str::to_owned),
            hw_rev: text("hw_rev").map(str::to_owned),
            sriov_totalvfs: id("sriov_totalvfs"),
            pcie_speed: slot("max_link_speed")
                .or(like.map(|it| it.pcie_speed.as_str()))
                .unwrap_or("32.0 GT/s PCIe")
                .to_owned(),
            pcie_width: width.or(like.map(|it| it.pcie_width)).unwrap_or(16),
        };
        chosen.extend(slot("max_link_speed").is_none().then_some("pcie_speed"));
        chosen.extend(width.is_none().then_some("pcie_width"));
        chosen.extend(text("fw_ver").is_none().then_some("fw_ver"));
        Ok((model, chosen))
    }

    /// The key of a model, which is added if it is new.
    fn keep_model(&mut self, model: Model, chosen: &[&'static str]) -> String {
        let same = self.found.models.iter().find(|(_, known)| **known == model);
        if let Some((key, _)) = same {
            return key.clone();
        }
        let base = match &model.hca_type {
            Some(hca_type) => hca_type.to_lowercase(),
            None => format!("{:04x}-{:04x}", model.vendor, model.device),
        };
        let mut keys = std::iter::once(base.clone()).chain((2..).map(|it| format!("{base}-{it}")));
        let key = keys
            .find(|key| !self.found.models.contains_key(key))
            .unwrap_or(base);
        for part in chosen {
            self.found.chosen.insert(format!("models.{key}.{part}"));
        }
        self.found.models.insert(key.clone(), model);
        key
    }

    /// Replaces the rate of a port that was down by that of another device of its model, if one was up.
    fn rates(&mut self) {
        let is_chosen = |device: &Device| self.is_chosen(&device.name, "rate");
        let (down, up): (Vec<Device>, Vec<Device>) =
            self.found.devices.iter().cloned().partition(is_chosen);
        let like = |device: &Device| {
            let is_like = |other: &&Device| {
                other.model == device.model
                    && other.driver == device.driver
                    && !other.cabled.is_empty()
            };
            up.iter().find(is_like).map(|other| other.rate)
        };
        let rates: BTreeMap<&str, Rate> = down
            .iter()
            .filter_map(|device| Some((device.name.as_str(), like(device)?)))
            .collect();
        for device in &mut self.found.devices {
            device.rate = rates
                .get(device.name.as_str())
                .copied()
                .unwrap_or(device.rate);
        }
    }

    fn virtual_functions(
        &mut self,
        vfs: &[(PciAddress, PciAddress, &str)],
        notes: &mut Vec<String>,
    ) {
        let mut counts: BTreeMap<PciAddress, u16> = BTreeMap::new();
        for (owner, pci, _) in vfs {
            *counts.entry(*owner).or_default() += 1;
            let own = self.interfaces.get(pci).into_iter().flatten();
            let own = own.map(|(_, name)| name.clone());
            self.found.netdevs.extend(own);
        }
        let Some(each) = counts.values().min().copied() else {
            return;
        };
        if counts.values().any(|count| *count != each) {
            notes.push(format!(
                "Physical functions have different numbers of virtual ones; {each} each are carried."
            ));
        }
        let owners = self.found.devices.iter();
        let owners = owners.filter(|device| counts.contains_key(&device.pci));
        let of = owners.map(|device| device.name.clone()).collect();
        self.found.vfs = Some(Vfs { each, of });
    }

    /// Counters that have the same value on all ports, other than their driver file's.
    fn counters(&mut self, notes: &mut Vec<String>) {
        let mut values: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        let mut rest: BTreeMap<String, u64> = BTreeMap::new();
        for device in &self.found.devices {
            let name = &device.name;
            let driver = self.drivers.iter().find(|it| it.name == device.driver);
            let ports = ReadPort::all(self.snapshot, name).into_iter();
            for (number, folder) in
                ports.flat_map(|port| ["counters", "hw_counters"].map(|it| (port.number, it)))
            {
                let folder = format!("infiniband/{name}/ports/{number}/{folder}");
                for file in self.snapshot.names(&folder) {
                    let value = self.snapshot.text(&format!("{folder}/{file}"));
                    let value = value.and_then(|text| text.parse().ok());
                    let known = driver.and_then(|driver| driver.counter(file));
                    if let (Some(value), Some(known)) = (value, known) {
                        rest.insert(file.to_owned(), known.initial);
                        let value: u64 = value;
                        values
                            .entry(file.to_owned())
                            .or_default()
                            .insert(value.min(known.max()));
                    }
                }
            }
        }
        let mut differing = Vec::new();
        for (name, values) in values {
            match values.first() {
                Some(value) if values.len() == 1 => {
                    if rest.get(&name) != Some(value) {
                        self.found.counters.insert(name, *value);
                    }
                }
                _ => differing.push(name),
            }
        }
        if !differing.is_empty() {
            notes.push(format!(
                "{} counters differ from port to port and start at rest instead: {}.",
                differing.len(),
                differing.join(", ")
            ));
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// The rate of a device's port.
fn rate(device: &str, port: Option<&ReadPort>) -> Result<Rate, CaptureError> {
    let read = port.and_then(|port| port.rate.as_deref());
    let read = read.ok_or_else(|| CaptureError::NoRate {
        device: device.to_owned(),
    })?;
    let words = read.rsplit_once('(').map_or(read, |(_, words)| words);
    let words = words.trim_end_matches(')');
    Rate::by_words(words)
        .or_else(|| Rate::by_words(&format!("{words} SDR")))
        .ok_or_else(|| CaptureError::Rate {
            device: device.to_owned(),
            rate: read.to_owned(),
        })
}

/// A name for an interface that a dump does not contain, derived from its device, within 15 bytes.
fn chosen_interface(device: &str, port: usize) -> String {
    let short: String = device.chars().take(10).collect();
    format!(
        "if-{short}{}",
        if port == 0 {
            String::new()
        } else {
            format!("-{port}")
        }
    )
}

/// The interfaces of each function with the ports that they say they are for, from 0, in this order.
fn interfaces_by_function(snapshot: &Snapshot) -> BTreeMap<PciAddress, Vec<(i64, String)>> {
    let mut found: BTreeMap<PciAddress, Vec<(i64, String)>> = BTreeMap::new();
    let rdma: BTreeSet<PciAddress> = snapshot
        .names("infiniband")
        .into_iter()
        .filter_map(|name| snapshot.address(&format!("infiniband/{name}/device")))
        .collect();
    for name in snapshot.names("net") {
        let pci = snapshot.address(&format!("net/{name}/device"));
        let Some(pci) = pci.filter(|pci| rdma.contains(pci)) else {
            continue;
        };
        let port = snapshot.number(&format!("net/{name}/dev_port"));
        let own = found.entry(pci).or_default();
        own.push((port.unwrap_or(0), name.to_owned()));
    }
    for own in found.values_mut() {
        own.sort();
    }
    found
}
