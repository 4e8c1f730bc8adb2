//! The attributes that every PCI function has, bridges and GPUs too (`drivers/pci/pci-sysfs.c`).

use super::config_space::{ConfigHeader, ConfigSpace, Link, Shape, Sriov};
use super::cpu_list::mask;
use super::nodes::{Nodes, up_from};
use crate::{Function, Gpu, PciAddress};

/// The attributes that every PCI function has.
pub(super) struct FunctionHeader<'a> {
    pub(super) pci: PciAddress,
    /// The folder of its bus, from `sys/devices/` on.
    pub(super) bus: &'a str,
    /// Vendor and device.
    pub(super) id: [u16; 2],
    /// Subsystem vendor and device.
    pub(super) subsystem: [u16; 2],
    pub(super) class: u32,
    pub(super) revision: u8,
    pub(super) shape: Shape,
    pub(super) numa: i32,
    pub(super) cpus: Option<&'a str>,
    /// Speed and lanes of its link.
    pub(super) link: (&'a str, u8),
    pub(super) driver: Option<&'a str>,
    pub(super) sriov: Option<Sriov>,
}

impl<'a> FunctionHeader<'a> {
    pub(super) fn of(function: &'a Function) -> Self {
        let count = u16::try_from(function.virtfns.len()).unwrap_or(u16::MAX);
        let sriov = function.sriov_totalvfs.map(|total| Sriov {
            total,
            count,
            offset: function.sriov_offset,
            device: function.sriov_vf_device,
        });
        Self {
            pci: function.pci,
            bus: &function.bus,
            id: [function.vendor, function.device],
            subsystem: [function.subsystem_vendor, function.subsystem_device],
            class: function.class,
            revision: function.revision,
            shape: match function.physfn {
                Some(_) => Shape::Virtual,
                None => Shape::Endpoint,
            },
            numa: function.numa,
            cpus: function.cpus.as_deref(),
            link: (&function.pcie_speed, function.pcie_width),
            driver: function.driver.as_deref(),
            sriov,
        }
    }

    pub(super) fn of_gpu(gpu: &'a Gpu) -> Self {
        Self {
            pci: gpu.pci,
            bus: &gpu.bus,
            id: [gpu.vendor, gpu.device],
            // The subsystem has the vendor's id and no number.
            subsystem: [gpu.vendor, 0],
            // A 3D controller.
            class: 0x03_02_00,
            revision: 0xa1,
            shape: Shape::Endpoint,
            numa: gpu.numa,
            cpus: gpu.cpus.as_deref(),
            link: (&gpu.pcie_speed, gpu.pcie_width),
            driver: gpu.driver.as_deref(),
            sriov: None,
        }
    }

    /// The function's attributes, and its links on the bus.
    pub(super) fn attributes(&self, nodes: &mut Nodes) {
        let Self {
            pci,
            bus,
            id: [vendor, device],
            subsystem: [subsystem_vendor, subsystem_device],
            class,
            link: (speed, width),
            ..
        } = self;
        let up = up_from(bus, 1);
        nodes.folder("");
        nodes.link(
            format!("/sys/bus/pci/devices/{pci}"),
            format!("../../../devices/{bus}/{pci}"),
        );
        nodes.link("subsystem", format!("{up}/bus/pci"));
        nodes.file("vendor", format_args!("{vendor:#06x}"));
        nodes.file("device", format_args!("{device:#06x}"));
        nodes.file("subsystem_vendor", format_args!("{subsystem_vendor:#06x}"));
        nodes.file("subsystem_device", format_args!("{subsystem_device:#06x}"));
        nodes.file("class", format_args!("{class:#08x}"));
        nodes.file("revision", format_args!("{:#04x}", self.revision));
        nodes.file("numa_node", self.numa);
        let cpus = self.cpus.unwrap_or_default();
        nodes.file("local_cpulist", cpus);
        nodes.file("local_cpus", mask(cpus));
        nodes.file("irq", 0);
        nodes.file("enable", 1);
        nodes.file("current_link_speed", speed);
        nodes.file("max_link_speed", speed);
        nodes.file("current_link_width", width);
        nodes.file("max_link_width", width);
        let alias = self.modalias();
        nodes.file("modalias", &alias);
        let mut uevent = String::new();
        if let Some(driver) = self.driver {
            nodes.link("driver", format!("{up}/bus/pci/drivers/{driver}"));
            let bound = format!("/sys/bus/pci/drivers/{driver}/{pci}");
            nodes.link(bound, format!("../../../../devices/{bus}/{pci}"));
            uevent += &format!("DRIVER={driver}\n");
        }
        uevent += &format!(
            "PCI_CLASS={class:X}\nPCI_ID={vendor:04X}:{device:04X}\n\
             PCI_SUBSYS_ID={subsystem_vendor:04X}:{subsystem_device:04X}\n\
             PCI_SLOT_NAME={pci}\nMODALIAS={alias}"
        );
        nodes.file("uevent", uevent);
        nodes.bytes("config", self.config());
        nodes.bytes("resource", RESOURCE.repeat(self.regions()).into_bytes());
        if let Shape::Bridge(_, [_, secondary, subordinate]) = self.shape {
            nodes.file("secondary_bus_number", secondary);
            nodes.file("subordinate_bus_number", subordinate);
        }
    }

    /// How many regions `resource` lists: those of the header and of the expansion ROM, six of SR-IOV, four
    /// windows of a bridge (`PCI_NUM_RESOURCES`, `PCI_BRIDGE_RESOURCES`).
    fn regions(&self) -> usize {
        match self.shape {
            Shape::Bridge(..) => 17,
            _ if self.sriov.is_some() => 13,
            _ => 7,
        }
    }

    fn modalias(&self) -> String {
        let Self {
            id: [vendor, device],
            subsystem: [sub_vendor, sub_device],
            class,
            ..
        } = self;
        format!(
            "pci:v{vendor:08X}d{device:08X}sv{sub_vendor:08X}sd{sub_device:08X}\
             bc{:02x}sc{:02x}i{:02x}",
            class >> 16 & 0xff,
            class >> 8 & 0xff,
            class & 0xff
        )
    }

    fn config(&self) -> Vec<u8> {
        let header = ConfigHeader {
            id: self.id,
            subsystem: self.subsystem,
            class: self.class,
            revision: self.revision,
            shape: self.shape,
        };
        let (speed, width) = self.link;
        let space = ConfigSpace::of(&header, Link::of(speed, width));
        let space = match &self.sriov {
            Some(sriov) => space.with_sriov(sriov),
            None => space,
        };
        space.into_bytes()
    }
}

/// A line of `resource` for an unused region (`resource_show`).
const RESOURCE: &str = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_what_the_attributes_say() {
        let header = FunctionHeader {
            pci: "0000:0c:00.0".parse().unwrap(),
            bus: "pci0000:0b/0000:0b:01.0",
            id: [0x15b3, 0x1021],
            subsystem: [0x15b3, 0x0038],
            class: 0x02_07_00,
            revision: 0,
            shape: Shape::Endpoint,
            numa: 0,
            cpus: None,
            link: ("32.0 GT/s PCIe", 16),
            driver: None,
            sriov: None,
        };
        let config = header.config();
        assert_eq!(config[..4], [0xb3, 0x15, 0x21, 0x10]);
        assert_eq!(config[0x09..0x0c], [0x00, 0x07, 0x02]);
        assert_eq!(config.len(), 4096);
        assert_eq!(
            header.modalias(),
            "pci:v000015B3d00001021sv000015B3sd00000038bc02sc07i00"
        );
    }
}
