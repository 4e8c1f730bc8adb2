//! What a story expects, and in which polls. Start at [`Expectation`].

use std::collections::BTreeMap;

use fabric::opa::{OfflineDisabledReason, Pair};
use platforms::{NodeName, SlotRef};

use super::{About, EventPattern, FileRef, LnetIs, Place, Times, Verdict, WorkloadIs};
use crate::cluster::{ConditionIs, RuleIs, Stands};

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
        reported: bool,
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
        reported: bool,
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
