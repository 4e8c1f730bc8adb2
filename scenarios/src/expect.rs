//! A line of `expect:` as said, before anybody knows in which world.
//!
//! [`crate::expectations`] makes it of a line, [`crate::expectations`] finds whom it is about.

use std::{collections::BTreeMap, ops::RangeInclusive};

use platforms::LinkLayer;
use platforms::yaml::Place;
use simfs::SimTime;

use crate::cluster::{ConditionOf, Stands};
use crate::story::{EndIs, MetricIs, StateFileIs, Times, Tone, Verdict, WorkloadIs};
use crate::subject::{FileSpec, NodeNames, Subjects};

/// A line that expects something.
#[derive(Clone, Debug)]
pub(crate) struct ExpectLine {
    /// Where it stands.
    pub(crate) place: Place,
    /// As a person reads it.
    pub(crate) text: String,
    /// The nodes it names.
    pub(crate) nodes: NodeNames,
    /// The only layer it is about.
    pub(crate) only: Option<LinkLayer>,
    /// In which polls, if it says so.
    pub(crate) window: Option<WindowSpec>,
    /// What it expects.
    pub(crate) what: ExpectationSpec,
}

/// In which polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowSpec {
    /// The step's own poll or one of so many after it.
    Polls(u32),
    /// The polls until so long after the step.
    Span(SimTime),
    /// The step's own poll.
    ThisPoll,
    /// The poll after it.
    NextPoll,
    /// From the first until just before the second.
    FromTo(SimTime, SimTime),
    /// Between the two, both included.
    Between(SimTime, SimTime),
    /// The poll at this time.
    ExactlyAt(SimTime),
}

/// What a line expects.
#[derive(Clone, Debug)]
pub(crate) enum ExpectationSpec {
    /// An event about each of these.
    Event(Box<EventSpec>),
    /// A first poll's healthy events.
    Baseline {
        fresh: bool,
        except: Option<Subjects>,
    },
    /// No event that nobody else expects.
    Nothing(Option<Subjects>),
    /// Events at the edges of each port.
    Edges {
        of: Subjects,
        tally: Tally,
        down: Option<Box<EventSpec>>,
        up: Option<Box<EventSpec>>,
        times: u32,
        within_polls: u32,
    },
    /// The line for each port in turn.
    Each {
        of: Subjects,
        tally: Tally,
        line: Box<ExpectLine>,
    },
    /// An attempt is enough.
    Spec(Box<ExpectLine>),
    /// Several lines that share qualifiers.
    Group(Vec<ExpectLine>),
    /// Events in this order.
    InOrder(Vec<ExpectLine>),
    Exit(i32),
    Log(String),
    NoLog(String),
    Polls(u64),
    Calls(u64),
    Reads {
        file: FileSpec,
        times: Times,
    },
    StateFile(StateFileIs),
    Metric {
        name: String,
        /// With handles' placeholders in the texts.
        labels: BTreeMap<String, String>,
        is: MetricIs,
    },
    Healthz(u16),
    Link {
        of: Subjects,
        here: EndIs,
        there: EndIs,
    },
    Lnet(LnetSpec),
    Workload(WorkloadIs),
    Verdict {
        of: Vec<(String, Place, Verdict)>,
        lead: Option<(i64, i64)>,
    },
    Condition(ConditionSpec),
    Cordoned(Stands),
    Uncordoned(bool),
    Rule(Box<FiringSpec>),
    RulesSilent,
    StuckInKernel,
}

/// How a node condition is expected to stand.
#[derive(Clone, Debug)]
pub(crate) struct ConditionSpec {
    pub(crate) condition: ConditionOf,
    /// Where it is named.
    pub(crate) place: Place,
    /// Whom its entries name.
    pub(crate) of: Option<Subjects>,
    pub(crate) counter: Option<String>,
    pub(crate) stands: Stands,
}

/// What a rule is expected to say.
#[derive(Clone, Debug)]
pub(crate) struct FiringSpec {
    pub(crate) rule: String,
    /// Where it is named.
    pub(crate) place: Place,
    /// About whom.
    pub(crate) of: Option<Subjects>,
    pub(crate) switch: Option<(String, Place)>,
    pub(crate) counted: Option<RangeInclusive<u64>>,
    pub(crate) cleared: bool,
    pub(crate) times: Times,
    pub(crate) events_this_tick: Option<u64>,
}

/// How an LNet interface is expected to stand.
#[derive(Clone, Debug)]
pub(crate) struct LnetSpec {
    pub(crate) workload: String,
    /// The port of the interface.
    pub(crate) of: Subjects,
    /// Whether it is another node's than the one in whose eyes.
    pub(crate) peers: bool,
    pub(crate) up: Option<bool>,
    pub(crate) fatal: Option<bool>,
    pub(crate) health: Option<RangeInclusive<u64>>,
}

impl ExpectLine {
    /// The first line, this one or one within it, that needs a process to answer.
    pub(crate) fn process_only(&self) -> Option<&ExpectLine> {
        match &self.what {
            ExpectationSpec::Healthz(_) => Some(self),
            ExpectationSpec::Each { line, .. } | ExpectationSpec::Spec(line) => line.process_only(),
            ExpectationSpec::Group(lines) | ExpectationSpec::InOrder(lines) => {
                lines.iter().find_map(ExpectLine::process_only)
            }
            _ => None,
        }
    }
}

/// How many subjects there must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// So many.
    pub(crate) count: Option<(u32, Place)>,
    /// No two share one of these.
    pub(crate) distinct: Option<Distinct>,
}

/// What no two subjects share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distinct {
    Node,
    Card,
    Device,
}

/// An event as said.
#[derive(Clone, Debug)]
pub(crate) struct EventSpec {
    pub(crate) tone: Tone,
    /// Whether it clears what was said under the name at rest.
    pub(crate) clears: bool,
    pub(crate) of: Subjects,
    pub(crate) tally: Tally,
    /// How often; the line's default if `None`.
    pub(crate) times: Option<Times>,
    /// By layer, with handles' placeholders in it.
    pub(crate) message: BTreeMap<LinkLayer, (String, Place)>,
    pub(crate) check: Option<String>,
    pub(crate) codes: Option<Vec<String>>,
    /// The counter that it is about.
    pub(crate) counter: Option<String>,
    pub(crate) stamped_from: Option<SimTime>,
    pub(crate) stamped_to: Option<SimTime>,
}
