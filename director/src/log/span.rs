//! What lasts in the log: it begins with a step, and ends with its time or with another step; what has no end lasts until
//! the world is healed. Start at [`PortFault`].

use std::ops::RangeInclusive;

use platforms::{NodeName, SlotRef};
use scenarios::{FilePlace, RuleAction};

use super::occurrence::{Episode, Fault};
use crate::connector::Socket;

/// A fault of a port that no state of the port shows: a counter, a character device, a speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFault {
    /// The port.
    pub slot: SlotRef,
    /// The fault.
    pub fault: Fault,
    /// The first tick that can show it.
    pub from: u64,
    /// The first tick that does not any more; `None` if no step ended it.
    pub to: Option<u64>,
    /// The line that caused it.
    pub step: FilePlace,
    /// The line that ended it.
    pub ended_by: Option<FilePlace>,
}

/// A rule on reads, and when it is in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledReads {
    /// The files, the operations on them, and what they give: a value, an error, garbage, or no answer.
    pub rule: RuleAction,
    /// The episode that it is in, if it is in one.
    pub episode: Option<Episode>,
    /// The first tick in which it is in effect.
    pub from: u64,
    /// The first tick in which it is not any more; `None` if neither its time nor a step ended it.
    pub to: Option<u64>,
    /// Which operations from its beginning on it applies to, from 1; all if `None`.
    pub reads: Option<RangeInclusive<u64>>,
    /// The line that caused it.
    pub step: FilePlace,
    /// The line that ended it before its time.
    pub ended_by: Option<FilePlace>,
}

/// A time in which a connector accepts nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The node.
    pub node: NodeName,
    /// The state of the socket path meanwhile.
    pub socket: Socket,
    /// The first tick in which it accepts nothing.
    pub from: u64,
    /// The first tick in which it is over; `None` if neither its time nor a step ended it.
    pub to: Option<u64>,
    /// How many calls it refuses before it is over; `None` if it is not limited so.
    pub calls: Option<u32>,
    /// The line that caused it.
    pub step: FilePlace,
    /// The line that ended it before its time.
    pub ended_by: Option<FilePlace>,
}

impl Outage {
    /// Whether it lasts in a tick, if each poll makes one call. Calls do not end a socket that is missing or refuses.
    #[must_use]
    pub fn lasts_in(&self, tick: u64) -> bool {
        let calls = self.calls.filter(|_| self.socket == Socket::Listening);
        let by_calls = calls.map(|calls| self.from.saturating_add(calls.into()));
        let mut ends = self.to.into_iter().chain(by_calls);
        self.from <= tick && ends.all(|end| tick < end)
    }
}

/// The start of a monitor that a step causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorStart {
    /// The node.
    pub node: NodeName,
    /// The tick of its first poll; a tick later if the step comes at a moment within a poll.
    pub tick: u64,
    /// The line that causes it.
    pub step: FilePlace,
}
