//! What can be wrong with a platform although it could be read, in words.
//!
//! What finds it stands in `check/`.

use std::borrow::Cow;

use crate::yaml::YamlError;
use crate::{PciAddress, Role};

/// Something in a platform that no machine can be, or that says two things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Two devices, interfaces or functions share what only one can have.
    #[error("{what} `{value}` is there twice")]
    Twice {
        /// Device name, interface name, address or GUID.
        what: &'static str,
        /// The shared value.
        value: String,
    },
    /// A row of the topology has not one level for each GPU.
    #[error("device `{device}` has {levels} topology levels for {gpus} GPUs")]
    TopoLength {
        /// The device.
        device: String,
        /// How many levels its row has.
        levels: usize,
        /// How many GPUs there are.
        gpus: usize,
    },
    /// GPU addresses and NUMA nodes do not pair up.
    #[error("there are {pci} GPU addresses and {numa} GPU NUMA nodes")]
    GpuCount {
        /// Addresses.
        pci: usize,
        /// NUMA nodes.
        numa: usize,
    },
    /// The roles of the devices do not add up to what `roles` says.
    #[error("`roles` says {reported}, the devices are {are} (management/compute/storage)")]
    Roles {
        /// The declared counts.
        reported: String,
        /// The counts over the devices.
        are: String,
    },
    /// A port has a cable and is not there.
    #[error("device `{device}` has a cable in port {port}, but {ports} ports")]
    NoSuchPort {
        /// The device.
        device: String,
        /// The port's number.
        port: u8,
        /// How many ports the device has.
        ports: u8,
    },
    /// A port has no interface.
    #[error("device `{device}` has {ports} ports and {netdevs} interfaces")]
    Interfaces {
        /// The device.
        device: String,
        /// How many ports it has.
        ports: u8,
        /// How many interfaces it has.
        netdevs: usize,
        /// How many it ought to have.
        asked: u8,
    },
    /// A device has no port, or more than devices have.
    #[error("device `{device}` has {ports} ports")]
    PortCount {
        /// The device.
        device: String,
        /// How many it has.
        ports: u8,
        /// The most that a device has.
        most: u8,
    },
    /// A port is listed twice.
    #[error("device `{device}` has two cables in port {port}")]
    CabledTwice {
        /// The device.
        device: String,
        /// The port's number.
        port: u8,
    },
    /// `X` between two devices.
    #[error("{cell} are one and the same, says `X`")]
    SelfInCell {
        /// Which two.
        cell: String,
    },
    /// NVLink to a NIC.
    #[error("device `{device}` is on NVLink, says its row")]
    NvLinkToNic {
        /// The device.
        device: String,
    },
    /// A port is faster than its slot.
    #[error("device `{device}` has {port_gbps} Gb/s behind a slot of {slot_gbps} Gb/s (`{slot}`)")]
    TooFast {
        /// The device.
        device: String,
        /// The port's rate, Gb/s.
        port_gbps: u32,
        /// The slot.
        slot: String,
        /// What the slot carries one way, Gb/s.
        slot_gbps: u32,
    },
    /// A NIC that is declared to matter sits where no GPU is.
    #[error("device `{device}` is {role} on NUMA node {node}, which no GPU has")]
    NumaWithoutGpu {
        /// The device.
        device: String,
        /// Its declared role.
        role: Role,
        /// Its NUMA node.
        node: i32,
    },
    /// A NUMA node that nothing is on.
    #[error("`{key}` names NUMA node {node}, on which nothing is")]
    StrayNuma {
        /// Where it is named.
        key: &'static str,
        /// The node.
        node: i32,
    },
    /// A card without its function 0.
    #[error("`{pci}` is there and `{first}` is not")]
    NoFirstFunction {
        /// The function.
        pci: PciAddress,
        /// The card's first.
        first: PciAddress,
    },
    /// A make that no device is of.
    #[error("no device is of model `{0}`")]
    UnusedModel(String),
    /// An interface is said to ride on one that is not there.
    #[error("interface `{interface}` is above `{lower}`, which is not there")]
    DanglingLower {
        /// The upper interface.
        interface: String,
        /// The missing one.
        lower: String,
    },
    /// Virtual functions fall on addresses that are taken.
    #[error("the {asked} virtual functions fall on addresses that others have")]
    VfsCollide {
        /// How many there are to be.
        asked: usize,
    },
    /// A counter starts beyond its field.
    #[error("counter `{name}` starts at {value} and stops at {max}")]
    CounterTooLarge {
        /// The counter.
        name: String,
        /// Where it starts.
        value: u64,
        /// Its largest value.
        max: u64,
    },
    /// A name that no folder of sysfs can have.
    #[error("`{name}` cannot be a name in sysfs")]
    NoFileName {
        /// The name.
        name: String,
        /// The longest, bytes.
        longest: usize,
    },
    /// A name of a platform or variant that cannot be asked for.
    #[error("`{0}` cannot be a platform's name")]
    PlatformName(String),
    /// A text that the kernel spells in another way.
    #[error("`{text}` is no {what}")]
    Spelling {
        /// What it ought to be.
        what: &'static str,
        /// What it is.
        text: String,
        /// What helps.
        hint: String,
    },
    /// The default route leads through an interface that is not there.
    #[error("`default_route` names interface `{0}`, which is not there")]
    NoSuchInterface(String),
    /// A counter that no driver of the platform has.
    #[error("`counters` names `{0}`, which no driver of this platform has")]
    NoSuchCounter(String),
    /// More virtual functions than a device can have.
    #[error("device `{device}` is to have {asked} virtual functions and can have {total}")]
    TooManyVfs {
        /// The physical function's device.
        device: String,
        /// How many it is to have.
        asked: u16,
        /// How many it can have.
        total: u16,
    },
    /// Nothing says where a value comes from.
    #[error("nothing says where `{0}` comes from")]
    NoProvenance(String),
    /// A value has no form of its own, such as an infinite number where a text stands.
    #[error(transparent)]
    Unclear(YamlError),
    /// An entry under `provenance` has not exactly one mark.
    #[error(
        "the provenance of `{0}` has not exactly one of `sourced`, `captured`, `inferred`, `plausible`"
    )]
    NotOneMark(String),
}

impl Problem {
    /// What helps; `None` where the problem says it all.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Twice { .. } => "each needs its own".into(),
            Self::TopoLength { .. } => "one level for each GPU, in their order".into(),
            Self::GpuCount { .. } => "one of each for every GPU".into(),
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
