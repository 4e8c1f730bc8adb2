//! What a story does: to the world, to file operations, to the connector, to the monitor. Start at
//! [`StepAction`].

use fabric::{Action, RebootPlan};
use platforms::NodeName;
use simfs::{Errno, SimTime};

use super::{FileOp, FileRef, WorkloadAction};

/// One thing that a story does.
#[derive(Clone, Debug)]
pub enum StepAction {
    /// An action on the world.
    World(Action),
    /// A rule on file operations.
    Rule(RuleAction),
    /// Removes the rules on a file, or all rules.
    Unrule(Option<FileRef>),
    /// Changes the connector's behaviour.
    Connector(NodeName, ConnectorAction),
    /// An operation on a node's monitor.
    Monitor(NodeName, MonitorAction),
    /// A change of the monitor's state file.
    StateFile(NodeName, StateFileAction),
    /// An action on a workload.
    Load(WorkloadAction),
    /// The node goes down with its monitor; both are back after the plan's time.
    Reboot {
        /// The node.
        node: NodeName,
        /// How it reboots; it lasts until the next poll.
        plan: RebootPlan,
    },
}

/// A rule on the operations of a monitor on files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleAction {
    /// The node.
    pub node: NodeName,
    /// The files.
    pub file: FileRef,
    /// The operations.
    pub ops: Vec<FileOp>,
    /// The effect on them.
    pub effect: RuleEffect,
    /// When it applies.
    pub lasting: RuleLasting,
    /// Whether the file may appear later; otherwise it must be there when the rule begins.
    pub appears_later: bool,
}

/// The effect of a rule on an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleEffect {
    /// It ends with this error.
    Fail(Errno),
    /// It gets no answer.
    Hang {
        /// Whether a kill interrupts the waiting process.
        killable: bool,
        /// When it ends.
        until: HangEnd,
    },
    /// It returns this text instead.
    Content(Vec<u8>),
    /// It returns at most this many bytes.
    Truncate(usize),
    /// It returns the first part of the old value and the rest of this one.
    Torn(Vec<u8>),
    /// The file or folder disappears at that operation.
    Vanish,
    /// A write accepts only this many bytes.
    ShortWrite(usize),
}

/// When a hang ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangEnd {
    /// When the monitor's own timeout expires.
    GivenUp,
    /// After this many ticks the request is answered.
    Ticks(u32),
}

/// When a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleLasting {
    /// Until it is removed or the world is healed.
    Always,
    /// For this long.
    For(SimTime),
    /// On the nth operation only, from 1.
    Nth(u64),
    /// On the first operations, this many.
    First(u64),
}

/// A change of the connector's behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorAction {
    /// The behaviour.
    pub behaviour: ConnectorBehaviour,
    /// How long it lasts.
    pub lasting: ConnectorLasting,
}

/// How long a behaviour lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorLasting {
    /// Until it is changed or the world is healed.
    Always,
    /// For this long.
    For(SimTime),
    /// For this many calls.
    Calls(u32),
}

/// What a connector does with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectorBehaviour {
    /// Accepts it.
    Accept,
    /// The socket file is absent.
    Absent,
    /// The socket exists, but nothing listens: the connection is refused, nothing is received.
    Down,
    /// Received, answered with UNAVAILABLE.
    Refuse,
    /// Received, answered with this gRPC code.
    Code(i32),
    /// Accepted; the answer is delayed by this much real time.
    Slow(SimTime),
    /// Received, never answered; the caller times out, nothing is accepted.
    Hang,
    /// Accepted, but the reply is lost.
    LoseReply,
    /// Received, but the connection is closed before an answer; nothing is accepted.
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

/// An operation on the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorAction {
    /// Stop it and start it again.
    Restart {
        /// With which signal.
        signal: Signal,
        /// Ticks without a poll in between, from the step's own tick on (at a moment within a poll:
        /// from the next tick on). 0: the new process polls in that same tick.
        away_ticks: u32,
        /// Additional flags from now on (later ones win).
        flags: Vec<String>,
        /// Lines of config.toml from now on; unchanged if `None`.
        config: Option<String>,
    },
    /// Stop it and do not start it again.
    Stop {
        /// With which signal.
        signal: Signal,
    },
    /// Start it (after a stop, or a second one beside the first).
    Start {
        /// Further flags.
        flags: Vec<String>,
    },
    /// Suspend it for this many ticks, from the step's own tick on.
    Pause {
        /// Number of ticks.
        ticks: u32,
    },
}

/// A change of the state file, while the monitor is down or between polls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFileAction {
    /// Remove it.
    Delete,
    /// Truncate it to this many bytes.
    Truncate(usize),
    /// Replace its content.
    Write(Vec<u8>),
    /// Set its JSON member `version`.
    Version(i64),
}
