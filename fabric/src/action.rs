//! What can be done to a world: one variant for each verb about ports, links, devices, virtual
//! functions, counters and the host.
//!
//! An action names hardware by slot (PCI function and port), so it finds it under whatever name
//! the kernel gives it. Who has not chosen the hardware yet names it in his own way: [`Action`] is
//! generic over its targets, and what is done to them is the same type. Actions about files, the
//! connector or the monitor are not here: they do not touch a link.

use std::collections::BTreeMap;

use platforms::{
    CounterValue, DeviceName, LinkLayer, MetadataFile, NodeName, PciAddress, PhysState, PortState,
    Rate, Routes, SlotRef,
};
use simfs::SimTime;

use crate::{
    Side,
    opa::{ErrorInfo, LinkDownReason, LinkInitReason, PortErrorAction},
};

/// A PCI function of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionRef {
    /// The node.
    pub node: NodeName,
    /// The function's address on that node.
    pub pci: PciAddress,
}

/// Where a port stays although its link could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StickAt {
    /// Physically down and looking for a partner: `DOWN`, `Polling`.
    Polling,
    /// Physically training: `DOWN`, `PortConfigurationTraining`.
    Training,
    /// Physically up, waiting for the subnet manager: `INIT`, `LinkUp`.
    Init,
    /// Configured, not yet active: `ARMED`, `LinkUp`.
    Armed,
    /// In link error recovery: `ACTIVE`, `LinkErrorRecovery`.
    Recovery,
}

/// How a counter is changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterChange {
    /// Grow by this much, at most to the field's maximum.
    Add(u64),
    /// Grow by this much each second from now on; 0 stops it.
    RatePerSecond(u64),
    /// Show exactly this.
    Set(CounterValue),
    /// Start again at zero, as after an operator's reset.
    Reset,
    /// Stand at the field's maximum.
    Saturate,
}

/// How a node reboots, and what changes on the way; by default in good order, in no time, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebootPlan {
    /// From going down to being up again; its ports train in the last part of it.
    pub takes: SimTime,
    /// It lost power or crashed, so that its ports announce nothing.
    pub loses_power: bool,
    /// Ports whose trouble ends while the node is down.
    pub mend: Vec<SlotRef>,
    /// Functions that are not there afterwards.
    pub remove: Vec<PciAddress>,
    /// Functions that were out before and are back afterwards.
    pub restore: Vec<PciAddress>,
    /// Functions exchanged for new hardware (new GUIDs and firmware).
    pub replace: Vec<PciAddress>,
    /// Names after the reboot, where they change.
    pub names: BTreeMap<PciAddress, DeviceName>,
    /// Counters survive (`true`) or start at zero (`false`).
    pub keep_counters: bool,
    /// The boot id stays unreadable or the same only if a story says so; by default it changes.
    pub same_boot_id: bool,
}

/// A character device of a port, or of the device whose port it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CharDeviceKind {
    /// The port's `issm`.
    Issm,
    /// The port's `umad`.
    Umad,
    /// The device's `uverbs`.
    Uverbs,
}

/// One thing done to a world at one instant.
///
/// The parameters are how it names a port, several ports, a function and a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<P = SlotRef, S = Vec<SlotRef>, F = FunctionRef, N = NodeName> {
    /// To a port and its link.
    Port(P, PortAction),
    /// To several ports, together.
    Ports(S, PortsAction),
    /// To a PCI function and its devices.
    Device(F, DeviceAction),
    /// To a node.
    Node(N, NodeAction),
    /// Stop or start the subnet manager; ports that are `ACTIVE` stay so, others wait in `INIT`.
    SubnetManager {
        /// Whether it runs.
        running: bool,
        /// Whether its end also takes every InfiniBand port to `INIT` (a standby re-initialises).
        reinitialise: bool,
        /// Whether one that starts finds what it had written of links that went down.
        keeps_logs: bool,
    },
}

/// What is done to a port and its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortAction {
    /// Pull the cable of a port.
    Cut,
    /// End whatever was done to a port's link; it trains and comes up as its driver does. A port
    /// that never had a cable gets one.
    Mend,
    /// Disable a port administratively: `DOWN`, `Disabled`.
    Disable,
    /// Show these two values whatever the link does, until mended.
    Set {
        /// Logical state; unchanged if `None`.
        state: Option<PortState>,
        /// Physical state; unchanged if `None`.
        phys_state: Option<PhysState>,
    },
    /// Retrain, slowly: `ACTIVE` again only after this long. One that is dark does so when it has a
    /// signal again.
    TrainSlowly {
        /// From leaving `ACTIVE` to `ACTIVE` again.
        takes: SimTime,
    },
    /// Stay at one point of the way up until mended.
    Stick {
        /// Where.
        at: StickAt,
    },
    /// Show another speed (a degraded link stays `ACTIVE`).
    Speed {
        /// The rate shown.
        rate: Rate,
    },
    /// `ip link set <netdev> down` (or up): IPoIB keeps its port, RoCE loses it.
    Interface {
        /// Up or down.
        up: bool,
    },
    /// Show another operstate, until mended.
    Operstate {
        /// Such as `lowerlayerdown`.
        text: String,
    },
    /// An end takes its link down, for one of these reasons, among others: the fabric manager
    /// bounces it (39), its speed or width is outside the policy (40, 41), it reboots (35); and for
    /// good, until [`PortAction::LetUp`] or [`PortAction::Mend`]: the switch's own management or the subnet
    /// management agent disables it (60, 61), the chassis does (52), power, speed or width can never
    /// be met (56, 57, 58), there is no partner to be had (49, 51, 54).
    TakeDown {
        /// Which end of its link.
        side: Side,
        /// Why.
        reason: LinkDownReason,
        /// Whether the message reaches the other end.
        says: bool,
    },
    /// Both ends take the link down at the same instant, each for a reason that does not hold (as 35
    /// or 39, not as 60), and each with whether its message reaches the other.
    BothTakeDown {
        /// Why the node's own end does.
        here: (LinkDownReason, bool),
        /// Why its partner does.
        there: (LinkDownReason, bool),
    },
    /// A message of the other end's arrives: the link is about to go, for this reason, or for none. The
    /// other end remembers nothing of it.
    Hear {
        /// Which end of its link hears it.
        side: Side,
        /// What it says.
        message: LinkDownReason,
    },
    /// A reason no longer keeps an end down.
    LetUp {
        /// Which end of its link.
        side: Side,
        /// Which reason.
        reason: LinkDownReason,
    },
    /// An end finds an error in what it receives (reasons 1 to 32); the link bounces if the end's
    /// PortErrorAction names it.
    PacketError {
        /// Which end of its link.
        side: Side,
        /// The error.
        reason: LinkDownReason,
    },
    /// The error registers of the node's own port hold this; the link bounces as by any other error.
    ErrorRegisters {
        /// What they hold.
        info: ErrorInfo,
    },
    /// An end's receive buffer overruns: `excessive_buffer_overrun_errors` grows if it is the
    /// node's own port, and the link bounces as by any other error.
    BufferOverrun {
        /// Which end of its link.
        side: Side,
    },
    /// An end is told which errors take its link down; at the start all do.
    ErrorAction {
        /// Which end of its link.
        side: Side,
        /// Which errors.
        action: PortErrorAction,
    },
    /// The fabric manager leaves an end in Init from now on, for this reason, or no longer.
    Quarantine {
        /// Which end of its link.
        side: Side,
        /// Why; none ends it.
        reason: Option<LinkInitReason>,
    },
    /// The module is taken out of an end, or put in again.
    Module {
        /// Which end of its link.
        side: Side,
        /// Whether it is in from now on.
        there: bool,
    },
    /// The host at the other end reboots, in good order.
    NeighbourReboot {
        /// From going to its port's signalling again.
        takes: SimTime,
    },
    /// A port of a device that stays is no longer listed in `ports/`.
    RemovePort,
    /// That port is listed again.
    RestorePort,
    /// The port comes up under the other link layer.
    ChangeLayer {
        /// The new layer.
        layer: LinkLayer,
    },
    /// Change a counter.
    Counter {
        /// Name of a file in `counters/`, `hw_counters/`, the net device's `statistics/` or `carrier_changes`.
        name: String,
        /// How.
        change: CounterChange,
    },
    /// Data moves over a port in both directions, as long as its link is up.
    Traffic {
        /// Bytes a second each way; 0 ends it.
        bytes_per_second: u64,
        /// Bytes in a packet, at least 1.
        packet_bytes: u32,
    },
    /// One of the port's character devices goes or comes back; the device and its ports stay.
    CharDevice {
        /// Which.
        kind: CharDeviceKind,
        /// Whether it is there from now on.
        there: bool,
    },
}

/// What is done to several ports together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortsAction {
    /// Leave `ACTIVE` and return to it, several times.
    Flap {
        /// How many times each goes down.
        times: u32,
        /// From leaving `ACTIVE` to `ACTIVE` again.
        down: SimTime,
        /// From `ACTIVE` to the next leaving.
        up: SimTime,
        /// The nth port starts n times this later.
        stagger: SimTime,
    },
    /// The switch that ports hang on loses power, or has it again.
    SwitchPower {
        /// Whether it has power from now on.
        on: bool,
    },
}

/// What is done to a PCI function and its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceAction {
    /// The function falls off the bus.
    Remove,
    /// The function is back: PCI first, then net and RDMA, then its ports train.
    Restore,
    /// The RDMA device gets another name, at once.
    Rename {
        /// The new name; a device that bears it takes the old one (a swap).
        to: DeviceName,
    },
    /// New hardware in the slot: new GUIDs and firmware, same place. Of a function that is on the
    /// bus, the new one is found at once; of one that is not, when it is restored. The other
    /// functions of a card stay the old ones.
    Replace,
    /// All functions of the card vanish together, and come back.
    FirmwareReset {
        /// From vanishing to being back.
        takes: SimTime,
    },
    /// A PCI error: the driver detaches and, after this long, recovers.
    PciError {
        /// From detaching to being back.
        takes: SimTime,
    },
    /// The RDMA and net devices move to another namespace: the class entries go, PCI stays.
    LeaveNamespace,
    /// They come back.
    ReturnToNamespace,
    /// A card of this function's make that was never there appears.
    HotAdd {
        /// Where it appears.
        at: PciAddress,
        /// Its name.
        name: DeviceName,
        /// Whether its ports have a cable.
        cabled: bool,
    },
    /// Create this many virtual functions of a physical one, all unassigned.
    CreateVfs {
        /// How many.
        count: u16,
    },
    /// Give a virtual function to a guest or container: its port comes up.
    AssignVf,
    /// Take it back: its port goes down.
    ReleaseVf,
    /// Remove all virtual functions of a physical one.
    DestroyVfs,
}

/// What is done to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeAction {
    /// Detach the RDMA driver from every function of the node: the class folder goes.
    DriverUnload,
    /// Attach it again.
    DriverLoad {
        /// Names that changed.
        names: BTreeMap<PciAddress, DeviceName>,
    },
    /// The node goes down, and is up again when its plan says so. Its links are down from the first
    /// moment and as far up as they can be at the end. Faults of links, functions off the bus, files
    /// and routes outlast it; what only the running kernel knew (an unloaded driver, other namespaces,
    /// virtual functions, a reset under way) does not.
    Reboot {
        /// How, and what changes on the way.
        plan: RebootPlan,
    },
    /// The wall clock jumps; boot time does not.
    ClockStep {
        /// By how much, nanoseconds.
        by_ns: i64,
    },
    /// The metadata collector's file becomes this.
    Metadata {
        /// The file.
        file: MetadataFile,
    },
    /// The route table becomes this.
    Routes {
        /// The table.
        routes: Routes,
    },
}

impl PortAction {
    /// Done to this port.
    #[must_use]
    pub fn on(self, slot: SlotRef) -> Action {
        Action::Port(slot, self)
    }
}

impl PortsAction {
    /// Done to these ports.
    #[must_use]
    pub fn on(self, slots: Vec<SlotRef>) -> Action {
        Action::Ports(slots, self)
    }
}

impl DeviceAction {
    /// Done to this function.
    #[must_use]
    pub fn on(self, function: FunctionRef) -> Action {
        Action::Device(function, self)
    }
}

impl NodeAction {
    /// Done to this node.
    #[must_use]
    pub fn on(self, node: NodeName) -> Action {
        Action::Node(node, self)
    }
}
