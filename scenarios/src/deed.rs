//! A line of `do:` or `given:` as said, before anybody knows in which world.
//!
//! Here is what a deed holds; [`crate::deed_reader`] reads it, [`crate::doing`] finds its ports and
//! devices in a world.

use std::collections::BTreeMap;

use fabric::Action;
use platforms::yaml::Place;
use platforms::{DeviceName, LinkLayer};
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
    /// Something done to ports, devices, the nodes of the line, or the fabric.
    World(Action<Subjects, Subjects, Subjects, ()>),
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
    /// The RDMA driver attaches again; names that changed.
    DriverLoad(NamesSaid),
    /// The node goes down and comes back.
    Reboot(RebootSaid),
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
