//! The GPUs of a node, and each NIC's levels to them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Snapshot;
use crate::profile::Gpus;
use crate::topo::Topology;
use crate::{PciAddress, TopoLevel};

/// The GPUs that were found.
pub(super) struct FoundGpus {
    /// Their description in the profile.
    pub(super) profile: Gpus,
    /// The keys of `gpus` whose values were neither read nor told, but chosen.
    pub(super) chosen: Vec<&'static str>,
    /// The row of each NIC, by its name.
    pub(super) rows: BTreeMap<String, Vec<TopoLevel>>,
}

/// The parts of the metadata collector's file that are needed here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    driver_version: String,
    gpus: Vec<WrittenGpu>,
    nic_topology: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct WrittenGpu {
    pci_address: String,
    device_name: String,
}

/// A GPU that a tool listed without NICs, as far as it tells it.
struct Told {
    pci: Option<PciAddress>,
    numa_node: Option<i32>,
    /// The line of the tool's output.
    line: String,
}

/// The GPUs that a tool listed without NICs, in its order.
fn listed(snapshot: &Snapshot) -> Vec<Told> {
    let numbers = snapshot.names("gpu").into_iter();
    let mut numbers: Vec<usize> = numbers.filter_map(|number| number.parse().ok()).collect();
    numbers.sort_unstable();
    let of = |number: usize| {
        let text = |key: &str| snapshot.text(&format!("gpu/{number}/{key}"));
        Told {
            pci: text("pci").and_then(|pci| pci.parse().ok()),
            numa_node: text("numa_node").and_then(|node| node.parse().ok()),
            line: text("line").unwrap_or_default().to_owned(),
        }
    };
    numbers.into_iter().map(of).collect()
}

/// The PCI vendor of AMD's GPUs (PCI ID database).
pub(super) const AMD: u16 = 0x1002;

/// Finds the GPUs by their PCI class; their order and names are the collector's, or their order is that of a list.
pub(super) fn gpus(
    snapshot: &Snapshot,
    topology: Option<&Topology>,
    notes: &mut Vec<String>,
) -> FoundGpus {
    let written = snapshot.text("gpu_metadata.json");
    let written = written.and_then(|text| serde_json::from_str(text).ok());
    let written: Written = written.unwrap_or_default();
    let mut on_bus: Vec<PciAddress> = snapshot
        .names("pci")
        .into_iter()
        .filter(|address| is_gpu(snapshot, address))
        .filter_map(|address| address.parse().ok())
        .collect();
    let told = listed(snapshot);
    let place = |pci: &PciAddress| {
        let same = |gpu: &WrittenGpu| gpu.pci_address.parse() == Ok(*pci);
        let written = written.gpus.iter().position(same);
        let told = told.iter().position(|told| told.pci == Some(*pci));
        written.or(told).unwrap_or(usize::MAX)
    };
    on_bus.sort_by_key(|pci| (place(pci), *pci));
    let of_matrix = topology.map_or(0, |topology| topology.gpus().len());
    let mut chosen = Vec::new();
    let all_told: Option<Vec<PciAddress>> = told.iter().map(|told| told.pci).collect();
    let is_strange = |pci: &PciAddress| !on_bus.is_empty() && !on_bus.contains(pci);
    let strange = told
        .iter()
        .filter_map(|told| Some((told.pci.filter(is_strange)?, &told.line)));
    notes.extend(strange.map(|(pci, line)| {
        format!("Line {line} of the tool's output lists a GPU at {pci}, where the bus has none.")
    }));
    if on_bus.is_empty() {
        on_bus = all_told.unwrap_or_default();
    }
    let many = of_matrix.max(told.len());
    if on_bus.is_empty() && many > 0 {
        on_bus = free_addresses(snapshot, many);
        chosen.push("pci");
        notes.push(format!(
            "The addresses of the {many} GPUs are invented: neither the bus nor the tool's output tells them."
        ));
    }
    if on_bus.is_empty() {
        notes.push("No GPU was found and no matrix was given: a monitor must refuse to start on such a machine.".to_owned());
    } else if many > 0 && many != on_bus.len() {
        let (what, rows) = match of_matrix {
            0 => ("tool's output", ""),
            _ => ("matrix", ": rows are taken as they are"),
        };
        notes.push(format!(
            "The {what} has {many} GPUs, the bus {}{rows}.",
            on_bus.len()
        ));
    }
    let numa = |(number, pci): (usize, &PciAddress)| {
        let read = snapshot.number(&format!("pci/{pci}/numa_node"));
        let read = read.and_then(|node| i32::try_from(node).ok());
        let rendered = topology.and_then(|topology| Some(topology.gpus().get(number)?.numa_node()));
        read.or(rendered).or_else(|| told.get(number)?.numa_node)
    };
    let numa: Vec<Option<i32>> = on_bus.iter().enumerate().map(numa).collect();
    if numa.contains(&None) {
        chosen.push("numa");
    }
    let numa: Vec<i32> = numa.into_iter().map(|node| node.unwrap_or(-1)).collect();
    let first = on_bus.first();
    let id = |key: &str| {
        let read = first.and_then(|pci| snapshot.number(&format!("pci/{pci}/{key}")));
        read.and_then(|id| u16::try_from(id).ok())
    };
    let driver = first.and_then(|pci| snapshot.target(&format!("pci/{pci}/driver")));
    let model = written.gpus.first().map(|gpu| gpu.device_name.clone());
    let version = Some(written.driver_version).filter(|version| !version.is_empty());
    let (vendor, device) = (id("vendor"), id("device"));
    for (key, is_read) in [
        ("model", model.is_some()),
        ("vendor", vendor.is_some()),
        ("device", device.is_some()),
        ("kernel_driver", driver.is_some()),
        ("driver_version", version.is_some()),
    ] {
        chosen.extend((!is_read).then_some(key));
    }
    // Only the tools of AMD list GPUs without NICs.
    let usual = match told.is_empty() {
        true => (0x10de, 0x2330, "nvidia"),
        false => (AMD, 0x74a1, "amdgpu"),
    };
    let profile = Gpus {
        model: model.unwrap_or_else(|| "GPU".to_owned()),
        vendor: vendor.unwrap_or(usual.0),
        device: device.unwrap_or(usual.1),
        kernel_driver: driver.unwrap_or(usual.2).to_owned(),
        driver_version: version.unwrap_or_else(|| "0".to_owned()),
        between: topology.and_then(between),
        numa_texts: topology.map(|it| numa_texts(it, &numa)).unwrap_or_default(),
        numa,
        pci: on_bus,
    };
    let rows = match topology {
        Some(topology) => topology
            .nic_levels()
            .map(|(nic, levels)| (nic.device().to_string(), levels.to_vec()))
            .collect(),
        None => written
            .nic_topology
            .into_iter()
            .filter_map(|(name, row)| {
                let row: Option<Vec<TopoLevel>> =
                    row.iter().map(|level| TopoLevel::by_word(level)).collect();
                Some((name, row?))
            })
            .collect(),
    };
    FoundGpus {
        profile,
        chosen,
        rows,
    }
}

impl FoundGpus {
    pub(super) fn pci(&self) -> Vec<PciAddress> {
        self.profile.pci.clone()
    }

    /// `8 NVIDIA H100 80GB HBM3`.
    pub(super) fn rendered(&self) -> String {
        match self.profile.pci.len() {
            0 => "no GPU".to_owned(),
            many => format!("{many} {}", self.profile.model),
        }
    }
}

/// Display and 3D controllers (`0x03…`) and processing accelerators (`0x12…`) of NVIDIA and AMD.
fn is_gpu(snapshot: &Snapshot, address: &str) -> bool {
    let class = snapshot.number(&format!("pci/{address}/class"));
    let vendor = snapshot.number(&format!("pci/{address}/vendor"));
    let of_class = class.is_some_and(|class| matches!(class >> 16, 0x03 | 0x12));
    of_class && matches!(vendor, Some(0x10de | 0x1002))
}

/// Addresses that no function has, from bus c0 on.
fn free_addresses(snapshot: &Snapshot, many: usize) -> Vec<PciAddress> {
    let free = (0xc0..=0xff_u8).map(|bus| PciAddress {
        domain: 0,
        bus,
        device: 0,
        function: 0,
    });
    let taken = |pci: &PciAddress| {
        let is_it = |device: &str| snapshot.address(device) == Some(*pci);
        let devices = snapshot.names("infiniband").into_iter();
        let mut devices = devices.map(|name| format!("infiniband/{name}/device"));
        devices.any(|path| is_it(&path))
    };
    free.filter(|pci| !taken(pci)).take(many).collect()
}

/// The level between any two GPUs, if it is the same for all.
fn between(topology: &Topology) -> Option<TopoLevel> {
    let gpus = topology.gpus().len();
    let rows = topology.levels().iter().take(gpus).enumerate();
    let mut pairs = rows.flat_map(|(a, row)| row.iter().take(gpus).skip(a + 1));
    let first = *pairs.next()?;
    pairs.all(|level| *level == first).then_some(first)
}

/// What is printed as a NUMA node, if that is not the number.
fn numa_texts(topology: &Topology, numa: &[i32]) -> BTreeMap<i32, String> {
    let pairs = topology.gpus().iter().zip(numa);
    let pairs = pairs.filter_map(|(gpu, node)| Some((*node, gpu.numa.clone()?)));
    pairs
        .filter(|(node, text)| *text != node.to_string())
        .collect()
}
