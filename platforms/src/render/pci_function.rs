//! A network function on the PCI bus (`drivers/pci/pci-sysfs.c`, `drivers/pci/iov.c`).

use super::config_space::{self, ConfigSpace, Link, Shape, Sriov};
use super::{Nodes, Of, Part, host, net, rdma, up_from};
use crate::{Function, Gpu, Machine, PciAddress};

/// A part that belongs to the function itself.
pub(super) enum PciPart<'a> {
    /// Its own attributes.
    Own(&'a Function),
    /// A folder for its devices of one class.
    Glue {
        of: &'a Function,
        class: &'static str,
    },
}

/// Every part of a function.
pub(super) fn parts<'a>(machine: &Machine, function: &'a Function, parts: &mut Vec<Part<'a>>) {
    let root = host::folder(&function.bus, &function.pci);
    let glue = |class: &'static str| Part {
        root: format!("{root}/{class}"),
        of: Of::Pci(PciPart::Glue {
            of: function,
            class,
        }),
    };
    parts.push(Part {
        root: root.clone(),
        of: Of::Pci(PciPart::Own(function)),
    });
    if function.in_other_namespace {
        return;
    }
    if let (true, Some(rdma)) = (machine.class_present, &function.rdma) {
        parts.push(glue("infiniband"));
        parts.push(glue("infiniband_verbs"));
        if rdma.ports.values().any(|port| port.umad.is_some()) {
            parts.push(glue("infiniband_mad"));
        }
        rdma::parts(&root, function, rdma, parts);
    }
    if !function.netdevs.is_empty() {
        parts.push(glue("net"));
        for netdev in &function.netdevs {
            net::parts(&root, function, netdev, parts);
        }
    }
}

impl PciPart<'_> {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Own(_) => "pci",
            Self::Glue { class, .. } => class,
        }
    }

    pub(super) fn incarnation(&self) -> (u32, u32) {
        let (Self::Own(function) | Self::Glue { of: function, .. }) = self;
        (function.incarnation, 0)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(a), Self::Own(b)) => same(a, b),
            (Self::Glue { .. }, Self::Glue { .. }) => true,
            _ => false,
        }
    }

    pub(super) fn nodes(&self, nodes: &mut Nodes) {
        match self {
            Self::Own(function) => own(function, nodes),
            Self::Glue { .. } => nodes.folder(""),
        }
    }
}

/// Whether the two have the same PCI attributes, apart from their devices.
fn same(a: &Function, b: &Function) -> bool {
    let Function {
        pci,
        bus,
        incarnation,
        vendor,
        device,
        subsystem_vendor,
        subsystem_device,
        class,
        revision,
        numa,
        cpus,
        pcie_speed,
        pcie_width,
        driver,
        driver_file: _,
        sriov_totalvfs,
        sriov_offset,
        sriov_vf_device,
        virtfns,
        physfn,
        topo: _,
        rdma: _,
        netdevs: _,
        in_other_namespace: _,
    } = a;
    *pci == b.pci
        && *bus == b.bus
        && *incarnation == b.incarnation
        && [*vendor, *device] == [b.vendor, b.device]
        && [*subsystem_vendor, *subsystem_device] == [b.subsystem_vendor, b.subsystem_device]
        && *class == b.class
        && *revision == b.revision
        && *numa == b.numa
        && *cpus == b.cpus
        && *pcie_speed == b.pcie_speed
        && *pcie_width == b.pcie_width
        && *driver == b.driver
        && *sriov_totalvfs == b.sriov_totalvfs
        && [*sriov_offset, *sriov_vf_device] == [b.sriov_offset, b.sriov_vf_device]
        && *virtfns == b.virtfns
        && *physfn == b.physfn
}

fn own(function: &Function, nodes: &mut Nodes) {
    let Function { physfn, .. } = function;
    let header = Header::of(function);
    header.attributes(nodes);
    if let Some(total) = function.sriov_totalvfs {
        nodes.file("sriov_totalvfs", total);
        nodes.file("sriov_numvfs", function.virtfns.len());
        nodes.file("sriov_drivers_autoprobe", 1);
        nodes.file("sriov_offset", function.sriov_offset);
        nodes.file("sriov_stride", 1);
        nodes.file(
            "sriov_vf_device",
            format_args!("{:x}", function.sriov_vf_device),
        );
        nodes.file("sriov_vf_total_msix", 0);
    }
    for (number, virtfn) in function.virtfns.iter().enumerate() {
        nodes.link(format!("virtfn{number}"), format!("../{virtfn}"));
    }
    if let Some(physfn) = physfn {
        nodes.link("physfn", format!("../{physfn}"));
    }
}

/// The attributes that every PCI function has.
pub(super) struct Header<'a> {
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

impl<'a> Header<'a> {
    fn of(function: &'a Function) -> Self {
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
        let header = config_space::Header {
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

/// A list of CPUs (`0-3,8`) as a mask in the kernel's notation: words of 32 bits, the highest first
/// (`%*pb`).
pub(super) fn mask(list: &str) -> String {
    let mut words: Vec<u32> = vec![0];
    for cpu in cpus_of(list) {
        let word = usize::from(cpu / 32);
        words.resize(words.len().max(word + 1), 0);
        words[word] |= 1 << (cpu % 32);
    }
    let words: Vec<String> = words
        .iter()
        .rev()
        .map(|word| format!("{word:08x}"))
        .collect();
    words.join(",")
}

/// The numbers of a list (`0-3,8`). What is not a range of numbers is left out.
pub(super) fn cpus_of(list: &str) -> impl Iterator<Item = u16> {
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cpus_becomes_the_kernels_mask() {
        assert_eq!(mask("0-3,33"), "00000002,0000000f");
        assert_eq!(mask(""), "00000000");
    }

    #[test]
    fn the_header_says_what_the_attributes_say() {
        let header = Header {
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
