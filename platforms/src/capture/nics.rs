//! The network functions of a node: models, devices, ports, counters, virtual functions.

use std::collections::{BTreeMap, BTreeSet};

use super::{CaptureError, Snapshot, gpus};
use crate::profile::{Device, Model, TopoRow, Vfs};
use crate::topo::Topology;
use crate::{Driver, PciAddress, Platforms, Rate, Role, TopoLevel};

/// The NICs that were found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) models: BTreeMap<String, Model>,
    pub(super) devices: Vec<Device>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) vfs: Option<Vfs>,
    /// Their interfaces, those of virtual functions included.
    pub(super) netdevs: BTreeSet<String>,
    /// Paths of values that were chosen because they could not be read.
    pub(super) chosen: BTreeSet<String>,
}

impl Found {
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
    gpus: &gpus::Found,
    known: &Platforms,
    notes: &mut Vec<String>,
) -> Result<Found, CaptureError> {
    let drivers = known.iter().next().map(|(_, platform)| platform);
    let drivers: Vec<&Driver> = drivers.into_iter().flat_map(|it| it.drivers()).collect();
    let mut reading = Reading {
        snapshot,
        gpus,
        drivers,
        interfaces: interfaces_by_function(snapshot),
        found: Found::default(),
    };
    let names = snapshot.names("infiniband");
    if names.is_empty() {
        return Err(CaptureError::NoNics);
    }
    let mut placed = Vec::new();
    let mut virtual_ones = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        let pci = snapshot.address(&format!("infiniband/{name}/device"));
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
    for (pci, name) in &placed {
        reading.device(*pci, name, &virtual_ones)?;
    }
    reading.virtual_functions(&virtual_ones, notes);
    reading.counters(&placed, notes);
    let unlisted = topology.into_iter().flat_map(Topology::nics);
    let unlisted: Vec<String> = unlisted
        .map(|nic| nic.device().to_string())
        .filter(|name| !placed.iter().any(|(_, placed)| placed == name))
        .collect();
    if !unlisted.is_empty() {
        notes.push(format!(
            "The matrix has NICs that sysfs lacks: {}.",
            unlisted.join(", ")
        ));
    }
    Ok(reading.found)
}

struct Reading<'a> {
    snapshot: &'a Snapshot,
    gpus: &'a gpus::Found,
    drivers: Vec<&'a Driver>,
    interfaces: BTreeMap<PciAddress, Vec<String>>,
    found: Found,
}

impl Reading<'_> {
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

    fn device(
        &mut self,
        pci: PciAddress,
        name: &str,
        vfs: &[(PciAddress, PciAddress, &str)],
    ) -> Result<(), CaptureError> {
        let snapshot = self.snapshot;
        let model = self.model(pci, name, vfs);
        let ports: Vec<u8> = self.ports(name);
        let port = |number: u8, key: &str| {
            snapshot.text(&format!("infiniband/{name}/ports/{number}/{key}"))
        };
        let cabled: Vec<u8> = ports
            .iter()
            .copied()
            .filter(|number| port(*number, "state").is_some_and(|it| it.starts_with("4:")))
            .collect();
        let shown = cabled.first().or(ports.first()).copied().unwrap_or(1);
        let layer = port(shown, "link_layer").unwrap_or("InfiniBand");
        let driver = self.driver(pci, name, layer)?;
        let rate = port(shown, "rate").unwrap_or_default();
        let words = rate.rsplit_once('(').map_or(rate, |(_, words)| words);
        let words = words.trim_end_matches(')');
        let rate = Rate::by_words(words)
            .or_else(|| Rate::by_words(&format!("{words} SDR")))
            .ok_or_else(|| CaptureError::Rate {
                device: name.to_owned(),
                rate: rate.to_owned(),
            })?;
        let count = ports.last().copied().unwrap_or(1);
        let (driver, has_interfaces) = (driver.name.clone(), driver.has_interfaces);
        let mut netdevs = self.interfaces.get(&pci).cloned().unwrap_or_default();
        if has_interfaces && netdevs.len() < usize::from(count) {
            self.chosen(name, "netdevs");
            let missing = netdevs.len()..usize::from(count);
            netdevs.extend(missing.map(|port| chosen_interface(name, port)));
        }
        netdevs.truncate(usize::from(count));
        if !has_interfaces {
            netdevs.clear();
        }
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
        let numa = snapshot.number(&format!("pci/{pci}/numa_node"));
        let numa = match numa.and_then(|node| i32::try_from(node).ok()) {
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
            role: Role::Compute,
            topo: TopoRow(topo),
            cabled,
            ports: count,
        });
        Ok(())
    }

    fn ports(&self, name: &str) -> Vec<u8> {
        let ports = self.snapshot.names(&format!("infiniband/{name}/ports"));
        let mut ports: Vec<u8> = ports.into_iter().filter_map(|it| it.parse().ok()).collect();
        ports.sort_unstable();
        ports
    }

    /// The NUMA node of the nearest GPU.
    fn nearest_numa(&self, row: &[TopoLevel]) -> i32 {
        let pairs = row.iter().zip(&self.gpus.profile.numa);
        let nearest = pairs.min_by_key(|(level, _)| **level);
        nearest.map_or(-1, |(_, numa)| *numa)
    }

    /// The driver file for this kernel driver and layer.
    fn driver(&self, pci: PciAddress, name: &str, layer: &str) -> Result<&Driver, CaptureError> {
        // A dump has no link to the driver; without udev rules, device names begin with the driver's
        // name.
        let is_named_after = |driver: &&&Driver| {
            let stem = driver.name.split('-').next().unwrap_or_default();
            name.starts_with(stem)
        };
        let by_name = self.drivers.iter().find(is_named_after);
        let module = self.snapshot.target(&format!("pci/{pci}/driver"));
        let module = module.or(by_name.map(|driver| driver.kernel_driver.as_str()));
        let module = module.unwrap_or("unknown");
        let shown = |driver: &&&Driver| {
            let own = driver.layer.to_string();
            driver.link_layer_text.as_ref().unwrap_or(&own) == layer
        };
        let mut fitting = self.drivers.iter().filter(|it| it.kernel_driver == module);
        fitting
            .find(shown)
            .copied()
            .ok_or_else(|| CaptureError::NoDriver {
                device: name.to_owned(),
                driver: module.to_owned(),
                layer: layer.to_owned(),
            })
    }

    /// The key of the device's model, which is added if it is new.
    fn model(
        &mut self,
        pci: PciAddress,
        name: &str,
        vfs: &[(PciAddress, PciAddress, &str)],
    ) -> String {
        let snapshot = self.snapshot;
        let text = |key: &str| snapshot.text(&format!("infiniband/{name}/{key}"));
        let function = |key: &str| {
            let number = snapshot.number(&format!("pci/{pci}/{key}"))?;
            u16::try_from(number).ok()
        };
        let hca_type = text("hca_type").map(str::to_owned);
        let of_hca_type = |hca_type: &str| hca_type.strip_prefix("MT")?.parse::<u16>().ok();
        let is_on_bus = function("vendor").is_some();
        let device = hca_type.as_deref().and_then(of_hca_type);
        let virtual_one = vfs.iter().find(|(owner, ..)| *owner == pci);
        let vf_hca_type = virtual_one.and_then(|(_, _, vf)| {
            snapshot
                .text(&format!("infiniband/{vf}/hca_type"))
                .map(str::to_owned)
        });
        let vf_device = snapshot.text(&format!("pci/{pci}/sriov_vf_device"));
        let vf_device = vf_device.and_then(|hex| u16::from_str_radix(hex, 16).ok());
        let slot = |key: &str| snapshot.text(&format!("pci/{pci}/{key}"));
        let width = slot("max_link_width").and_then(|width| width.parse().ok());
        let model = Model {
            vendor: function("vendor").unwrap_or(0x15b3),
            device: function("device").or(device).unwrap_or(0x1021),
            vf_device,
            subsystem_vendor: function("subsystem_vendor").unwrap_or(0x15b3),
            subsystem_device: function("subsystem_device").unwrap_or(0),
            revision: function("revision")
                .and_then(|it| u8::try_from(it).ok())
                .unwrap_or(0),
            vf_hca_type: vf_hca_type.or(vf_device
                .filter(|_| device.is_some())
                .map(|device| format!("MT{device}"))),
            hca_type,
            fw_ver: text("fw_ver").unwrap_or_default().to_owned(),
            board_id: text("board_id").map(str::to_owned),
            hw_rev: text("hw_rev").map(str::to_owned),
            sriov_totalvfs: function("sriov_totalvfs"),
            pcie_speed: slot("max_link_speed")
                .unwrap_or("32.0 GT/s PCIe")
                .to_owned(),
            pcie_width: width.unwrap_or(16),
        };
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
        if !is_on_bus {
            for part in [
                "vendor",
                "device",
                "subsystem_vendor",
                "subsystem_device",
                "pcie_speed",
                "pcie_width",
            ] {
                self.found.chosen.insert(format!("models.{key}.{part}"));
            }
        }
        self.found.models.insert(key.clone(), model);
        key
    }

    fn virtual_functions(
        &mut self,
        vfs: &[(PciAddress, PciAddress, &str)],
        notes: &mut Vec<String>,
    ) {
        let mut counts: BTreeMap<PciAddress, u16> = BTreeMap::new();
        for (owner, pci, _) in vfs {
            *counts.entry(*owner).or_default() += 1;
            let own = self.interfaces.get(pci).cloned().unwrap_or_default();
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
    fn counters(&mut self, devices: &[(PciAddress, &str)], notes: &mut Vec<String>) {
        let mut values: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        let mut rest: BTreeMap<String, u64> = BTreeMap::new();
        for ((_, name), device) in devices.iter().zip(&self.found.devices) {
            let driver = self.drivers.iter().find(|it| it.name == device.driver);
            for (number, folder) in self
                .ports(name)
                .into_iter()
                .flat_map(|port| [(port, "counters"), (port, "hw_counters")])
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

/// The interfaces of each function, in the order of their ports.
fn interfaces_by_function(snapshot: &Snapshot) -> BTreeMap<PciAddress, Vec<String>> {
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
    let sorted = found.into_iter().map(|(pci, mut own)| {
        own.sort();
        (pci, own.into_iter().map(|(_, name)| name).collect())
    });
    sorted.collect()
}
