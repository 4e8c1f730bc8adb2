//! A platform's file: base and variants.
//!
//! This file defines the format only; `platform.rs` builds platforms. Start at [`Profile`].

use std::collections::BTreeMap;
use std::fmt;

use files::yaml::Refused;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::provenance::Entry;
use crate::{Identifiers, NicRole, PciAddress, Rate, TopoLevel};

/// A platform's file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A platform of nicdrill")]
pub struct Profile {
    /// Version of this format; 1.
    pub platform_version: u32,
    /// Its name, such as `h100-oci`.
    pub name: String,
    /// A one-sentence description of the machine.
    pub about: String,
    /// Its GPUs.
    pub gpus: Gpus,
    /// CPUs of each NUMA node, as `topo -m` prints them.
    #[serde(default)]
    pub cpus: BTreeMap<i32, String>,
    /// The models of its network cards.
    pub models: BTreeMap<String, Model>,
    /// Its network functions.
    pub devices: Vec<Device>,
    /// Devices of the node that a capture could not describe; `platform check` reports each until it is
    /// described or removed.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// The interface of the default route; none if absent.
    pub default_route: Option<String>,
    /// Interfaces that do not belong to an RDMA device.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
    /// How many functions have each role.
    pub roles: Roles,
    /// Counters with another initial value than the driver's.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
    /// Virtual functions that exist at rest.
    pub vfs: Option<Vfs>,
    /// Identifiers of the machine that it was captured from; without them, machines generate their
    /// own.
    #[serde(default)]
    pub identifiers: Identifiers,
    /// Machines that differ from this one in a few points.
    #[serde(default)]
    pub variants: BTreeMap<String, Variant>,
    /// Notes for the reader, such as where the rules are ambiguous or sources differ.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The provenance of the values.
    pub provenance: Vec<Entry>,
}

/// The GPUs of a platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gpus {
    /// Product name.
    pub model: String,
    /// PCI vendor id; NVIDIA's by default.
    #[serde(default = "nvidia")]
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// The kernel driver bound to them; `nvidia` by default.
    #[serde(default = "nvidia_driver")]
    pub kernel_driver: String,
    /// Version of the GPU driver.
    pub driver_version: String,
    /// Addresses, in the order of their numbers.
    pub pci: Vec<PciAddress>,
    /// NUMA node of each; -1 if unknown.
    pub numa: Vec<i32>,
    /// What `topo -m` prints between two GPUs; by default `NODE` within a NUMA node and `SYS`
    /// across.
    pub between: Option<TopoLevel>,
    /// What `topo -m` prints as the affinity of a NUMA node, if that is not its number.
    #[serde(default)]
    pub numa_texts: BTreeMap<i32, String>,
}

impl Gpus {
    /// Whether `nvidia-smi` supports them and prints a matrix of them and the NICs.
    #[must_use]
    pub fn have_matrix(&self) -> bool {
        self.vendor == nvidia()
    }
}

/// NVIDIA's PCI vendor id, which its GPUs have.
const fn nvidia() -> u16 {
    0x10de
}

fn nvidia_driver() -> String {
    "nvidia".to_owned()
}

/// A model of network card.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// PCI vendor id.
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// PCI device id of its virtual functions.
    pub vf_device: Option<u16>,
    /// PCI subsystem vendor id.
    pub subsystem_vendor: u16,
    /// PCI subsystem device id.
    pub subsystem_device: u16,
    /// PCI revision.
    #[serde(default)]
    pub revision: u8,
    /// The content of `hca_type`.
    pub hca_type: Option<String>,
    /// The content of `hca_type` for its virtual functions.
    pub vf_hca_type: Option<String>,
    /// Firmware version.
    pub fw_ver: String,
    /// The content of `board_id`; without it the driver has no such file.
    pub board_id: Option<String>,
    /// The content of `hw_rev`; without it the driver has no such file.
    pub hw_rev: Option<String>,
    /// How many virtual functions a physical function can have.
    pub sriov_totalvfs: Option<u16>,
    /// Speed of its PCIe link, as in `32.0 GT/s PCIe`.
    pub pcie_speed: String,
    /// Lanes of its PCIe link.
    pub pcie_width: u8,
}

/// A network function.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The RDMA device's name.
    pub name: String,
    /// Its address.
    pub pci: PciAddress,
    /// Its model.
    pub model: String,
    /// The driver file, such as `mlx5-eth`.
    pub driver: String,
    /// Its NUMA node; -1 if unknown.
    pub numa: i32,
    /// Its interfaces, one for each port; none if its driver has none.
    pub netdevs: Vec<String>,
    /// Its rate.
    pub rate: Rate,
    /// Its role.
    pub role: NicRole,
    /// Its levels to the GPUs, in the order of the GPUs; `NODE*4` is four equal levels. Left out if
    /// the GPUs have no matrix.
    #[serde(default)]
    pub topo: TopoRow,
    /// Numbers of the ports that have a cable.
    #[serde(default = "first_port")]
    pub cabled: Vec<u8>,
    /// The number of its ports.
    #[serde(default = "one")]
    pub ports: u8,
}

fn first_port() -> Vec<u8> {
    vec![1]
}

fn one() -> u8 {
    1
}

/// A row of the topology: `PXB NODE*3 SYS*4`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopoRow(pub Vec<TopoLevel>);

impl<'de> Deserialize<'de> for TopoRow {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut row = Vec::new();
        for word in text.split_whitespace() {
            let (word, times) = word.split_once('*').unwrap_or((word, "1"));
            let level = TopoLevel::by_word(word);
            let times = times
                .parse::<usize>()
                .ok()
                .filter(|times| (1..=64).contains(times));
            let (Some(level), Some(times)) = (level, times) else {
                return Err(serde::de::Error::custom(Refused {
                    what: format!("invalid topology level `{word}`"),
                    hint: "write levels with blanks between, as in `PXB NODE*3 SYS*4`",
                }));
            };
            row.extend(std::iter::repeat_n(level, times));
        }
        Ok(Self(row))
    }
}

/// A device that a capture could not describe.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// The RDMA device's name.
    pub name: String,
    /// Its address, if it was read.
    pub pci: Option<PciAddress>,
    /// What is missing.
    pub why: String,
}

/// An interface that does not belong to an RDMA device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Interfaces below it: a bond's members, or a VLAN's parent.
    #[serde(default)]
    pub lowers: Vec<String>,
    /// Speed in Mb/s.
    pub speed_mbps: Option<i64>,
}

/// How many functions have each role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// Management.
    pub management: usize,
    /// Compute.
    pub compute: usize,
    /// Storage.
    pub storage: usize,
}

impl fmt::Display for Roles {
    /// Management, compute and storage: `2/16/0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.management, self.compute, self.storage)
    }
}

/// Virtual functions at rest, all unassigned.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vfs {
    /// The number on each of these functions.
    pub each: u16,
    /// The physical functions, by name.
    pub of: Vec<String>,
}

/// The changes of a variant. What is absent stays as in the base.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The difference, in one sentence.
    pub about: String,
    /// The interface of the default route; `none` for no default route.
    pub default_route: Option<String>,
    /// Changed devices, by name.
    #[serde(default)]
    pub change: Vec<Change>,
    /// Removed devices.
    #[serde(default)]
    pub drop: Vec<String>,
    /// Added devices.
    #[serde(default)]
    pub add: Vec<Device>,
    /// Further interfaces.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
    /// Another list of the GPUs' NUMA nodes.
    pub gpu_numa: Option<Vec<i32>>,
    /// Virtual functions that exist at rest.
    pub vfs: Option<Vfs>,
    /// How many functions have each role; as in the base if absent.
    pub roles: Option<Roles>,
}

/// The changes of a variant to some devices.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The devices.
    pub devices: Vec<String>,
    /// Another name (one device only).
    pub name: Option<String>,
    /// Another model.
    pub model: Option<String>,
    /// Another driver file.
    pub driver: Option<String>,
    /// Other interfaces.
    pub netdevs: Option<Vec<String>>,
    /// Another rate.
    pub rate: Option<Rate>,
    /// Another role.
    pub role: Option<NicRole>,
    /// Another row of the topology.
    pub topo: Option<TopoRow>,
    /// Other ports with a cable.
    pub cabled: Option<Vec<u8>>,
    /// Another number of ports.
    pub ports: Option<u8>,
}
