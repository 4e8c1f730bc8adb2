//! The parts of the node that belong to no network function: classes, bridges, GPUs, other
//! interfaces, boot id, routes, metadata, clock.

use std::collections::BTreeSet;

use super::{
    Nodes, Of, Part, bridge, header::FunctionHeader, net, net_dev, net_dev::NetDevices, system,
};
use crate::{Bridge, Clock, Gpu, Machine, MetadataFile, PciAddress, Route, Routes};

/// A part of the host.
pub(super) enum HostPart<'a> {
    /// The folders that always exist.
    Folders,
    /// The RDMA classes.
    Classes,
    /// CPUs and memory.
    System(&'a Machine),
    /// A PCIe bridge.
    Bridge(&'a Bridge),
    /// The folder of a driver on the PCI bus.
    Driver,
    /// A GPU's PCI function.
    Gpu(&'a Gpu),
    /// The boot id.
    BootId(&'a str),
    /// The route table.
    Routes(&'a Routes),
    /// The table of interfaces.
    NetDevices(NetDevices<'a>),
    /// The collector's file.
    Metadata(&'a MetadataFile),
    /// The clock file that a monitor may read instead of the system's clock.
    Clock(Clock),
}

/// The host's parts; with another machine given, only those that may differ from it.
pub(super) fn parts<'a>(
    machine: &'a Machine,
    other: Option<(&Machine, &BTreeSet<PciAddress>)>,
    parts: &mut Vec<Part<'a>>,
) {
    let other_machine = other.map(|(other, _)| other);
    let differs = |same: &dyn Fn(&Machine) -> bool| other_machine.is_none_or(|other| !same(other));
    let mut add = |root: String, of: HostPart<'a>| parts.push(part(root, of));

    if other.is_none() {
        add(String::new(), HostPart::Folders);
    }
    if machine.class_present && differs(&|other| other.class_present) {
        add("sys/class".to_owned(), HostPart::Classes);
    }
    if other.is_none() {
        add("sys/devices/system".to_owned(), HostPart::System(machine));
        for bridge in machine.bridges.iter() {
            let root = folder(&bridge.bus, &bridge.pci);
            add(root, HostPart::Bridge(bridge));
        }
    }
    let same_functions = other.is_some_and(|(_, touched)| touched.is_empty());
    let same_hardware = |other: &Machine| same_functions && other.gpus == machine.gpus;
    if differs(&|other| same_hardware(other) || drivers(other).eq(drivers(machine))) {
        for driver in drivers(machine).flatten().collect::<BTreeSet<_>>() {
            add(format!("sys/bus/pci/drivers/{driver}"), HostPart::Driver);
        }
    }
    if differs(&|other| other.gpus == machine.gpus) {
        for gpu in machine.gpus.iter() {
            add(folder(&gpu.bus, &gpu.pci), HostPart::Gpu(gpu));
        }
    }
    if differs(&|other| other.boot_id == machine.boot_id) {
        add(
            "proc/sys/kernel/random".to_owned(),
            HostPart::BootId(&machine.boot_id),
        );
    }
    if differs(&|other| other.routes == machine.routes) {
        add("proc/net".to_owned(), HostPart::Routes(&machine.routes));
    }
    if other.is_none_or(|(other, touched)| net_dev::differ(other, machine, touched)) {
        let devices = HostPart::NetDevices(NetDevices(machine));
        add("proc/net".to_owned(), devices);
    }
    if differs(&|other| other.metadata == machine.metadata) {
        add(
            "var/lib/nvsentinel".to_owned(),
            HostPart::Metadata(&machine.metadata),
        );
    }
    if differs(&|other| other.clock == machine.clock) {
        parts.push(clock(machine));
    }
    for (name, netdev) in &machine.interfaces {
        if differs(&|other| other.interfaces.get(name).is_some_and(|was| was == netdev)) {
            net::virtual_parts(netdev, parts);
        }
    }
}

/// The part with the clock file.
pub(super) fn clock(machine: &Machine) -> Part<'_> {
    part("nicdrill".to_owned(), HostPart::Clock(machine.clock))
}

fn part(root: String, of: HostPart<'_>) -> Part<'_> {
    Part {
        root,
        of: Of::Host(of),
    }
}

/// The folder of a PCI function on this bus.
pub(super) fn folder(bus: &str, pci: &PciAddress) -> String {
    format!("sys/devices/{bus}/{pci}")
}

fn drivers(machine: &Machine) -> impl Iterator<Item = Option<&str>> {
    let functions = machine
        .functions
        .values()
        .map(|function| function.driver.as_deref());
    functions.chain(machine.gpus.iter().map(|gpu| gpu.driver.as_deref()))
}

impl HostPart<'_> {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Folders => "folders",
            Self::Classes => "classes",
            Self::System(_) => "system",
            Self::Bridge(_) => "bridge",
            Self::Driver => "driver",
            Self::Gpu(_) => "gpu",
            Self::BootId(_) => "boot_id",
            Self::Routes(_) => "routes",
            Self::NetDevices(_) => "net_devices",
            Self::Metadata(_) => "metadata",
            Self::Clock(_) => "clock",
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Driver, Self::Driver))
    }

    pub(super) fn nodes(&self, nodes: &mut Nodes) {
        match self {
            Self::Folders => {
                for folder in [
                    "sys/class/net",
                    "sys/bus/pci/devices",
                    "sys/bus/pci/drivers",
                    "sys/devices",
                    "proc/net",
                    "proc/sys/kernel/random",
                    "var/lib/nvsentinel",
                    "var/run/nic_health_monitor",
                    "nicdrill",
                ] {
                    nodes.folder(format!("/{folder}"));
                }
            }
            Self::Classes => {
                nodes.folder("infiniband");
                nodes.folder("infiniband_mad");
                nodes.folder("infiniband_verbs");
                // `IB_USER_MAD_ABI_VERSION`, `IB_USER_VERBS_ABI_VERSION` of include/uapi/rdma.
                nodes.file("infiniband_mad/abi_version", 5);
                nodes.file("infiniband_verbs/abi_version", 6);
            }
            Self::System(machine) => system::nodes(machine, nodes),
            Self::Bridge(bridge) => bridge::header(bridge).attributes(nodes),
            Self::Driver => nodes.folder(""),
            Self::Gpu(gpu) => FunctionHeader::of_gpu(gpu).attributes(nodes),
            Self::BootId(boot_id) => nodes.file("boot_id", boot_id),
            Self::Routes(Routes::Rows(rows)) => nodes.bytes("route", table(rows).into_bytes()),
            Self::Routes(Routes::Text(text)) => nodes.bytes("route", text.clone().into_bytes()),
            Self::NetDevices(devices) => nodes.bytes("dev", devices.table().into_bytes()),
            Self::Routes(Routes::Missing) | Self::Metadata(MetadataFile::Missing) => {}
            Self::Metadata(MetadataFile::Written(metadata)) => {
                nodes.bytes("gpu_metadata.json", metadata.to_json().into_bytes());
            }
            Self::Metadata(MetadataFile::Text(text)) => {
                nodes.bytes("gpu_metadata.json", text.clone().into_bytes());
            }
            Self::Clock(Clock { wall_ns, boot_ns }) => {
                nodes.file("clock", format_args!("{wall_ns} {boot_ns}"));
            }
        }
    }
}

/// The table as the kernel prints it (`net/ipv4/fib_trie.c`, `fib_route_seq_show`): addresses as
/// numbers in the machine's byte order, here little-endian; lines padded to 127 characters.
fn table(rows: &[Route]) -> String {
    let padded = |line: String| format!("{line:<127}\n");
    let mut text = padded(
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
            .to_owned(),
    );
    for row in rows {
        let word = u32::from_le_bytes;
        let mask = u32::MAX
            .checked_shl(32 - u32::from(row.prefix))
            .unwrap_or(0)
            .to_be_bytes();
        let (up, by_gateway) = (1, if row.gateway == [0; 4] { 0 } else { 2 });
        text += &padded(format!(
            "{}\t{:08X}\t{:08X}\t{:04X}\t0\t0\t{}\t{:08X}\t0\t0\t0",
            row.interface,
            word(row.destination),
            word(row.gateway),
            up | by_gateway,
            row.metric,
            word(mask),
        ));
    }
    text
}
