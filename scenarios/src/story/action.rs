//! What a story does: to the world, to the way files answer, to the connector, to the monitor. Start at
//! [`StepAction`].

use fabric::{Action, RebootPlan};
use platforms::NodeName;
use simfs::{Errno, SimTime};

use super::{FileOp, FileRef, WorkloadAction};

/// Something done.
#[derive(Clone, Debug)]
pub enum StepAction {
    /// To the world.
    World(Action),
    /// To the way files answer.
    Rule(RuleAction),
    /// An end to the rules on a file, or to all.
    Unrule(Option<FileRef>),
    /// To the connector.
    Connector(NodeName, ConnectorAction),
    /// To the monitor in a node's chair.
    Monitor(NodeName, MonitorAction),
    /// To the monitor's state file.
    StateFile(NodeName, StateFileAction),
    /// To a workload.
    Load(WorkloadAction),
    /// The node goes down with its monitor, and both are back when the plan says so.
    Reboot {
        /// The node.
        node: NodeName,
        /// How it reboots; it takes until the next poll.
        plan: RebootPlan,
    },
}

/// A rule between tree and reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleAction {
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
pub struct ConnectorAction {
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
pub enum MonitorAction {
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
pub enum StateFileAction {
    /// Remove it.
    Delete,
    /// Cut it to so many bytes.
    Truncate(usize),
    /// Let it hold this.
    Write(Vec<u8>),
    /// Change the JSON member `version` to this.
    Version(i64),
}
