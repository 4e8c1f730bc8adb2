//! What a story expects, and in which polls. Start at [`Expectation`].

use std::collections::BTreeMap;

use fabric::opa::{OfflineDisabledReason, Pair};
use platforms::{NodeName, SlotRef};
use terms::ReportVerdict;

use super::{About, CountIs, EventPattern, FilePlace, FileRef, LnetIs, Times, WorkloadIs};
use crate::cluster::{ConditionIs, RuleIs, Stands};

/// An inclusive window of ticks (polls), counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// First tick.
    pub from: u64,
    /// Last tick.
    pub to: u64,
}

/// The text of the expectation of a first poll that a story has although its author wrote none.
pub const USUAL_FIRST_POLL: &str =
    "this_poll: baseline (of every story that says nothing of its first poll)";

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Where in the file.
    pub place: FilePlace,
    /// The line as shown to people.
    pub text: String,
    /// On which node; on every monitored node if `None`.
    pub node: Option<NodeName>,
    /// In which ticks.
    pub window: Window,
    /// What.
    pub what: What,
}

/// What is expected.
#[derive(Clone, Debug)]
pub enum What {
    /// This event, within the bounds of `times`.
    Say {
        /// The event.
        event: EventPattern,
        /// How often.
        times: Times,
        /// Whether an attempt is enough (`said`), instead of an accepted call.
        reported: bool,
        /// Events of one ordered group must come in the group's order: (group, position in it).
        in_order: Option<(u32, u32)>,
    },
    /// For this port: these events in this order, once per edge of the port, each in the poll that
    /// first can see the edge or within this many polls after.
    FollowEdges {
        /// The port.
        slot: SlotRef,
        /// How many times the port goes down.
        times: u32,
        /// The largest delay in polls.
        within_polls: u32,
        /// The event for a falling edge; `None` if there is none.
        down: Option<Box<EventPattern>>,
        /// The event for a rising edge; `None` if there is none.
        up: Option<Box<EventPattern>>,
    },
    /// No event in the window that no other expectation matches; with `said`, no attempt either.
    Nothing {
        /// About these entities only; about any if empty.
        about: Vec<About>,
        /// Of this counter only; of anything if `None`.
        counter: Option<String>,
        /// Whether attempts count.
        reported: bool,
    },
    /// The healthy events of a first poll: one for each healthy monitored port; with `fresh`, also one
    /// for each device whose ports are all healthy and for each card that has as many healthy ports as
    /// its peers.
    Baseline {
        /// Whether no old state could be read.
        fresh: bool,
        /// Ports, devices and cards without such an event.
        except: Vec<About>,
        /// Only this counter is excepted: of the ports in `except`, of all if there are none.
        counter: Option<String>,
        /// Its position in an ordered group, as for [`What::Say`].
        in_order: Option<(u32, u32)>,
    },
    /// The monitor exits with this code.
    Exit {
        /// As `exit` has it, 0 to 255.
        code: i32,
    },
    /// A line of the monitor's log contains this text.
    Log {
        /// The text; `…` matches any text.
        contains: String,
    },
    /// No line of the log contains this text.
    NoLog {
        /// The text.
        contains: String,
    },
    /// This many polls happen in the window.
    Polls(u64),
    /// This many calls are received in the window.
    Calls {
        /// How many.
        count: u64,
    },
    /// The state file at the window's end.
    StateFile(StateFileIs),
    /// This file is read this often in the window.
    Reads {
        /// The file.
        file: FileRef,
        /// How often.
        times: Times,
    },
    /// The values of a metric at the end of the window's last poll.
    Metric {
        /// Its name in `/metrics`.
        name: String,
        /// Labels that a value must have; it may have more.
        labels: BTreeMap<String, String>,
        /// The expected sum of these values.
        is: MetricIs,
    },
    /// The status of `/healthz` at the end of the window's last tick.
    Healthz {
        /// The HTTP status.
        status: u16,
    },
    /// What both ends of a port's link remember, at one of the window's ticks.
    Link {
        /// The port.
        slot: SlotRef,
        /// The node's own end.
        here: EndIs,
        /// The partner's end.
        there: EndIs,
    },
    /// The state of an LNet interface at one of the window's ticks.
    Lnet(LnetIs),
    /// A counter of a workload at one of the window's ticks.
    Count(CountIs),
    /// The outcome of a workload at the end of the window's last tick.
    Workload(WorkloadIs),
    /// Whether the monitor's report about a workload was right.
    Verdict {
        /// The name that the world gives it.
        workload: String,
        /// The expected verdict.
        verdict: ReportVerdict,
        /// Time from the report to the failure, in nanoseconds, inclusive; negative if the report came
        /// after.
        lead: Option<(i64, i64)>,
    },
    /// A node condition at a poll's end.
    Condition(ConditionIs),
    /// Whether the node is cordoned at a poll's end.
    Cordoned(Stands),
    /// Whether the node is released in one of the window's ticks.
    Uncordoned(bool),
    /// A correlation rule fires in the window, or does not.
    Rule(RuleIs),
    /// No rule fires in the window.
    RulesSilent,
    /// The monitor is stuck in the kernel (cannot be killed) at the end.
    StuckInKernel,
}

impl What {
    /// Whether it is about the world and independent of the monitor.
    #[must_use]
    pub fn is_of_the_world(&self) -> bool {
        matches!(
            self,
            Self::Link { .. }
                | Self::Lnet(_)
                | Self::Count(_)
                | Self::Workload(_)
                | Self::Verdict { .. }
        )
    }

    /// Whether it is about the cluster's reaction to events.
    #[must_use]
    pub fn is_a_consequence(&self) -> bool {
        let is_of_a_node = matches!(
            self,
            Self::Condition(_) | Self::Cordoned(_) | Self::Uncordoned(_)
        );
        is_of_a_node || self.is_of_the_rules()
    }

    /// Whether it is about the analyzer, which receives the events of all monitors.
    #[must_use]
    pub fn is_of_the_rules(&self) -> bool {
        matches!(self, Self::Rule(_) | Self::RulesSilent)
    }
}

/// Expected state of an end of a link; `None` is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndIs {
    /// Both its reasons.
    pub pair: Option<PairIs>,
    /// Its OfflineDisabledReason.
    pub offline: Option<OfflineDisabledReason>,
    /// The subnet manager's log of this end, oldest entry first.
    pub log: Option<Vec<Pair>>,
}

/// Expected reasons of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairIs {
    /// They cannot be queried.
    Unavailable,
    /// These reasons.
    Shown(Pair),
}

/// Expected sum of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricIs {
    /// There is no such value (which differs from zero).
    Absent,
    /// There is at least one value, and the sum is in these bounds.
    Within {
        /// At least.
        least: u64,
        /// At most.
        most: u64,
    },
}

/// Expected state of a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFileIs {
    /// The same bytes as at the window's start.
    Unchanged,
    /// The file does not exist.
    Absent,
    /// It exists and is valid JSON.
    Valid,
    /// It exists, and this JSON member (a dotted path) equals this JSON text.
    Holds {
        /// Dotted path.
        member: String,
        /// JSON text.
        equals: String,
    },
}
