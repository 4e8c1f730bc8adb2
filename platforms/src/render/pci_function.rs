//! A network function on the PCI bus (`drivers/pci/pci-sysfs.c`, `drivers/pci/iov.c`).

use super::{Nodes, Of, Part, host, net, rdma};
use crate::{Function, Machine, PciAddress};

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
    let root = host::folder(&function.pci, function.physfn.as_ref());
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
    let Function { pci, physfn, .. } = function;
    let header = Header::of(function);
    header.attributes(host::folder(pci, physfn.as_ref()).as_str(), nodes);
    for (name, speed) in [
        ("current_link_speed", true),
        ("max_link_speed", true),
        ("current_link_width", false),
        ("max_link_width", false),
    ] {
        match speed {
            true => nodes.file(name, &function.pcie_speed),
            false => nodes.file(name, function.pcie_width),
        }
    }
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
    /// Vendor and device.
    pub(super) id: [u16; 2],
    /// Subsystem vendor and device.
    pub(super) subsystem: [u16; 2],
    pub(super) class: u32,
    pub(super) revision: u8,
    pub(super) numa: i32,
    pub(super) cpus: Option<&'a str>,
    pub(super) driver: Option<&'a str>,
    /// How many regions `resource` lists: those of the header, and those of SR-IOV.
    pub(super) regions: usize,
}

impl<'a> Header<'a> {
    fn of(function: &'a Function) -> Self {
        Self {
            pci: function.pci,
            id: [function.vendor, function.device],
            subsystem: [function.subsystem_vendor, function.subsystem_device],
            class: function.class,
            revision: function.revision,
            numa: function.numa,
            cpus: function.cpus.as_deref(),
            driver: function.driver.as_deref(),
            regions: if function.sriov_totalvfs.is_some() {
                13
            } else {
                7
            },
        }
    }

    /// The attributes of the function whose folder is `folder`, and its links on the bus.
    pub(super) fn attributes(&self, folder: &str, nodes: &mut Nodes) {
        let Self {
            pci,
            id: [vendor, device],
            subsystem,
            class,
            ..
        } = self;
        let [subsystem_vendor, subsystem_device] = subsystem;
        let below_sys = folder.trim_start_matches("sys/");
        nodes.folder("");
        nodes.link(
            format!("/sys/bus/pci/devices/{pci}"),
            format!("../../../{below_sys}"),
        );
        nodes.link("subsystem", "../../../bus/pci");
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
        let alias = self.modalias();
        nodes.file("modalias", &alias);
        let mut uevent = String::new();
        if let Some(driver) = self.driver {
            nodes.link("driver", format!("../../../bus/pci/drivers/{driver}"));
            let bound = format!("/sys/bus/pci/drivers/{driver}/{pci}");
            nodes.link(bound, format!("../../../../{below_sys}"));
            uevent += &format!("DRIVER={driver}\n");
        }
        uevent += &format!(
            "PCI_CLASS={class:X}\nPCI_ID={vendor:04X}:{device:04X}\n\
             PCI_SUBSYS_ID={subsystem_vendor:04X}:{subsystem_device:04X}\n\
             PCI_SLOT_NAME={pci}\nMODALIAS={alias}"
        );
        nodes.file("uevent", uevent);
        nodes.bytes("config", self.config());
        nodes.bytes("resource", RESOURCE.repeat(self.regions).into_bytes());
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

    /// The first 64 bytes of the configuration space: a type 0 header without regions, enough for
    /// `lspci`.
    fn config(&self) -> Vec<u8> {
        let mut header = vec![0; 64];
        let [_, base, sub, interface] = self.class.to_be_bytes();
        header[0x00..0x02].copy_from_slice(&self.id[0].to_le_bytes());
        header[0x02..0x04].copy_from_slice(&self.id[1].to_le_bytes());
        // Command: memory space and bus master. Status: none.
        header[0x04] = 0x06;
        header[0x08..0x0c].copy_from_slice(&[self.revision, interface, sub, base]);
        header[0x2c..0x2e].copy_from_slice(&self.subsystem[0].to_le_bytes());
        header[0x2e..0x30].copy_from_slice(&self.subsystem[1].to_le_bytes());
        header
    }
}

/// A line of `resource` for an unused region (`resource_show`).
const RESOURCE: &str = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";

/// A list of CPUs (`0-3,8`) as a mask in the kernel's notation: words of 32 bits, the highest first
/// (`%*pb`).
fn mask(list: &str) -> String {
    let mut words: Vec<u32> = vec![0];
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.parse::<u16>(), last.parse::<u16>()) else {
            continue;
        };
        for cpu in first..=last {
            let word = usize::from(cpu / 32);
            words.resize(words.len().max(word + 1), 0);
            words[word] |= 1 << (cpu % 32);
        }
    }
    let words: Vec<String> = words
        .iter()
        .rev()
        .map(|word| format!("{word:08x}"))
        .collect();
    words.join(",")
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
            id: [0x15b3, 0x1021],
            subsystem: [0x15b3, 0x0038],
            class: 0x02_07_00,
            revision: 0,
            numa: 0,
            cpus: None,
            driver: None,
            regions: 7,
        };
        let config = header.config();
        assert_eq!(config[..4], [0xb3, 0x15, 0x21, 0x10]);
        assert_eq!(config[0x09..0x0c], [0x00, 0x07, 0x02]);
        assert_eq!(
            header.modalias(),
            "pci:v000015B3d00001021sv000015B3sd00000038bc02sc07i00"
        );
    }
}
