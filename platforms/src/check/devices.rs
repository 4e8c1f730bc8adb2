//! Checks of each network function: its ports, its row of the topology, its rate, its NUMA node.

use std::collections::BTreeSet;

use super::Check;
use crate::profile::{Device, Model};
use crate::{NicRole, ProblemKind, TopoLevel};

/// The largest number of ports of a device. Most devices have one or two; those of ConnectX-8 cards with four planes have
/// twelve, of which every third carries data (scitix/sichek, default_spec.yaml). More is taken for a mistake.
const MOST_PORTS: u8 = 12;

impl Check<'_> {
    pub(super) fn devices(&mut self) {
        let platform = self.platform;
        let has_gpus = !platform.profile.gpus.pci.is_empty();
        for (number, device) in platform.profile.devices.iter().enumerate() {
            self.ports(number, device);
            self.interfaces(number, device);
            if has_gpus {
                self.topology(number, device);
                self.across_a_switch(number, device);
                self.numa(number, device);
            }
            self.rate(number, device);
            self.function(number, device);
        }
        self.models_in_use();
    }

    fn ports(&mut self, number: usize, device: &Device) {
        let ports = device.ports;
        if !(1..=MOST_PORTS).contains(&ports) {
            let (device, most) = (device.name.clone(), MOST_PORTS);
            self.flag_device(
                number,
                "ports",
                ProblemKind::PortCount {
                    device,
                    ports,
                    most,
                },
            );
        }
        let mut seen = BTreeSet::new();
        for port in &device.cabled {
            let device = device.name.clone();
            let port = *port;
            if !(1..=ports).contains(&port) {
                let problem = ProblemKind::NoSuchPort {
                    device,
                    port,
                    ports,
                };
                self.flag_device(number, "cabled", problem);
            } else if !seen.insert(port) {
                self.flag_device(number, "cabled", ProblemKind::CabledTwice { device, port });
            }
        }
    }

    fn interfaces(&mut self, number: usize, device: &Device) {
        let netdevs = device.netdevs.len();
        let Some(driver) = self.platform.driver(&device.driver) else {
            return;
        };
        let asked = if driver.has_interfaces {
            device.ports
        } else {
            0
        };
        if netdevs != usize::from(asked) {
            let problem = ProblemKind::Interfaces {
                device: device.name.clone(),
                ports: device.ports,
                netdevs,
                asked,
            };
            self.flag_device(number, "netdevs", problem);
        }
    }

    fn topology(&mut self, number: usize, device: &Device) {
        let gpus = &self.platform.profile.gpus;
        let levels = device.topo.0.len();
        let asked = if gpus.have_matrix() {
            gpus.pci.len()
        } else {
            0
        };
        if levels != asked {
            let problem = ProblemKind::TopoLength {
                device: device.name.clone(),
                levels,
                gpus: asked,
            };
            self.flag_device(number, "topo", problem);
        }
        for level in &device.topo.0 {
            let device = device.name.clone();
            match level {
                TopoLevel::X => {
                    let cell = format!("`{device}` and a GPU");
                    self.flag_device(number, "topo", ProblemKind::SelfInCell { cell });
                }
                TopoLevel::NV(_) => {
                    self.flag_device(number, "topo", ProblemKind::NvLinkToNic { device });
                }
                _ => continue,
            }
            break;
        }
    }

    /// A switch is on one NUMA node, and so is everything behind it.
    fn across_a_switch(&mut self, number: usize, device: &Device) {
        let gpus = &self.platform.profile.gpus.numa;
        let mut pairs = device.topo.0.iter().zip(gpus).enumerate();
        let found = pairs.find(|(_, (level, gpu_node))| {
            let is_near = matches!(level, TopoLevel::PIX | TopoLevel::PXB);
            is_near && **gpu_node >= 0 && device.numa >= 0 && **gpu_node != device.numa
        });
        if let Some((gpu, (level, gpu_node))) = found {
            let problem = ProblemKind::NumaAcrossSwitch {
                device: device.name.clone(),
                node: device.numa,
                level: *level,
                gpu,
                gpu_node: *gpu_node,
            };
            self.flag_device(number, "numa", problem);
        }
    }

    /// A port cannot be faster than its slot.
    fn rate(&mut self, number: usize, device: &Device) {
        let Some(model) = self.platform.profile.models.get(&device.model) else {
            return;
        };
        let Some(slot_gbps) = slot_gbps(model) else {
            return;
        };
        let port_gbps = device.rate.gbps();
        if port_gbps > slot_gbps {
            let problem = ProblemKind::TooFast {
                device: device.name.clone(),
                port_gbps,
                slot: format!("{} x{}", model.pcie_speed, model.pcie_width),
                slot_gbps,
            };
            self.flag_device(number, "rate", problem);
        }
    }

    /// Every monitor classifies a NIC on a NUMA node without a GPU as management (`lsd 4.1.2`).
    fn numa(&mut self, number: usize, device: &Device) {
        let gpus = &self.platform.profile.gpus.numa;
        let is_near = gpus.contains(&device.numa);
        if device.role != NicRole::Management && !is_near {
            let problem = ProblemKind::NumaWithoutGpu {
                device: device.name.clone(),
                role: device.role,
                node: device.numa,
            };
            self.flag_device(number, "numa", problem);
        }
    }

    /// A card without function 0 is not found on the bus (PCI 3.0, 3.2.2.3.4).
    fn function(&mut self, number: usize, device: &Device) {
        let devices = &self.platform.profile.devices;
        let first = crate::PciAddress {
            function: 0,
            ..device.pci
        };
        if !devices.iter().any(|other| other.pci == first) {
            let pci = device.pci;
            self.flag_device(number, "pci", ProblemKind::NoFirstFunction { pci, first });
        }
    }

    fn models_in_use(&mut self) {
        let platform = self.platform;
        // A variant may leave a model unused that another one needs.
        if platform.variant.is_some() {
            return;
        }
        let profile = &platform.profile;
        let changes = profile.variants.values().flat_map(|variant| {
            let changed = variant.change.iter().filter_map(|it| it.model.as_ref());
            changed.chain(variant.add.iter().map(|device| &device.model))
        });
        let used: BTreeSet<&String> = profile
            .devices
            .iter()
            .map(|device| &device.model)
            .chain(changes)
            .collect();
        for name in profile.models.keys().filter(|name| !used.contains(name)) {
            let problem = ProblemKind::UnusedModel(name.clone());
            self.flag(&format!("models.{name}"), problem);
        }
    }
}

/// A slot's rate in one direction, Gb/s, rounded down; `None` if its speed is not one of PCIe's.
fn slot_gbps(model: &Model) -> Option<u32> {
    let (_, deci) = super::spelling::PCIE_SPEEDS
        .iter()
        .find(|(text, _)| *text == model.pcie_speed)?;
    Some(deci * u32::from(model.pcie_width) / 10)
}
