//! One scenario in one world with everything resolved: what a drill plays and judges.
//!
//! A story holds slots, not selections; times, not texts; and every line of it knows its place in
//! the file it came from. It is built by [`crate::Scenario::in_world`]; it plays nothing itself.

use std::{collections::BTreeMap, fmt, ops::RangeInclusive};

use fabric::{
    Action,
    ends::{OfflineDisabledReason, Pair},
};
use platforms::{DeviceName, LinkLayer, NodeName, PciAddress, Platform, PortNumber, Role, SlotRef};
use simfs::{Errno, SimTime};
use workloads::{Cause, Fate, LoadDeed, Plan};

use crate::cluster::{ClusterPlan, ConditionIs, RuleIs, Stands};

/// A place in a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was named to the reader.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Where a story can be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// Pure code, simulated hands.
    Memory,
    /// A real process on a real mount.
    Process,
}

/// Which of the monitor's checks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChecksRun {
    /// The two state checks.
    #[default]
    State,
    /// The two counter checks.
    Counters,
    /// The check of character devices alone.
    CharDevices,
    /// All five.
    All,
}

/// Whether and how the world is healed at the story's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heal {
    /// Everything is mended, and this many polls later nothing may be outstanding.
    Within {
        /// The deadline, in polls after the last port that should be up is ACTIVE.
        polls: u32,
    },
    /// The story ends in trouble.
    Never {
        /// Why it may.
        because: String,
    },
}

/// One scenario in one world.
#[derive(Clone, Debug)]
pub struct Story {
    /// `family/name`, from the file's place.
    pub name: String,
    /// The scenario's title line.
    pub title: String,
    /// Why it exists.
    pub why: String,
    /// Ids of the clauses it covers, such as `lsd/3.4/healthy-to-unhealthy-is-fatal`.
    pub covers: Vec<String>,
    /// The world's name: the platform's for a world of one node.
    pub world: String,
    /// The nodes, each with its platform, in order of name.
    pub nodes: Vec<(NodeName, Platform)>,
    /// Nodes that have a monitor in their chair.
    pub chairs: Vec<NodeName>,
    /// What runs on the links, by name, from the start.
    pub workloads: BTreeMap<String, Plan>,
    /// The cluster that hears its monitors.
    pub cluster: ClusterPlan,
    /// One poll's length.
    pub tick: SimTime,
    /// The last instant of the story; healing comes after.
    pub until: SimTime,
    /// How it ends.
    pub heal: Heal,
    /// Which checks run.
    pub checks: ChecksRun,
    /// Where it can be played, in order.
    pub arms: Vec<Arm>,
    /// Flags for the monitor beyond the descriptor's (reference monitor's spelling), in order.
    pub flags: Vec<String>,
    /// Lines put into the monitor's config.toml.
    pub config: String,
    /// Done before the monitor starts.
    pub given: Vec<Step>,
    /// Done while it runs, in order of time.
    pub steps: Vec<Step>,
    /// What is expected.
    pub expectations: Vec<Expectation>,
    /// Fold minutes of nothing in a trace.
    pub fold_quiet: bool,
}

/// Something done at an instant.
#[derive(Clone, Debug)]
pub struct Step {
    /// When.
    pub at: SimTime,
    /// Where in the file.
    pub place: Place,
    /// The line as a person reads it.
    pub text: String,
    /// At which moment within the next poll, instead of before it.
    pub moment: Option<Moment>,
    /// What is done, in order.
    pub deeds: Vec<Deed>,
}

/// A moment within a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// This must have been asked before in the same poll.
    pub after: Option<FileMoment>,
    /// And this is being asked now, not answered yet.
    pub before: Option<FileMoment>,
    /// Instead of both: a moment of a call.
    pub call: Option<CallMoment>,
}

/// A moment of a call to the connector, counted within the poll from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMoment {
    /// The nth call has been received and not answered yet; if the monitor ends here, nothing of it
    /// is accepted.
    Received(u32),
    /// The nth call has been accepted, and the monitor knows it not yet.
    Accepted(u32),
}

/// A logical operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMoment {
    /// The operation.
    pub op: FileOp,
    /// The file.
    pub file: FileRef,
    /// The how-manieth such operation, from 1.
    pub nth: u64,
}

/// Logical operations that a story can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileOp {
    /// A folder's listing (`readdir`).
    List,
    /// A file's reading (`open` or `read`).
    Read,
    /// Writing to the writable folder.
    Write,
    /// Creating a file there.
    Create,
    /// Flushing a file there.
    Fsync,
    /// Renaming a file there.
    Rename,
    /// Removing a file there.
    Unlink,
}

/// A file as a story names it; slots are looked up when the deed is done, so names follow hardware.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileRef {
    /// A file below the mount root, wildcards allowed.
    Path(String),
    /// A file below a port's folder, such as `state`.
    Port(SlotRef, String),
    /// A file below a device's class folder, such as `device/numa_node`; empty for the folder.
    Device(NodeName, PciAddress, String),
    /// The monitor's state file (or its temporary sibling, for writes).
    StateFile,
}

/// Something done.
#[derive(Clone, Debug)]
pub enum Deed {
    /// To the world.
    World(Action),
    /// To the way files answer.
    Rule(RuleDeed),
    /// An end to the rules on a file, or to all.
    Unrule(Option<FileRef>),
    /// To the connector.
    Connector(NodeName, ConnectorDeed),
    /// To the monitor in a node's chair.
    Monitor(NodeName, MonitorDeed),
    /// To the monitor's state file.
    StateFile(NodeName, StateFileDeed),
    /// To a workload.
    Load(LoadDeed),
    /// The node goes down with its monitor, and both are back after this long.
    Reboot {
        /// The node.
        node: NodeName,
        /// From going down to the next poll.
        takes: SimTime,
        /// What the world does then: it reboots, or has lost power in between.
        action: Action,
    },
}

/// A rule between tree and reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDeed {
    /// The node whose files.
    pub node: NodeName,
    /// Which files.
    pub file: FileRef,
    /// Which operations.
    pub ops: Vec<FileOp>,
    /// What comes of them.
    pub effect: RuleEffect,
    /// When.
    pub lasting: RuleLasting,
}

/// What a rule makes of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleEffect {
    /// It ends with this error.
    Fail(Errno),
    /// No answer comes.
    Hang {
        /// Whether a kill frees the one who waits.
        killable: bool,
        /// When it ends.
        until: HangEnd,
    },
    /// The file gives this text instead.
    Content(Vec<u8>),
    /// The file gives at most so many bytes.
    Truncate(usize),
    /// The first part of the old value and the rest of this one.
    Torn(Vec<u8>),
    /// What is named goes away at that operation.
    Vanish,
    /// A write takes only so many bytes.
    ShortWrite(usize),
}

/// When a hang ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangEnd {
    /// The monitor's own timeout ends it.
    GivenUp,
    /// After so many ticks the request is answered.
    Ticks(u32),
}

/// How long a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleLasting {
    /// Until it is taken away or the world is healed.
    Always,
    /// For this long.
    For(SimTime),
    /// On the nth operation only, from 1.
    Nth(u64),
    /// On the first so many.
    First(u64),
}

/// How the connector behaves from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorDeed {
    /// How.
    pub behaviour: ConnectorBehaviour,
    /// How long; for ever (until healed or told otherwise) if neither is given.
    pub lasting: ConnectorLasting,
}

/// How long a connector behaves so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorLasting {
    /// Until told otherwise.
    Always,
    /// For this long.
    For(SimTime),
    /// For so many calls.
    Calls(u32),
}

/// What a connector does with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectorBehaviour {
    /// Takes it.
    Accept,
    /// The socket's file is absent.
    Absent,
    /// The socket is there, nobody listens: connection refused, nothing received.
    Down,
    /// Received, answered UNAVAILABLE.
    Refuse,
    /// Received, answered with this gRPC code.
    Code(i32),
    /// Accepted, the answer comes after this much real time.
    Slow(SimTime),
    /// Received, never answered; ends with the caller's timeout, nothing is accepted.
    Hang,
    /// Accepted, and the reply is lost.
    LoseReply,
    /// Received, and the connection is cut before an answer; nothing is accepted.
    Disconnect,
}

/// Signals that end a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
}

/// What is done to the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorDeed {
    /// End it and start it again.
    Restart {
        /// With which signal.
        signal: Signal,
        /// Ticks without a poll in between, from the step's own tick on (at a moment within a poll:
        /// from the next tick on). 0: the new one polls in that very tick.
        away_ticks: u32,
        /// Further flags from now on (later ones win).
        flags: Vec<String>,
        /// The config.toml lines from now on; unchanged if `None`.
        config: Option<String>,
    },
    /// End it and do not start it again.
    Stop {
        /// With which signal.
        signal: Signal,
    },
    /// Start it (after a stop, or a second one beside the first).
    Start {
        /// Further flags.
        flags: Vec<String>,
    },
    /// Let it stand still for so many ticks, from the step's own tick on.
    Pause {
        /// How many.
        ticks: u32,
    },
}

/// What is done to the state file, while the monitor is away or between polls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFileDeed {
    /// Remove it.
    Delete,
    /// Cut it to so many bytes.
    Truncate(usize),
    /// Let it hold this.
    Write(Vec<u8>),
    /// Change the JSON member `version` to this.
    Version(i64),
}

/// An inclusive window of ticks (polls), counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// First tick.
    pub from: u64,
    /// Last tick.
    pub to: u64,
}

/// Something expected.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Where in the file.
    pub place: Place,
    /// The line as a person reads it.
    pub text: String,
    /// On which node; every node with a chair if `None`.
    pub node: Option<NodeName>,
    /// In which ticks.
    pub window: Window,
    /// What.
    pub what: What,
}

/// What is expected.
#[derive(Clone, Debug)]
pub enum What {
    /// This event, exactly so often.
    Say {
        /// The event.
        event: EventPattern,
        /// How often.
        times: Times,
        /// Whether an attempt is enough (`said`), or it must have been accepted.
        said: bool,
        /// Events of one ordered group must come in the group's order: (group, place in it).
        in_order: Option<(u32, u32)>,
    },
    /// For each port: these events in this order, once per edge of the port, each in the poll that
    /// first can see the edge or within so many polls after.
    FollowEdges {
        /// The port.
        slot: SlotRef,
        /// How many times it goes down.
        times: u32,
        /// How many polls later at most.
        within_polls: u32,
        /// The event for a falling edge; none if silent.
        down: Option<Box<EventPattern>>,
        /// The event for a rising edge; none if silent.
        up: Option<Box<EventPattern>>,
    },
    /// No event in the window that no other expectation names; with `said`, not even an attempt.
    Nothing {
        /// About these only; about anything if empty.
        about: Vec<About>,
        /// Whether attempts count.
        said: bool,
    },
    /// The healthy events of a first poll: one for each healthy monitored port; with `fresh`, also
    /// one for each device whose ports are all healthy and for each compared card that meets its peers.
    Baseline {
        /// No old state could be read.
        fresh: bool,
        /// Not these.
        except: Vec<SlotRef>,
        /// Its place in an ordered group, as for [`What::Say`].
        in_order: Option<(u32, u32)>,
    },
    /// The monitor ends with this exit code.
    Exit {
        /// The code.
        code: i32,
    },
    /// A line of the monitor's log contains this text.
    Log {
        /// The text; `…` stands for anything.
        contains: String,
    },
    /// No log line does.
    NoLog {
        /// The text.
        contains: String,
    },
    /// So many polls happen in the window.
    Polls(u64),
    /// So many calls are received in the window.
    Calls {
        /// How many.
        count: u64,
    },
    /// About the state file at the window's end.
    StateFile(StateFileIs),
    /// This file is read so often in the window.
    Reads {
        /// The file.
        file: FileRef,
        /// How often.
        times: Times,
    },
    /// The values of a metric when the window's last poll has ended.
    Metric {
        /// Its name, as `/metrics` tells it.
        name: String,
        /// Labels that a value must have, among others.
        labels: BTreeMap<String, String>,
        /// What the sum of these values is.
        is: MetricIs,
    },
    /// The status of `/healthz` at the end of the window's last tick.
    Healthz {
        /// The HTTP status.
        status: u16,
    },
    /// What both ends of a port's link remember, in one of the window's ticks.
    Link {
        /// The port.
        slot: SlotRef,
        /// Of the node's own end.
        here: EndIs,
        /// Of its partner.
        there: EndIs,
    },
    /// How an LNet interface stands in one of the window's ticks.
    Lnet(LnetIs),
    /// What became of a workload at the end of the window's last tick.
    Workload(WorkloadIs),
    /// Whether the monitor's word about a workload was right.
    Verdict {
        /// The workload.
        workload: String,
        /// What it is.
        verdict: Verdict,
        /// How long before the failure the word came, nanoseconds, both included; negative: after it.
        lead: Option<(i64, i64)>,
    },
    /// Whether a node condition stands at a poll's end.
    Condition(ConditionIs),
    /// Whether the node is cordoned at a poll's end.
    Cordoned(Stands),
    /// Whether the node is released in one of the window's ticks.
    Uncordoned(bool),
    /// A correlation rule speaks in the window, or does not.
    Rule(RuleIs),
    /// No rule speaks in the window.
    RulesSilent,
    /// The monitor is stuck in the kernel (cannot be killed) at the end.
    StuckInKernel,
}

impl What {
    /// Whether it is about the world, whatever a monitor says.
    #[must_use]
    pub fn is_of_the_world(&self) -> bool {
        matches!(
            self,
            Self::Link { .. } | Self::Lnet(_) | Self::Workload(_) | Self::Verdict { .. }
        )
    }

    /// Whether it is about what a cluster makes of events.
    #[must_use]
    pub fn is_a_consequence(&self) -> bool {
        let is_of_a_node = matches!(
            self,
            Self::Condition(_) | Self::Cordoned(_) | Self::Uncordoned(_)
        );
        is_of_a_node || self.is_of_the_rules()
    }

    /// Whether it is about the one analyzer that hears all the monitors.
    #[must_use]
    pub fn is_of_the_rules(&self) -> bool {
        matches!(self, Self::Rule(_) | Self::RulesSilent)
    }
}

/// How an LNet interface can be expected to stand; unchecked where nothing is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LnetIs {
    /// The workload.
    pub workload: String,
    /// In whose eyes.
    pub seen_from: NodeName,
    /// The port of the interface.
    pub slot: SlotRef,
    /// Its status.
    pub up: Option<bool>,
    /// Its fatal flag.
    pub fatal: Option<bool>,
    /// Its health.
    pub health: Option<RangeInclusive<u64>>,
}

/// What can be expected of a workload; unchecked where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadIs {
    /// The workload.
    pub workload: String,
    /// What became of it.
    pub fate: Option<Fate>,
    /// What it failed of.
    pub cause: Option<Cause>,
    /// Between which instants, both included.
    pub failed: Option<(SimTime, SimTime)>,
    /// Errors that the layer on top was told of.
    pub errors: Option<RangeInclusive<u64>>,
    /// Tries beyond the first, or messages that had to wait.
    pub retries: Option<RangeInclusive<u64>>,
    /// Writes that were answered, or messages that got through.
    pub done: Option<RangeInclusive<u64>>,
}

/// Whether a monitor was right, by the only question that "NIC Health Monitor: Link State Detection",
/// 1.3, allows: will the running workload fail because of this?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Fatal and failed, or silent and not failed.
    Agreement,
    /// Fatal, and it did not fail.
    OverReport,
    /// Silent, and it failed.
    UnderReport,
}

impl Verdict {
    /// All.
    pub const ALL: [Self; 3] = [Self::Agreement, Self::OverReport, Self::UnderReport];

    /// As scenarios and reports spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::OverReport => "over-report",
            Self::UnderReport => "under-report",
        }
    }

    /// Of a monitor that did or did not say that it is fatal, about a workload that did or did not fail.
    #[must_use]
    pub fn of(fatal: bool, failed: bool) -> Self {
        match (fatal, failed) {
            (true, false) => Self::OverReport,
            (false, true) => Self::UnderReport,
            _ => Self::Agreement,
        }
    }
}

/// What an end of a link can be expected to be; unchecked where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndIs {
    /// Both its reasons.
    pub pair: Option<PairIs>,
    /// Why it is offline or disabled.
    pub offline: Option<OfflineDisabledReason>,
    /// The subnet manager's log of it, oldest entry first.
    pub log: Option<Vec<Pair>>,
}

/// What the reasons of an end can be expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairIs {
    /// Nobody can ask it.
    Unavailable,
    /// These.
    Shown(Pair),
}

/// What the sum of a metric's values can be expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricIs {
    /// There is no such value, which is not zero.
    Absent,
    /// There is one, and the sum is in these bounds.
    Within {
        /// At least.
        least: u64,
        /// At most.
        most: u64,
    },
}

/// What a state file can be expected to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFileIs {
    /// The bytes it held at the window's start.
    Unchanged,
    /// Not there.
    Absent,
    /// There, and valid JSON.
    Valid,
    /// There, with this JSON member (a dotted path) equal to this JSON text.
    Holds {
        /// Dotted path.
        member: String,
        /// JSON text.
        equals: String,
    },
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// At least.
    pub at_least: u32,
    /// At most.
    pub at_most: u32,
}

impl Times {
    /// Exactly once.
    pub const ONCE: Self = Self {
        at_least: 1,
        at_most: 1,
    };
}

/// What an event says of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// `isFatal`, `REPLACE_VM`.
    Fatal,
    /// Unhealthy, not fatal, `NONE`.
    NonFatal,
    /// Healthy.
    Healthy,
}

/// Whom an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// A port, under the name its device bears when the event is said.
    Port(SlotRef),
    /// A device, under the name it bears (or bore last).
    Device(NodeName, PciAddress),
    /// A card: PCI domain:bus:device.
    Card(NodeName, PciAddress),
    /// A port of whatever bears this name.
    NamedPort(DeviceName, PortNumber),
    /// Whatever bears this name.
    NamedDevice(DeviceName),
    /// The whole check: no entities.
    Check,
}

/// An event as expected. Beside what is stated, every matched event must have the fields that the
/// wire's contract fixes: agent, component class, versions, node name, strategy, an action that
/// fits the tone, no error code on state events, entities in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPattern {
    /// What it says.
    pub tone: Tone,
    /// Of whom.
    pub about: About,
    /// The check; by the port's link layer if `None`.
    pub check: Option<String>,
    /// The message by link layer; unchecked where there is none. `…` stands for anything, and
    /// `{device}`, `{port}`, `{card}`, `{role}`, `{netdev}` for the subject's (already resolved where a handle was named).
    pub message: BTreeMap<LinkLayer, String>,
    /// `generatedTimestamp` at or after this instant of the drill (monitor's clock on the drill's).
    pub stamped_from: Option<SimTime>,
    /// And at or before this one.
    pub stamped_to: Option<SimTime>,
    /// Error codes, if stated.
    pub error_codes: Option<Vec<String>>,
    /// The counter whose event it is: said by the counter check of the port's layer unless `check`
    /// says otherwise, with the counter's name as its one error code.
    pub counter: Option<String>,
}

/// A role as declared, for telling.
#[must_use]
pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::Management => "management",
        Role::Compute => "compute",
        Role::Storage => "storage",
    }
}
