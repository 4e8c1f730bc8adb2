//! What an action can do, and what it acts on: the words of the log. Start at [`Act`].

use fabric::FunctionRef;
use platforms::{Card, MetadataFile, NodeName, PciAddress, PhysState, PortState, Routes, SlotRef};
use scenarios::{FilePlace, MonitorAction};
use simfs::SimTime;

/// What one action of a step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// The line of the scenario that caused it.
    pub step: FilePlace,
    /// The time of its step; zero for what is done before the monitor starts.
    pub at: SimTime,
    /// The first tick that can show it.
    pub tick: u64,
    /// Whether it is done before the monitor starts.
    pub is_given: bool,
    /// Whether it was carried out. What a step does at a moment within a poll is written when the step begins to wait;
    /// its moment may never come.
    pub came: bool,
    /// What it acts on.
    pub on: Target,
    /// What it did.
    pub what: Vec<Occurrence>,
}

impl Act {
    /// Whether it reboots a node.
    #[must_use]
    pub fn reboots(&self) -> bool {
        let is_reboot = |what: &Occurrence| match what {
            Occurrence::Episode { kind, .. } => *kind == Episode::Reboot,
            _ => false,
        };
        self.what.iter().any(is_reboot)
    }
}

/// What an action acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A port and its link.
    Port(SlotRef),
    /// A counter of a port, or the traffic that it counts.
    Counter(SlotRef),
    /// A character device of a port.
    CharDevice(SlotRef),
    /// Several ports.
    Ports(Vec<SlotRef>),
    /// The switch of these ports.
    Switch(Vec<SlotRef>),
    /// A PCI function and its devices.
    Device(FunctionRef),
    /// A node as a whole.
    Node(NodeName),
    /// The fabric and its managers.
    Fabric,
    /// Operations on files, of a node; of all nodes if `None`.
    Files(Option<NodeName>),
    /// The connector of a node.
    Connector(NodeName),
    /// The monitor of a node.
    Monitor(NodeName),
    /// The state file of a node's monitor.
    StateFile(NodeName),
    /// A workload, by its name.
    Workload(String),
}

/// Something that an action did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// A port or device of this function was changed by itself, in no episode: a fault of it began or ended.
    Changed(FunctionRef),
    /// A fault began.
    Fault(Fault),
    /// What no state shows of a port's faults is over.
    Mended(SlotRef),
    /// A counter moved.
    Counter {
        /// Its name, which is that of its file.
        name: String,
        /// Why.
        moved_by: MovedBy,
    },
    /// Something happened that changes how faults are reported.
    Episode {
        /// What.
        kind: Episode,
        /// Whom it concerns.
        reach: Reach,
    },
    /// This was done to a node's monitor.
    Monitor(MonitorAction),
    /// The metadata collector wrote another file.
    Collected(MetadataFile),
    /// The node has another route table.
    Routed(Routes),
}

/// A fault that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A port shows these states, at least at first; it is healthy at `ACTIVE` and `LinkUp`.
    States(PortState, PhysState),
    /// A port is up at a lower speed or width.
    Slow,
    /// A port is missing in the folder of its device.
    GonePort,
    /// A port shows another link layer.
    MovedLayer,
    /// A character device is missing.
    CharDevice,
    /// This counter grows, or shows another value.
    Counter(String),
    /// The class folder does not list a device.
    GoneDevice,
    /// A file cannot be read.
    Unreadable,
    /// A read gets no answer.
    Hang,
}

impl Fault {
    /// Whether no state of a port shows it, so that the log says from when to when it stands.
    #[must_use]
    pub fn is_beside_states(&self) -> bool {
        match self {
            Self::Slow | Self::CharDevice | Self::Counter(_) => true,
            Self::States(..)
            | Self::GonePort
            | Self::MovedLayer
            | Self::GoneDevice
            | Self::Unreadable
            | Self::Hang => false,
        }
    }
}

/// Why a counter moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedBy {
    /// A step changed the counter itself.
    Step,
    /// An error on the link that it counts.
    Error,
    /// Traffic on the link.
    Traffic,
}

/// What changes how faults are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Episode {
    /// A device bears another name.
    Rename,
    /// A card is replaced by another one.
    Replaced,
    /// A card is reset with its firmware.
    FirmwareReset,
    /// The driver of a node's devices is unloaded.
    DriverUnload,
    /// It is loaded.
    DriverLoad {
        /// Whether it ends an unloading.
        is_end: bool,
    },
    /// The driver of a device resets after a PCI error.
    PciError,
    /// There are devices that were not there.
    HotAdded,
    /// The node reboots.
    Reboot,
    /// Reads of the boot id give something else.
    BootId,
    /// Metadata of the node, or its route table, are missing, wrong or changed.
    Metadata,
    /// Ports go down and up again.
    Flap,
    /// The subnet manager stops, starts, is taken over from, or sweeps otherwise.
    SubnetManager,
    /// The state file is missing, damaged, or cannot be read or written.
    StateFile,
    /// The connector answers otherwise.
    Connector,
    /// The monitor is started with other flags or another configuration.
    ScopeChange,
    /// The monitor is restarted, stopped or started.
    MonitorRestart {
        /// Whether a rule on the boot id has begun and was not removed.
        is_boot_id_ruled: bool,
    },
}

/// Whom an episode concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All nodes.
    All,
    /// A node with all that is on it.
    Node(NodeName),
    /// The functions of a card.
    Card(NodeName, Card),
    /// One function.
    Function(FunctionRef),
}

impl Target {
    /// The node that an action on it is about; `None` if it is about all. Ports of several nodes are about the first
    /// one's.
    #[must_use]
    pub fn node(&self) -> Option<&NodeName> {
        match self {
            Self::Port(slot) | Self::Counter(slot) | Self::CharDevice(slot) => Some(&slot.node),
            Self::Ports(slots) | Self::Switch(slots) => slots.first().map(|slot| &slot.node),
            Self::Device(function) => Some(&function.node),
            Self::Node(node)
            | Self::Connector(node)
            | Self::Monitor(node)
            | Self::StateFile(node) => Some(node),
            Self::Files(node) => node.as_ref(),
            Self::Fabric | Self::Workload(_) => None,
        }
    }
}

impl Reach {
    /// Whether it concerns a function of a node, or the node as a whole if none is named.
    #[must_use]
    pub fn includes(&self, node: &NodeName, pci: Option<PciAddress>) -> bool {
        match self {
            Self::All => true,
            Self::Node(of) => of == node,
            Self::Card(of, card) => of == node && pci.is_some_and(|pci| pci.card() == *card),
            Self::Function(of) => of.node == *node && pci == Some(of.pci),
        }
    }

    /// Whether it concerns a node or a part of it.
    #[must_use]
    pub fn is_on(&self, node: &NodeName) -> bool {
        match self {
            Self::All => true,
            Self::Node(of) | Self::Card(of, _) => of == node,
            Self::Function(of) => of.node == *node,
        }
    }
}
