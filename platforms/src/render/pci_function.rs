//! A network function on the PCI bus (`drivers/pci/pci-sysfs.c`, `drivers/pci/iov.c`).

use super::header::FunctionHeader;
use super::{Nodes, Of, Part, host, net, rdma};
use crate::{Function, Machine};

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
    let header = FunctionHeader::of(function);
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
