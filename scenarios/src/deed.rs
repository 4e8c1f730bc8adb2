//! A line of `do:` or `given:` as said, before anybody knows in which world.
//!
//! Here is what a deed holds; [`crate::deed_reader`] reads it, [`crate::doing`] finds its ports and
//! devices in a world.

use std::collections::BTreeMap;

use fabric::opa::{LinkDownReason, PortErrorAction};
use fabric::{CounterChange, Side, StickAt};
use platforms::yaml::Place;
use platforms::{DeviceName, LinkLayer, PciAddress, PhysState, PortState, Rate};
use simfs::SimTime;
use workloads::lnet::RuleSpec;
use workloads::mpib::SupBandwidth;

use crate::story::{ConnectorDeed, FileOp, RuleEffect, RuleLasting, Signal, StateFileDeed};
use crate::subject::{FileSaid, Nodes, Said, Subjects};

/// A line that does something.
#[derive(Clone, Debug)]
pub(crate) struct DeedLine {
    /// Where it stands.
    pub(crate) place: Place,
    /// As a person reads it.
    pub(crate) text: String,
    /// The nodes it names.
    pub(crate) nodes: Nodes,
    /// The only layer it touches.
    pub(crate) only: Option<LinkLayer>,
    /// What it does.
    pub(crate) deed: DeedSaid,
}

/// What a line does.
#[derive(Clone, Debug)]
pub(crate) enum DeedSaid {
    /// The same to each port.
    Ports(PortVerb, Subjects),
    /// The same to each device.
    Devices(DeviceVerb, Subjects),
    /// Flaps, together.
    Flap {
        of: Subjects,
        times: u32,
        down: SimTime,
        up: SimTime,
        stagger: SimTime,
    },
    /// What these ports are cabled to loses its power, or has it again.
    PartnerPower { of: Subjects, on: bool },
    /// A switch of the world loses its power, or has it again.
    SwitchPower {
        name: String,
        place: Place,
        on: bool,
    },
    /// A fault that LNet makes itself.
    LnetFault {
        workload: String,
        rule: Box<RuleSpec>,
    },
    /// An end to such faults.
    NoLnetFault { workload: String },
    /// Something done to, or by, the agent of a node.
    Agent { workload: String, deed: AgentSaid },
    /// To the subnet manager.
    SubnetManager { running: bool, reinitialise: bool },
    /// To the RDMA driver; names if it is loaded.
    DriverUnload,
    /// The driver attaches again.
    DriverLoad(NamesSaid),
    /// A card appears.
    HotAdd {
        like: Subjects,
        pci: PciAddress,
        name: DeviceName,
        cabled: bool,
    },
    /// The node goes down and comes back.
    Reboot(RebootSaid),
    /// The wall clock jumps by so many nanoseconds.
    ClockStep(i64),
    /// The metadata file becomes this.
    Metadata(MetadataSaid),
    /// The route table becomes this.
    Routes(RoutesSaid),
    /// A rule on a file.
    Rule {
        file: FileSaid,
        ops: Vec<FileOp>,
        effect: RuleEffect,
        lasting: RuleLasting,
    },
    /// An end to rules; to all of them if `None`.
    NoRule(Option<FileSaid>),
    /// To the connector.
    Connector(ConnectorDeed),
    /// To the monitor.
    Monitor(MonitorSaid),
    /// To the state file.
    StateFile(StateFileDeed),
}

/// What an agent does; the other node of a pair is not found yet.
#[derive(Clone, Debug)]
pub(crate) enum AgentSaid {
    Hint {
        pair: (String, Place),
        share: SupBandwidth,
    },
    Dies,
    DiesWhileWriting {
        pair: (String, Place),
    },
}

/// Done to a port.
#[derive(Clone, Debug)]
pub(crate) enum PortVerb {
    Cut,
    Mend,
    Disable,
    Set(Option<PortState>, Option<PhysState>),
    TrainSlowly(SimTime),
    Stick(StickAt),
    Speed(Rate),
    Interface {
        up: bool,
    },
    Operstate(String),
    RemovePort,
    RestorePort,
    ChangeLayer(LinkLayer),
    Counter(String, CounterChange),
    Traffic {
        bytes_per_second: u64,
        packet_bytes: u32,
    },
    CharDevice {
        kind: CharDeviceKind,
        there: bool,
    },
    TakeDown {
        side: Side,
        reason: LinkDownReason,
        says: bool,
    },
    BothTakeDown {
        here: (LinkDownReason, bool),
        there: (LinkDownReason, bool),
    },
    LetUp(Side, LinkDownReason),
    PacketError(Side, LinkDownReason),
    ErrorAction(Side, PortErrorAction),
    Module {
        side: Side,
        there: bool,
    },
    NeighbourReboots(SimTime),
}

/// A character device of a port or its device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CharDeviceKind {
    Issm,
    Umad,
    Uverbs,
}

/// Done to a device.
#[derive(Clone, Debug)]
pub(crate) enum DeviceVerb {
    Remove,
    Restore,
    Rename(DeviceName),
    Replace,
    FirmwareReset(SimTime),
    PciError(SimTime),
    LeaveNamespace,
    ReturnToNamespace,
    CreateVfs(u16),
    AssignVf,
    ReleaseVf,
    DestroyVfs,
}

/// Names by handle: which devices, and what they are called.
pub(crate) type NamesSaid = BTreeMap<String, (Place, Said, DeviceName)>;

/// A reboot as said.
#[derive(Clone, Debug)]
pub(crate) struct RebootSaid {
    pub(crate) takes: SimTime,
    pub(crate) mend: Option<Subjects>,
    pub(crate) remove: Option<Subjects>,
    pub(crate) restore: Option<Subjects>,
    pub(crate) replace: Option<Subjects>,
    pub(crate) names: NamesSaid,
    pub(crate) keep_counters: bool,
    pub(crate) same_boot_id: bool,
    pub(crate) announced: bool,
}

/// What the metadata file becomes.
#[derive(Clone, Debug)]
pub(crate) enum MetadataSaid {
    Missing,
    Text(String),
    AtRest,
    EmptyTopology,
    UnknownNuma,
    NoGpus,
    Without(Subjects),
    ShortRow(Subjects),
}

/// What the route table becomes.
#[derive(Clone, Debug)]
pub(crate) enum RoutesSaid {
    Missing,
    NoDefault,
    Over(String),
    AtRest,
    OverPort(Subjects),
}

/// What is done to the monitor; times are not ticks yet.
#[derive(Clone, Debug)]
pub(crate) enum MonitorSaid {
    Restart {
        signal: Signal,
        away: SimTime,
        flags: Vec<String>,
        config: Option<String>,
    },
    Stop(Signal),
    Start {
        flags: Vec<String>,
    },
    Pause(SimTime),
}
