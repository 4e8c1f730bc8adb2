//! A line of `do:` or `given:` as parsed, before it is resolved in a world.
//!
//! [`crate::verbs`] parses it; [`crate::resolve::action_resolver`] resolves its ports and devices.

use fabric::{Action, DeviceAction, PortAction, PortsAction};
use files::Place;
use lnet::{FaultRule, Nid, Param, Verb};
use mpib::SupBandwidth;
use platforms::LinkLayer;
use simfs::SimTime;

use crate::keys::Keys;
use crate::row::{Row, word};
use crate::story::{
    ConnectorAction, FileOp, NiChange, RuleEffect, RuleLasting, Signal, StateFileAction,
};
use crate::subject::{FileSpec, NodeNames, Subjects};
use crate::values::{DEVICES, NamesSpec, PORTS};

/// A line of `do:` or `given:`.
#[derive(Clone, Debug)]
pub(crate) struct VerbLine {
    /// Where it is in the file.
    pub(crate) place: Place,
    /// The line as shown to people.
    pub(crate) text: String,
    /// The nodes it names.
    pub(crate) nodes: NodeNames,
    /// The link layer that it is restricted to.
    pub(crate) only: Option<LinkLayer>,
    /// What it does.
    pub(crate) spec: VerbSpec,
}

/// An action on ports, devices, the nodes of the line, or the fabric.
pub(crate) type ActionSpec = Action<Subjects, Subjects, Subjects, ()>;

/// Where a fault rule of LNet names NIDs, if it does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RulePlaces {
    pub(crate) from: Option<Place>,
    pub(crate) to: Option<Place>,
    pub(crate) ni: Option<Place>,
}

/// What a line does.
#[derive(Clone, Debug)]
pub(crate) enum VerbSpec {
    /// An action on the world.
    World(ActionSpec),
    /// A switch of the world loses its power, or has it again.
    SwitchPower { switch: (String, Place), on: bool },
    /// A fault rule of LNet.
    LnetFault {
        workload: String,
        rule: Box<FaultRule>,
        places: RulePlaces,
    },
    /// Removes such rules.
    NoLnetFault { workload: String },
    /// Sets a parameter of LNet.
    LnetSet {
        workload: String,
        param: Param,
        value: i64,
    },
    /// Changes an interface of LNet: whether it is a peer's, and its port.
    LnetNi {
        workload: String,
        of: (bool, Subjects),
        change: NiChange,
    },
    /// A single request over LNet.
    LnetSend { workload: String, send: SendSpec },
    /// An action on the agent of a node.
    Agent { workload: String, agent: AgentSpec },
    /// The RDMA driver attaches again, with new device names.
    DriverLoad(NamesSpec),
    /// The node goes down and comes back.
    Reboot(RebootSpec),
    /// Replaces the metadata file.
    Metadata(MetadataSpec),
    /// Replaces the route table.
    Routes(RoutesSpec),
    /// A rule on a file.
    Rule {
        file: FileSpec,
        ops: Vec<FileOp>,
        effect: RuleEffect,
        lasting: RuleLasting,
        appears_later: bool,
    },
    /// Removes the rules on a file; all rules if `None`.
    NoRule(Option<FileSpec>),
    /// Changes the connector's behaviour.
    Connector(ConnectorAction),
    /// An operation on the monitor.
    Monitor(MonitorSpec),
    /// A change of the state file.
    StateFile(StateFileAction),
}

/// A request over LNet, with the places of its NIDs.
#[derive(Clone, Debug)]
pub(crate) struct SendSpec {
    pub(crate) verb: Verb,
    pub(crate) to: (Nid, Place),
    pub(crate) from: Option<(Nid, Place)>,
    pub(crate) length: u64,
    pub(crate) portal: u32,
}

/// An action of an agent, with the other node of a pair unresolved.
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

/// The new content of the metadata file.
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

/// The new content of the route table.
#[derive(Clone, Debug)]
pub(crate) enum RoutesSpec {
    Missing,
    NoDefault,
    Over(String),
    AtRest,
    OverPort(Subjects),
}

/// An operation on the monitor, with times not yet converted to ticks.
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

/// A verb that acts on each of its ports.
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

/// A verb that acts on its ports together.
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

/// A verb that acts on each of its devices.
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
