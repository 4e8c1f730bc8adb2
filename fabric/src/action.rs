//! What can be done to a world: one variant for each verb about ports, links, devices, virtual
//! functions, counters and the host.
//!
//! An action names hardware by slot (PCI function and port), so it finds it under whatever name
//! the kernel gives it. Actions about files, the connector or the monitor are not here: they do
//! not touch a link.

use std::collections::BTreeMap;

use platforms::{
    CharDevice, CounterValue, DeviceName, LinkLayer, MetadataFile, NodeName, PciAddress, PhysState,
    PortState, Rate, Routes, SlotRef,
};
use simfs::SimTime;

use crate::{
    Side,
    opa::{LinkDownReason, PortErrorAction},
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

/// One thing done to a world at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Pull the cable of a port.
    Cut(SlotRef),
    /// End whatever was done to a port's link; it trains and comes up as its driver does. A port
    /// that never had a cable gets one.
    Mend(SlotRef),
    /// Disable a port administratively: `DOWN`, `Disabled`.
    Disable(SlotRef),
    /// Show these two values whatever the link does, until mended.
    Set {
        /// The port.
        slot: SlotRef,
        /// Logical state; unchanged if `None`.
        state: Option<PortState>,
        /// Physical state; unchanged if `None`.
        phys_state: Option<PhysState>,
    },
    /// Leave `ACTIVE` and return to it, several times.
    Flap {
        /// The ports.
        slots: Vec<SlotRef>,
        /// How many times each goes down.
        times: u32,
        /// From leaving `ACTIVE` to `ACTIVE` again.
        down: SimTime,
        /// From `ACTIVE` to the next leaving.
        up: SimTime,
        /// The nth port starts n times this later.
        stagger: SimTime,
    },
    /// Retrain, slowly: `ACTIVE` again only after this long. One that is dark does so when it has a
    /// signal again.
    TrainSlowly {
        /// The port.
        slot: SlotRef,
        /// From leaving `ACTIVE` to `ACTIVE` again.
        takes: SimTime,
    },
    /// Stay at one point of the way up until mended.
    Stick {
        /// The port.
        slot: SlotRef,
        /// Where.
        at: StickAt,
    },
    /// Show another speed (a degraded link stays `ACTIVE`).
    Speed {
        /// The port.
        slot: SlotRef,
        /// The rate shown.
        rate: Rate,
    },
    /// `ip link set <netdev> down` (or up): IPoIB keeps its port, RoCE loses it.
    Interface {
        /// The port whose net device it is.
        slot: SlotRef,
        /// Up or down.
        up: bool,
    },
    /// Show another operstate, until mended.
    Operstate {
        /// The port whose net device it is.
        slot: SlotRef,
        /// Such as `lowerlayerdown`.
        text: String,
    },
    /// Stop or start the subnet manager; ports that are `ACTIVE` stay so, others wait in `INIT`.
    SubnetManager {
        /// Whether it runs.
        running: bool,
        /// Whether its end also takes every InfiniBand port to `INIT` (a standby re-initialises).
        reinitialise: bool,
    },
    /// An end takes its link down, for one of these reasons, among others: the fabric manager
    /// bounces it (39), its speed or width is outside the policy (40, 41), it reboots (35); and for
    /// good, until [`Action::LetUp`] or [`Action::Mend`]: the switch's own management or the subnet
    /// management agent disables it (60, 61), the chassis does (52), power, speed or width can never
    /// be met (56, 57, 58), there is no partner to be had (49, 51, 54).
    TakeDown {
        /// The port.
        slot: SlotRef,
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
        /// The port.
        slot: SlotRef,
        /// Why the node's own end does.
        here: (LinkDownReason, bool),
        /// Why its partner does.
        there: (LinkDownReason, bool),
    },
    /// A reason no longer keeps an end down.
    LetUp {
        /// The port.
        slot: SlotRef,
        /// Which end of its link.
        side: Side,
        /// Which reason.
        reason: LinkDownReason,
    },
    /// An end finds an error in what it receives (reasons 1 to 32); the link bounces if the end's
    /// PortErrorAction names it.
    PacketError {
        /// The port.
        slot: SlotRef,
        /// Which end of its link.
        side: Side,
        /// The error.
        reason: LinkDownReason,
    },
    /// An end's receive buffer overruns: `excessive_buffer_overrun_errors` grows if it is the
    /// node's own port, and the link bounces as by any other error.
    BufferOverrun {
        /// The port.
        slot: SlotRef,
        /// Which end of its link.
        side: Side,
    },
    /// An end is told which errors take its link down; at the start all do.
    ErrorAction {
        /// The port.
        slot: SlotRef,
        /// Which end of its link.
        side: Side,
        /// Which errors.
        action: PortErrorAction,
    },
    /// The module is taken out of an end, or put in again.
    Module {
        /// The port.
        slot: SlotRef,
        /// Which end of its link.
        side: Side,
        /// Whether it is in from now on.
        there: bool,
    },
    /// The host at the other end reboots, in good order.
    NeighbourReboot {
        /// The port.
        slot: SlotRef,
        /// From going to its port's signalling again.
        takes: SimTime,
    },
    /// The switch that ports hang on loses power, or has it again.
    SwitchPower {
        /// The ports.
        slots: Vec<SlotRef>,
        /// Whether it has power from now on.
        on: bool,
    },
    /// A port of a device that stays is no longer listed in `ports/`.
    RemovePort(SlotRef),
    /// That port is listed again.
    RestorePort(SlotRef),
    /// The port comes up under the other link layer.
    ChangeLayer {
        /// The port.
        slot: SlotRef,
        /// The new layer.
        layer: LinkLayer,
    },
    /// The function falls off the bus.
    Remove(FunctionRef),
    /// The function is back: PCI first, then net and RDMA, then its ports train.
    Restore(FunctionRef),
    /// The RDMA device gets another name, at once.
    Rename {
        /// The function.
        function: FunctionRef,
        /// The new name; a device that bears it takes the old one (a swap).
        to: DeviceName,
    },
    /// New hardware in the slot: new GUIDs and firmware, same place. Of a function that is on the
    /// bus, the new one is found at once; of one that is not, when it is restored. The other
    /// functions of a card stay the old ones.
    Replace(FunctionRef),
    /// Detach the RDMA driver from every function of the node: the class folder goes.
    DriverUnload(NodeName),
    /// Attach it again.
    DriverLoad {
        /// The node.
        node: NodeName,
        /// Names that changed.
        names: BTreeMap<PciAddress, DeviceName>,
    },
    /// All functions of the card vanish together, and come back.
    FirmwareReset {
        /// One function of the card.
        function: FunctionRef,
        /// From vanishing to being back.
        takes: SimTime,
    },
    /// A PCI error: the driver detaches and, after this long, recovers.
    PciError {
        /// The function.
        function: FunctionRef,
        /// From detaching to being back.
        takes: SimTime,
    },
    /// The RDMA and net devices move to another namespace: the class entries go, PCI stays.
    LeaveNamespace(FunctionRef),
    /// They come back.
    ReturnToNamespace(FunctionRef),
    /// A card that was never there appears.
    HotAdd {
        /// Where it appears.
        function: FunctionRef,
        /// The function whose make it is.
        like: PciAddress,
        /// Its name.
        name: DeviceName,
        /// Whether its ports have a cable.
        cabled: bool,
    },
    /// Create this many virtual functions of a physical one, all unassigned.
    CreateVfs {
        /// The physical function.
        function: FunctionRef,
        /// How many.
        count: u16,
    },
    /// Give a virtual function to a guest or container: its port comes up.
    AssignVf(FunctionRef),
    /// Take it back: its port goes down.
    ReleaseVf(FunctionRef),
    /// Remove all virtual functions of a physical one.
    DestroyVfs(FunctionRef),
    /// Change a counter.
    Counter {
        /// The port.
        slot: SlotRef,
        /// Name of a file in `counters/`, `hw_counters/`, the net device's `statistics/` or `carrier_changes`.
        name: String,
        /// How.
        change: CounterChange,
    },
    /// Data moves over a port in both directions, as long as its link is up.
    Traffic {
        /// The port.
        slot: SlotRef,
        /// Bytes a second each way; 0 ends it.
        bytes_per_second: u64,
        /// Bytes in a packet, at least 1.
        packet_bytes: u32,
    },
    /// One of a device's character devices goes or comes back; the device and its ports stay.
    CharDevice {
        /// The function.
        function: FunctionRef,
        /// Which.
        device: CharDevice,
        /// Whether it is there from now on.
        there: bool,
    },
    /// The node goes down, and is up again when its plan says so. Its links are down from the first
    /// moment and as far up as they can be at the end. Faults of links, functions off the bus, files
    /// and routes outlast it; what only the running kernel knew (an unloaded driver, other namespaces,
    /// virtual functions, a reset under way) does not.
    Reboot {
        /// The node.
        node: NodeName,
        /// How, and what changes on the way.
        plan: RebootPlan,
    },
    /// The wall clock jumps; boot time does not.
    ClockStep {
        /// The node.
        node: NodeName,
        /// By how much, nanoseconds.
        by_ns: i64,
    },
    /// The metadata collector's file becomes this.
    Metadata {
        /// The node.
        node: NodeName,
        /// The file.
        file: MetadataFile,
    },
    /// The route table becomes this.
    Routes {
        /// The node.
        node: NodeName,
        /// The table.
        routes: Routes,
    },
}
