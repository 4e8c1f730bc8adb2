//! The problems that a platform can have although it could be read, and their texts.
//!
//! The checks are in `check/`.

use std::borrow::Cow;

use files::FileError;

use crate::{NicRole, PciAddress, TopoLevel};

/// The kind of value of a [`ProblemKind::Twice`] that a device's node GUID is.
pub(crate) const NODE_GUID: &str = "node GUID";

/// What else in its file says that a value is a problem, beside the device or item that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// These keys of the outermost level.
    Keys(&'static [&'static str]),
    /// These keys, and the drivers and models of all devices.
    Machine(&'static [&'static str]),
    /// Every key.
    All,
}

/// Something in a platform that is impossible or contradictory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    /// Two devices, interfaces or functions have the same value where it must be unique.
    #[error("duplicate {what} `{value}`")]
    Twice {
        /// The kind of value: device name, interface name, address or GUID.
        what: &'static str,
        /// The shared value.
        value: String,
    },
    /// A row of the topology does not have one level for each GPU.
    #[error("device `{device}` has {levels} topology levels for {gpus} GPUs")]
    TopoLength {
        /// The RDMA device's name at rest.
        device: String,
        /// The number of levels in its row.
        levels: usize,
        /// The number of GPUs.
        gpus: usize,
    },
    /// There is no GPU, so that nothing can be said of rows of the topology and of NUMA nodes.
    #[error("there is no GPU, and NICs are told apart by how near they are to GPUs")]
    NoGpus,
    /// The numbers of GPU addresses and NUMA nodes differ.
    #[error("there are {pci} GPU addresses and {numa} GPU NUMA nodes")]
    GpuCount {
        /// Number of addresses.
        pci: usize,
        /// Number of NUMA nodes.
        numa: usize,
    },
    /// The roles of the devices do not match `roles`.
    #[error("`roles` says {reported}, the devices are {are} (management/compute/storage)")]
    Roles {
        /// The declared counts.
        reported: String,
        /// The counts of the devices.
        are: String,
    },
    /// A cabled port does not exist.
    #[error("device `{device}` has a cable in port {port}, but {ports} ports")]
    NoSuchPort {
        /// The RDMA device's name at rest.
        device: String,
        /// The port's number.
        port: u8,
        /// The number of ports of the device.
        ports: u8,
    },
    /// A device has too few or too many interfaces.
    #[error("device `{device}` has {ports} ports and {netdevs} interfaces")]
    Interfaces {
        /// The RDMA device's name at rest.
        device: String,
        /// The number of its ports.
        ports: u8,
        /// The number of its interfaces.
        netdevs: usize,
        /// The expected number.
        asked: u8,
    },
    /// A device has no port, or too many.
    #[error("device `{device}` has {ports} ports")]
    PortCount {
        /// The RDMA device's name at rest.
        device: String,
        /// The number of its ports.
        ports: u8,
        /// The maximum.
        most: u8,
    },
    /// A port is listed twice.
    #[error("device `{device}` has two cables in port {port}")]
    CabledTwice {
        /// The RDMA device's name at rest.
        device: String,
        /// The port's number.
        port: u8,
    },
    /// `X` between two different devices.
    #[error("{cell} are one and the same, says `X`")]
    SelfInCell {
        /// The two devices.
        cell: String,
    },
    /// An NVLink level for a NIC.
    #[error("device `{device}` has an NVLink level in its row")]
    NvLinkToNic {
        /// The RDMA device's name at rest.
        device: String,
    },
    /// A port is faster than its slot.
    #[error("device `{device}` has {port_gbps} Gb/s behind a slot of {slot_gbps} Gb/s (`{slot}`)")]
    TooFast {
        /// The RDMA device's name at rest.
        device: String,
        /// The port's rate, Gb/s.
        port_gbps: u32,
        /// The slot's PCIe link.
        slot: String,
        /// The slot's rate in one direction, Gb/s.
        slot_gbps: u32,
    },
    /// A NIC with another role than management is on a NUMA node without a GPU.
    #[error("device `{device}` is {role} on NUMA node {node}, which no GPU has")]
    NumaWithoutGpu {
        /// The RDMA device's name at rest.
        device: String,
        /// Its declared role.
        role: NicRole,
        /// As `numa_node` has it; -1 if unknown.
        node: i32,
    },
    /// A NUMA node that no GPU or NIC uses.
    #[error("`{key}` names NUMA node {node}, on which nothing is")]
    StrayNuma {
        /// The key that names it.
        key: &'static str,
        /// As `numa_node` has it; -1 if unknown.
        node: i32,
    },
    /// A NIC that shares a PCIe switch with a GPU of another NUMA node.
    #[error(
        "device `{device}` is on NUMA node {node}, and `{level}` away from GPU {gpu} on node {gpu_node}"
    )]
    NumaAcrossSwitch {
        /// The RDMA device's name at rest.
        device: String,
        /// As `numa_node` has it; -1 if unknown.
        node: i32,
        /// The level, PIX or PXB.
        level: TopoLevel,
        /// The GPU's number.
        gpu: usize,
        /// As its `numa_node` has it; -1 if unknown.
        gpu_node: i32,
    },
    /// Two NUMA nodes have the same CPU.
    #[error("`cpus` gives CPU {cpu} to NUMA nodes {node} and {other}")]
    CpuTwice {
        /// The number of the CPU, from 0.
        cpu: u16,
        /// The first node.
        node: i32,
        /// The second.
        other: i32,
    },
    /// `cpus` has no entry for a GPU's NUMA node.
    #[error("`cpus` has no NUMA node {node}, on which GPU {gpu} is")]
    NoCpus {
        /// The NUMA node.
        node: i32,
        /// The GPU's number.
        gpu: usize,
    },
    /// Devices that a capture could not describe, all for one reason.
    #[error("{} skipped by the capture: {why}", were(.devices))]
    Skipped {
        /// The names of the RDMA devices at rest.
        devices: Vec<String>,
        /// What was missing.
        why: String,
    },
    /// An entry of `provenance` names a path that the file does not have.
    #[error("`provenance` names `{0}`, and there is nothing of that name")]
    NamesNothing(String),
    /// A card without its function 0.
    #[error("`{pci}` exists, but `{first}` does not")]
    NoFirstFunction {
        /// The function.
        pci: PciAddress,
        /// The address of function 0.
        first: PciAddress,
    },
    /// A model that no device uses.
    #[error("no device is of model `{0}`")]
    UnusedModel(String),
    /// An interface has a lower interface that does not exist.
    #[error("interface `{interface}` is above `{lower}`, which does not exist")]
    DanglingLower {
        /// The upper interface.
        interface: String,
        /// The missing one.
        lower: String,
    },
    /// Virtual functions would have addresses that are in use.
    #[error("the {asked} virtual functions fall on addresses that others have")]
    VfsCollide {
        /// The number of virtual functions.
        asked: usize,
    },
    /// A counter's initial value is above its maximum.
    #[error("counter `{name}` starts at {value} and stops at {max}")]
    CounterTooLarge {
        /// The counter.
        name: String,
        /// Its initial value.
        value: u64,
        /// Its largest value.
        max: u64,
    },
    /// A name that no folder of sysfs can have.
    #[error("`{name}` cannot be a name in sysfs")]
    NoFileName {
        /// The name.
        name: String,
        /// The longest allowed length, in bytes.
        longest: usize,
    },
    /// A name of a platform or variant that the command line cannot express.
    #[error("`{0}` cannot be a platform's name")]
    PlatformName(String),
    /// A text in a spelling that the kernel does not use.
    #[error("invalid {what} `{text}`")]
    Spelling {
        /// The kind of text.
        what: &'static str,
        /// The text.
        text: String,
        /// The hint.
        hint: String,
    },
    /// The interface of the default route does not exist.
    #[error("`default_route` names interface `{0}`, which does not exist")]
    NoSuchInterface(String),
    /// A counter that no driver of the platform has.
    #[error("`counters` names `{0}`, which no driver of this platform has")]
    NoSuchCounter(String),
    /// More virtual functions than a device can have.
    #[error("device `{device}` is to have {asked} virtual functions and can have {total}")]
    TooManyVfs {
        /// The physical function's device.
        device: String,
        /// The requested number.
        asked: u16,
        /// The largest number.
        total: u16,
    },
    /// A value without provenance.
    #[error("`{0}` has no provenance")]
    NoProvenance(String),
    /// A value of a kind that is not allowed there, such as an infinite number in place of a text.
    #[error(transparent)]
    Unclear(FileError),
    /// An entry of `provenance` does not have exactly one mark.
    #[error(
        "the provenance of `{0}` has not exactly one of `sourced`, `captured`, `inferred`, `plausible`"
    )]
    NotOneMark(String),
}

/// Such as "devices `a`, `b` were".
fn were(devices: &[String]) -> String {
    let names = devices.join("`, `");
    match devices.len() {
        1 => format!("device `{names}` was"),
        _ => format!("devices `{names}` were"),
    }
}

impl ProblemKind {
    /// What else says that it is a problem.
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Self::Twice {
                what: NODE_GUID, ..
            } => Needs::Machine(&["devices", "gpus", "identifiers", "models", "vfs"]),
            Self::Twice { .. }
            | Self::NoSuchPort { .. }
            | Self::Interfaces { .. }
            | Self::PortCount { .. }
            | Self::CabledTwice { .. }
            | Self::SelfInCell { .. }
            | Self::NvLinkToNic { .. }
            | Self::Skipped { .. }
            | Self::NoFileName { .. }
            | Self::PlatformName(_)
            | Self::Spelling { .. }
            | Self::NotOneMark(_) => Needs::Keys(&[]),
            Self::TopoLength { .. }
            | Self::GpuCount { .. }
            | Self::NoGpus
            | Self::NumaWithoutGpu { .. }
            | Self::NumaAcrossSwitch { .. } => Needs::Keys(&["gpus"]),
            Self::Roles { .. } => Needs::Keys(&["devices", "roles"]),
            Self::TooFast { .. } => Needs::Keys(&["models"]),
            Self::StrayNuma { .. } => Needs::Keys(&["cpus", "devices", "gpus"]),
            Self::CpuTwice { .. } => Needs::Keys(&["cpus"]),
            Self::NoCpus { .. } => Needs::Keys(&["cpus", "gpus"]),
            Self::NoFirstFunction { .. } => Needs::Keys(&["devices"]),
            Self::UnusedModel(_) => Needs::Machine(&["devices", "variants"]),
            Self::DanglingLower { .. } | Self::NoSuchInterface(_) => {
                Needs::Machine(&["devices", "interfaces", "models", "vfs"])
            }
            Self::VfsCollide { .. } => Needs::Machine(&["devices", "gpus", "models", "vfs"]),
            Self::TooManyVfs { .. } => Needs::Machine(&["devices", "models", "vfs"]),
            Self::CounterTooLarge { .. } | Self::NoSuchCounter(_) => Needs::Machine(&["devices"]),
            Self::NoProvenance(_) => Needs::Keys(&["provenance"]),
            Self::NamesNothing(_) | Self::Unclear(_) => Needs::All,
        }
    }

    /// A hint; `None` if the problem needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Twice { .. } => "each needs its own".into(),
            Self::TopoLength { .. } => "one level for each GPU, in their order".into(),
            Self::GpuCount { .. } => "one of each for every GPU".into(),
            Self::NoGpus => {
                "write their addresses as `gpus.pci` and their nodes as `gpus.numa`, or capture with `--topo`".into()
            }
            Self::Roles { .. } => "one of the two is wrong".into(),
            Self::NoSuchPort { .. } => "ports are numbered from 1".into(),
            Self::Interfaces { asked, .. } => {
                format!("with its driver there are {asked}, one for each port or none at all")
                    .into()
            }
            Self::PortCount { most, .. } => format!("devices have 1 to {most}").into(),
            Self::CabledTwice { .. } => "name each port once".into(),
            Self::SelfInCell { .. } => "`X` is the diagonal's alone".into(),
            Self::NvLinkToNic { .. } => {
                "NVLinks join GPUs; a NIC has `PIX`, `PXB`, `PHB`, `NODE` or `SYS`".into()
            }
            Self::TooFast { .. } => "one of `rate`, `pcie_speed` and `pcie_width` is wrong".into(),
            Self::NumaWithoutGpu { .. } => {
                "a monitor takes it for management; say so, or correct `numa`".into()
            }
            Self::StrayNuma { .. } => "leave it out, or correct the number".into(),
            Self::NumaAcrossSwitch { .. } => {
                "what is behind one switch is on one node: one of `numa`, `gpus.numa` and `topo` is wrong".into()
            }
            Self::CpuTwice { .. } => "a CPU is on one NUMA node".into(),
            Self::NoCpus { .. } => "add its CPUs, or leave `cpus` out".into(),
            Self::Skipped { devices, .. } => match &devices[..] {
                [device] => {
                    format!("describe `{device}` under `devices`, or leave it out, and remove this entry").into()
                }
                _ => "describe them under `devices`, or leave them out, and remove these entries".into(),
            },
            Self::NamesNothing(..) => "leave it out, or correct the path".into(),
            Self::NoFirstFunction { .. } => {
                "a card that does not answer at function 0 is not found".into()
            }
            Self::UnusedModel(..) => "leave it out".into(),
            Self::DanglingLower { .. } | Self::NoSuchInterface(..) => {
                "name one of the devices' `netdevs` or one of `interfaces`".into()
            }
            Self::VfsCollide { .. } => "ask for fewer, or give the cards other buses".into(),
            Self::CounterTooLarge { .. } => "its driver says how wide it is".into(),
            Self::NoFileName { longest, .. } => {
                format!("1 to {longest} bytes, without blanks, `/` and `:`").into()
            }
            Self::PlatformName(..) => {
                "small letters, digits, `-`, `_` and `.`, as in `h100-oci`".into()
            }
            Self::Spelling { hint, .. } => hint.as_str().into(),
            Self::NoProvenance(..) => {
                "name it under `provenance` as sourced, captured, inferred or plausible".into()
            }
            Self::Unclear(error) => error.hint.as_deref()?.into(),
            Self::NoSuchCounter(_) | Self::TooManyVfs { .. } | Self::NotOneMark(_) => return None,
        })
    }
}
