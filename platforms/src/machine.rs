//! A machine at one instant, as its kernel would show it; [`crate::render`] converts it to a tree.
//!
//! This is plain data, which `fabric` changes over time. Large parts are in a [`Shared`], so that
//! copying a machine is cheap and unchanged parts are recognised at once. Start at [`Machine`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use simfs::Errno;

use crate::{
    Bridge, Card, DeviceName, Gid, LinkLayer, Metadata, NodeName, PciAddress, PhysState,
    PortNumber, PortState, Rate, TopoLevel,
};

/// A value that is copied on write.
///
/// Reading works as on the value itself; the first change of a shared value copies it. Comparing two
/// values that are the same copy costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// A value that is not shared yet.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Whether the two are the same copy. If `false`, they may still be equal.
    #[must_use]
    pub fn is_same_copy(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: PartialEq> Shared<T> {
    /// Becomes the same copy as another, if the two are equal.
    pub fn share_with(&mut self, other: &Self) {
        if self == other {
            self.0 = Arc::clone(&other.0);
        }
    }
}

impl<A, T: FromIterator<A>> FromIterator<A> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = A>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same_copy(other) || *self.0 == *other.0
    }
}

impl<T: Eq> Eq for Shared<T> {}

/// One node at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub node: NodeName,
    /// The content of `boot_id`.
    pub boot_id: String,
    /// The CPUs of each NUMA node, as a list such as `0-55,112-167`.
    pub cpus: Shared<BTreeMap<i32, String>>,
    /// The GPUs, in the order of their numbers.
    pub gpus: Shared<Vec<Gpu>>,
    /// The PCIe bridges above GPUs and network functions. They stay when what is below them goes.
    pub bridges: Shared<Vec<Bridge>>,
    /// The network functions that are on the bus.
    pub functions: BTreeMap<PciAddress, Shared<Function>>,
    /// Network interfaces that belong to no such function: `lo`, `bond0`, `eno1`.
    pub interfaces: BTreeMap<String, Shared<NetDev>>,
    /// Whether the RDMA classes exist; they disappear with the last of their modules (`ib_core`),
    /// together with every RDMA device.
    pub class_present: bool,
    /// The route table.
    pub routes: Routes,
    /// The metadata collector's file.
    pub metadata: MetadataFile,
    /// The two clocks.
    pub clock: Clock,
}

impl Machine {
    /// Whether the two differ in their clocks at most, as a quiet node does from one poll to the next.
    #[must_use]
    pub(crate) fn is_same_but_for_clock(&self, other: &Self) -> bool {
        let Self {
            node,
            boot_id,
            cpus,
            gpus,
            bridges,
            functions,
            interfaces,
            class_present,
            routes,
            metadata,
            clock: _,
        } = self;
        *class_present == other.class_present
            && *functions == other.functions
            && *interfaces == other.interfaces
            && *metadata == other.metadata
            && *routes == other.routes
            && *boot_id == other.boot_id
            && *node == other.node
            && *cpus == other.cpus
            && *gpus == other.gpus
            && *bridges == other.bridges
    }
}

/// The clocks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Wall time: nanoseconds since 1970-01-01T00:00:00Z.
    pub wall_ns: u64,
    /// Time since boot, sleep included (`CLOCK_BOOTTIME`): nanoseconds.
    pub boot_ns: u64,
}

/// A GPU, as far as NICs are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its address.
    pub pci: PciAddress,
    /// The folder of the bus that it is on, from `sys/devices/` on.
    pub bus: Arc<str>,
    /// Its NUMA node; -1 if unknown.
    pub numa: i32,
    /// Its PCI vendor id.
    pub vendor: u16,
    /// Its PCI device id.
    pub device: u16,
    /// The kernel driver bound to it.
    pub driver: Option<String>,
    /// Its product name.
    pub model: String,
    /// As `nvidia-smi -L` prints it, with `GPU-` in front.
    pub uuid: String,
    /// Its serial number.
    pub serial: String,
    /// CPUs of its NUMA node, as `topo -m` prints them, if known.
    pub cpus: Option<String>,
    /// Speed of its PCIe link, as in `32.0 GT/s PCIe`.
    pub pcie_speed: String,
    /// Lanes of its PCIe link.
    pub pcie_width: u8,
}

/// A network function on the PCI bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its address.
    pub pci: PciAddress,
    /// The folder of the bus that it is on, from `sys/devices/` on, such as `pci0000:17/0000:17:01.0`; a virtual
    /// function is on that of its physical one.
    pub bus: Arc<str>,
    /// How often this slot was filled before, which distinguishes a function that returned from one
    /// that stayed.
    pub incarnation: u32,
    /// PCI vendor id.
    pub vendor: u16,
    /// PCI device id.
    pub device: u16,
    /// PCI subsystem vendor id.
    pub subsystem_vendor: u16,
    /// PCI subsystem device id.
    pub subsystem_device: u16,
    /// PCI class, 24 bits: `0x020700` InfiniBand, `0x020000` Ethernet.
    pub class: u32,
    /// PCI revision.
    pub revision: u8,
    /// NUMA node; -1 if unknown.
    pub numa: i32,
    /// CPUs of that NUMA node as a list, such as `0-55,112-167`, if known.
    pub cpus: Option<String>,
    /// Speed of its PCIe link, as in `32.0 GT/s PCIe`.
    pub pcie_speed: String,
    /// Lanes of its PCIe link.
    pub pcie_width: u8,
    /// The kernel driver bound to it.
    pub driver: Option<String>,
    /// The driver file of its ports, such as `mlx5-eth`.
    pub driver_file: Arc<str>,
    /// How many virtual functions it can have; `None` for a virtual function and for a card without
    /// SR-IOV.
    pub sriov_totalvfs: Option<u16>,
    /// The offset of its first virtual function, in routing ids.
    pub sriov_offset: u16,
    /// PCI device id of its virtual functions; 0 if it has none.
    pub sriov_vf_device: u16,
    /// The virtual functions it has, in order.
    pub virtfns: Vec<PciAddress>,
    /// For a virtual function: the physical one, which a guest does not see.
    pub physfn: Option<PciAddress>,
    /// Its level to each GPU, in the order of the GPUs; empty if `topo -m` does not list it.
    pub topo: Vec<TopoLevel>,
    /// Its RDMA device.
    pub rdma: Option<Rdma>,
    /// Its network interfaces.
    pub netdevs: Vec<NetDev>,
    /// Whether its RDMA device and interfaces are in another network namespace, invisible here.
    pub in_other_namespace: bool,
}

impl Function {
    /// The card it belongs to: its address without the function number.
    #[must_use]
    pub fn card(&self) -> Card {
        self.pci.card()
    }
}

/// An RDMA device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rdma {
    /// Its present name.
    pub name: DeviceName,
    /// How often a device was registered here before; after a driver reload it is a new device.
    pub incarnation: u32,
    /// The content of `hca_type`; `None` if the driver has no such file.
    pub hca_type: Option<String>,
    /// Firmware version.
    pub fw_ver: String,
    /// The content of `board_id`; `None` if the driver has no such file.
    pub board_id: Option<String>,
    /// The content of `hw_rev`; `None` if the driver has no such file.
    pub hw_rev: Option<String>,
    /// Node description.
    pub node_desc: String,
    /// The GUID of the function (`node_guid`).
    pub node_guid: u64,
    /// System image GUID, which all functions of a card share.
    pub sys_image_guid: u64,
    /// Node type, such as `1: CA`.
    pub node_type: String,
    /// Files that only its driver has, with their content.
    pub files: BTreeMap<String, String>,
    /// Number of its `uverbs` device.
    pub uverbs: u32,
    /// Its character devices that are missing.
    pub missing: BTreeSet<CharDevice>,
    /// Its ports that are listed.
    pub ports: BTreeMap<PortNumber, Shared<Port>>,
}

/// A character device through which programs use an RDMA device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CharDevice {
    /// `issm`: a subnet manager's claim on an InfiniBand port (`class/infiniband_mad`).
    Issm(PortNumber),
    /// `umad`: management datagrams of a port (`class/infiniband_mad`).
    Umad(PortNumber),
    /// `uverbs`: the verbs of the whole device (`class/infiniband_verbs`).
    Uverbs,
}

impl fmt::Display for CharDevice {
    /// Such as `issm of port 1`, or `uverbs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issm(port) => write!(f, "issm of port {port}"),
            Self::Umad(port) => write!(f, "umad of port {port}"),
            Self::Uverbs => f.write_str("uverbs"),
        }
    }
}

/// A port of an RDMA device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its link layer.
    pub layer: LinkLayer,
    /// The content of `link_layer`, if that is not the layer's name.
    pub layer_text: Option<Arc<str>>,
    /// Its logical state.
    pub state: PortState,
    /// Its physical state.
    pub phys_state: PhysState,
    /// Its rate.
    pub rate: Rate,
    /// Local identifier; 0 without a subnet manager.
    pub lid: u16,
    /// The subnet manager's identifier; 0 without one.
    pub sm_lid: u16,
    /// LMC, 0 to 7.
    pub lid_mask_count: u8,
    /// The subnet manager's service level.
    pub sm_sl: u8,
    /// Capability mask.
    pub cap_mask: u32,
    /// The used entries of the GID table.
    pub gids: BTreeMap<u16, Gid>,
    /// Length of the GID table.
    pub gid_table: u16,
    /// The partition key table.
    pub pkeys: Vec<u16>,
    /// Number of its `umad` device; `None` if it has none.
    pub umad: Option<u32>,
    /// Files in `counters/`.
    pub counters: Counters,
    /// Files in `hw_counters/`.
    pub hw_counters: Counters,
    /// Its driver's own folders.
    pub files: Shared<PortFiles>,
    /// The error of querying the port (`ib_query_port`), if that fails: reads of state, rate, lids
    /// and capability mask then return it.
    pub query_error: Option<Errno>,
}

impl Port {
    /// Whether it is `ACTIVE` with `LinkUp`.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.state == PortState::ACTIVE && self.phys_state == PhysState::LINK_UP
    }
}

/// The files of a port's own folders, by folder and name.
pub type PortFiles = BTreeMap<String, BTreeMap<String, String>>;

/// The values of a folder's counters, by file name.
pub type Counters = Shared<BTreeMap<Arc<str>, CounterValue>>;

/// The value of a counter's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterValue {
    /// A number.
    Count(u64),
    /// A text, such as `N/A (no PMA)` of old kernels.
    Text(String),
    /// Every read fails.
    Fails(Errno),
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetDev {
    /// Its name.
    pub name: String,
    /// Its index; each registration gets a new one, which distinguishes an interface that returned
    /// from one that stayed.
    pub ifindex: u32,
    /// ARP hardware type: 1 Ethernet, 32 IP over InfiniBand, 772 loopback.
    pub arp_type: u16,
    /// Hardware address: 6 bytes, 20 for IP over InfiniBand.
    pub address: Vec<u8>,
    /// Largest packet, in bytes.
    pub mtu: u32,
    /// Whether it is administratively up (`IFF_UP`).
    pub admin_up: bool,
    /// The content of `operstate`, such as `up`, `down`, `lowerlayerdown`.
    pub operstate: String,
    /// Whether it has a carrier; unreadable while the interface is administratively down.
    pub carrier: bool,
    /// Speed in Mb/s; reading `None` is an error. Some drivers show -1 without a link.
    pub speed_mbps: Option<i64>,
    /// How often the carrier came up.
    pub carrier_up_count: u64,
    /// How often the carrier went down.
    pub carrier_down_count: u64,
    /// The port of its function that it belongs to, from 0.
    pub dev_port: u16,
    /// Files in `statistics/`.
    pub statistics: Counters,
    /// Interfaces below it: a bond's members, or a VLAN's parent.
    pub lowers: Vec<String>,
}

/// The content of `/proc/net/route`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routes {
    /// These rows.
    Rows(Vec<Route>),
    /// This text, unchanged.
    Text(String),
    /// The file does not exist.
    Missing,
}

/// A row of the route table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The name of the interface to which it leads.
    pub interface: String,
    /// The destination: an IPv4 address.
    pub destination: [u8; 4],
    /// The gateway: an IPv4 address; zero for a direct route.
    pub gateway: [u8; 4],
    /// Length of the destination's prefix, 0 to 32; 0 is the default route.
    pub prefix: u8,
    /// Of two routes with the same prefix the lower one counts.
    pub metric: u32,
}

/// The content of `/var/lib/nvsentinel/gpu_metadata.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataFile {
    /// What the collector wrote, with the names at that time.
    Written(Shared<Metadata>),
    /// This text, unchanged.
    Text(String),
    /// The file does not exist.
    Missing,
}
