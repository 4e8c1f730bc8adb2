//! What a line of `do:` or `given:` says, before anybody knows in which world.
//!
//! The rows of [`crate::verbs`] make it of a line; [`crate::resolver`] finds its ports and devices in a
//! world.

use fabric::{Action, DeviceAction, PortAction, PortsAction};
use lnet::FaultRule;
use mpib::SupBandwidth;
use platforms::LinkLayer;
use platforms::yaml::Place;
use simfs::SimTime;

use crate::keys::Keys;
use crate::row::{Row, word};
use crate::story::{ConnectorAction, FileOp, RuleEffect, RuleLasting, Signal, StateFileAction};
use crate::subject::{FileSpec, NodeNames, Subjects};
use crate::values::{DEVICES, NamesSpec, PORTS};

/// A line that does something.
#[derive(Clone, Debug)]
pub(crate) struct VerbLine {
    /// Where it stands.
    pub(crate) place: Place,
    /// As a person reads it.
    pub(crate) text: String,
    /// The nodes it names.
    pub(crate) nodes: NodeNames,
    /// The only layer it touches.
    pub(crate) only: Option<LinkLayer>,
    /// What it does.
    pub(crate) spec: VerbSpec,
}

/// Something done to ports, devices, the nodes of the line, or the fabric.
pub(crate) type ActionSpec = Action<Subjects, Subjects, Subjects, ()>;

/// What a line does.
#[derive(Clone, Debug)]
pub(crate) enum VerbSpec {
    /// To the world.
    World(ActionSpec),
    /// A switch of the world loses its power, or has it again.
    SwitchPower { switch: (String, Place), on: bool },
    /// A fault that LNet makes itself.
    LnetFault {
        workload: String,
        rule: Box<FaultRule>,
    },
    /// An end to such faults.
    NoLnetFault { workload: String },
    /// Something done to, or by, the agent of a node.
    Agent { workload: String, agent: AgentSpec },
    /// The RDMA driver attaches again; names that changed.
    DriverLoad(NamesSpec),
    /// The node goes down and comes back.
    Reboot(RebootSpec),
    /// The metadata file becomes this.
    Metadata(MetadataSpec),
    /// The route table becomes this.
    Routes(RoutesSpec),
    /// A rule on a file.
    Rule {
        file: FileSpec,
        ops: Vec<FileOp>,
        effect: RuleEffect,
        lasting: RuleLasting,
    },
    /// An end to rules; to all of them if `None`.
    NoRule(Option<FileSpec>),
    /// To the connector.
    Connector(ConnectorAction),
    /// To the monitor.
    Monitor(MonitorSpec),
    /// To the state file.
    StateFile(StateFileAction),
}

/// What an agent does; the other node of a pair is not found yet.
#[derive(Clone, Debug)]
pub(crate) enum AgentSpec {
    Hint {
        pair: (String, Place),
        share: SupBandwidth,
    },
    Dies,
    DiesWhileWriting {
        pair: (String, Place),
    },
}

/// A reboot.
#[derive(Clone, Debug)]
pub(crate) struct RebootSpec {
    pub(crate) takes: SimTime,
    pub(crate) mend: Option<Subjects>,
    pub(crate) remove: Option<Subjects>,
    pub(crate) restore: Option<Subjects>,
    pub(crate) replace: Option<Subjects>,
    pub(crate) names: NamesSpec,
    pub(crate) keep_counters: bool,
    pub(crate) same_boot_id: bool,
    pub(crate) announced: bool,
}

/// What the metadata file becomes.
#[derive(Clone, Debug)]
pub(crate) enum MetadataSpec {
    Missing,
    Malformed,
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
pub(crate) enum RoutesSpec {
    Missing,
    NoDefault,
    Over(String),
    AtRest,
    OverPort(Subjects),
}

/// What is done to the monitor; times are not ticks yet.
#[derive(Clone, Debug)]
pub(crate) enum MonitorSpec {
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

/// A verb that does the same to each port that it names.
pub(crate) const fn port<F: Keys>(
    name: &'static str,
    text: &'static str,
    example: &'static str,
    keys: F,
    becomes: fn(F::Value) -> PortAction,
) -> impl Row<VerbSpec> {
    word(name, PORTS, text, example, keys, move |_, of, keys| {
        Ok(VerbSpec::World(Action::Port(of, becomes(keys))))
    })
}

/// A verb that does something to the ports that it names together.
pub(crate) const fn ports<F: Keys>(
    name: &'static str,
    text: &'static str,
    example: &'static str,
    keys: F,
    becomes: fn(F::Value) -> PortsAction,
) -> impl Row<VerbSpec> {
    word(name, PORTS, text, example, keys, move |_, of, keys| {
        Ok(VerbSpec::World(Action::Ports(of, becomes(keys))))
    })
}

/// A verb that does the same to each device that it names.
pub(crate) const fn device<F: Keys>(
    name: &'static str,
    text: &'static str,
    example: &'static str,
    keys: F,
    becomes: fn(F::Value) -> DeviceAction,
) -> impl Row<VerbSpec> {
    word(name, DEVICES, text, example, keys, move |_, of, keys| {
        Ok(VerbSpec::World(Action::Device(of, becomes(keys))))
    })
}
