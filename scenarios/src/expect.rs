//! A line of `expect:` as parsed, before it is resolved in a world.
//!
//! [`crate::expectations`] parses it, [`crate::expectations`] resolves it.

use std::{collections::BTreeMap, ops::RangeInclusive};

use lnet::{UlpEvent, UlpResult};
use platforms::LinkLayer;
use platforms::yaml::Place;
use simfs::SimTime;
use terms::{ReportVerdict, Severity};

use crate::cluster::{ConditionOf, Stands};
use crate::story::{EndIs, MetricIs, Times, What, WorkloadIs};
use crate::subject::{FileSpec, NodeNames, Subjects};

/// A line that expects something.
#[derive(Clone, Debug)]
pub(crate) struct ExpectLine {
    /// Where it is in the file.
    pub(crate) place: Place,
    /// The line as shown to people.
    pub(crate) text: String,
    /// The nodes that it names.
    pub(crate) nodes: NodeNames,
    /// The link layer that it is restricted to.
    pub(crate) only: Option<LinkLayer>,
    /// The polls, if the line states them.
    pub(crate) window: Option<WindowSpec>,
    pub(crate) what: ExpectationSpec,
}

/// The polls in which a line must come true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowSpec {
    /// The step's own poll, or one of this many after it.
    Polls(u32),
    /// The polls until this long after the step.
    Span(SimTime),
    /// The step's own poll.
    ThisPoll,
    /// The poll after it.
    NextPoll,
    /// From the first time until just before the second.
    FromTo(SimTime, SimTime),
    /// Between the two, both included.
    Between(SimTime, SimTime),
    /// The poll at this time.
    ExactlyAt(SimTime),
}

/// What a line expects.
#[derive(Clone, Debug)]
pub(crate) enum ExpectationSpec {
    /// An event about each of these subjects.
    Event(Box<EventSpec>),
    /// The healthy events of the first poll.
    Baseline {
        fresh: bool,
        except: Option<Subjects>,
        counter: Option<(String, Place)>,
    },
    /// No event that no other line expects; with a counter, of this counter.
    Nothing(Option<Subjects>, Option<(String, Place)>),
    /// Events at the up and down edges of each port.
    Edges {
        of: Subjects,
        tally: Tally,
        down: Option<Box<EventSpec>>,
        up: Option<Box<EventSpec>>,
        times: u32,
        within_polls: u32,
    },
    /// One line, repeated for each port.
    Each {
        of: Subjects,
        tally: Tally,
        line: Box<ExpectLine>,
    },
    /// A line for which an attempt is enough.
    Attempt(Box<ExpectLine>),
    /// Several lines that share qualifiers.
    Group(Vec<ExpectLine>),
    /// Events in this order.
    InOrder(Vec<ExpectLine>),
    /// What is the same in every world.
    Stated(What),
    Reads {
        file: FileSpec,
        times: Times,
    },
    Metric {
        name: String,
        /// Label values, with placeholders of handles.
        labels: BTreeMap<String, String>,
        is: MetricIs,
    },
    Link {
        of: Subjects,
        here: EndIs,
        there: EndIs,
    },
    Lnet(LnetSpec),
    Count(CountSpec),
    Workload(WorkloadIs),
    Verdict {
        of: Vec<(String, Place, ReportVerdict)>,
        lead: Option<(i64, i64)>,
    },
    Condition(ConditionSpec),
    Rule(Box<FiringSpec>),
}

/// A node condition.
#[derive(Clone, Debug)]
pub(crate) struct ConditionSpec {
    pub(crate) condition: ConditionOf,
    /// Where the condition is named.
    pub(crate) place: Place,
    /// The subjects of its entries.
    pub(crate) of: Option<Subjects>,
    pub(crate) counter: Option<(String, Place)>,
    pub(crate) stands: Stands,
}

/// A correlation rule.
#[derive(Clone, Debug)]
pub(crate) struct FiringSpec {
    pub(crate) rule: String,
    /// Where the rule is named.
    pub(crate) place: Place,
    /// The subjects of its event.
    pub(crate) of: Option<Subjects>,
    pub(crate) switch: Option<(String, Place)>,
    pub(crate) counted: Option<RangeInclusive<u64>>,
    pub(crate) cleared: bool,
    pub(crate) times: Times,
    pub(crate) events_this_tick: Option<u64>,
}

/// The state of an LNet interface.
#[derive(Clone, Debug)]
pub(crate) struct LnetSpec {
    pub(crate) workload: String,
    /// The port of the interface.
    pub(crate) of: Subjects,
    /// Whether the interface belongs to another node than the one whose view is checked.
    pub(crate) peers: bool,
    pub(crate) up: Option<bool>,
    pub(crate) fatal: Option<bool>,
    pub(crate) health: Option<RangeInclusive<u64>>,
    pub(crate) queued: Option<bool>,
    pub(crate) pings: Option<RangeInclusive<u64>>,
    pub(crate) next_ping_s: Option<u64>,
}

/// A counter of a workload.
#[derive(Clone, Debug)]
pub(crate) struct CountSpec {
    pub(crate) workload: String,
    pub(crate) of: CountOfSpec,
    pub(crate) is: RangeInclusive<u64>,
}

/// What is counted.
#[derive(Clone, Debug)]
pub(crate) enum CountOfSpec {
    /// A counter of a node's LNet, or of an interface: whether it is a peer's, and its port.
    Lnet {
        counter: String,
        interface: Option<(bool, Subjects)>,
    },
    /// What the layer above LNet was told.
    LnetUlp(UlpEvent, UlpResult),
    /// Whether the route by a router is up, as 1 or 0.
    LnetRoute(String, Place),
    Mpib {
        counter: mpib::Counter,
        pair: Option<(String, Place)>,
    },
    MpibLog(String),
}

impl ExpectLine {
    /// The lines that expect something by themselves: this one, or those nested in it.
    pub(crate) fn leaves(&self) -> Vec<&ExpectLine> {
        match &self.what {
            ExpectationSpec::Each { line, .. } | ExpectationSpec::Attempt(line) => line.leaves(),
            ExpectationSpec::Group(lines) | ExpectationSpec::InOrder(lines) => {
                lines.iter().flat_map(ExpectLine::leaves).collect()
            }
            _ => vec![self],
        }
    }

    /// The first line, this one or one nested in it, that only the process arm can answer.
    pub(crate) fn process_only(&self) -> Option<&ExpectLine> {
        match &self.what {
            ExpectationSpec::Stated(What::Healthz { .. }) => Some(self),
            ExpectationSpec::Each { line, .. } | ExpectationSpec::Attempt(line) => {
                line.process_only()
            }
            ExpectationSpec::Group(lines) | ExpectationSpec::InOrder(lines) => {
                lines.iter().find_map(ExpectLine::process_only)
            }
            _ => None,
        }
    }
}

/// Constraints on the subjects of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Their exact number.
    pub(crate) count: Option<(u32, Place)>,
    /// What they must not share.
    pub(crate) distinct: Option<Distinct>,
}

/// What no two subjects may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distinct {
    Node,
    Card,
    Device,
}

/// An event as parsed.
#[derive(Clone, Debug)]
pub(crate) struct EventSpec {
    pub(crate) tone: Severity,
    /// Whether it is a healthy event that clears what was reported under the device's name at rest.
    pub(crate) clears: bool,
    pub(crate) of: Subjects,
    pub(crate) tally: Tally,
    /// How often; the line's default if `None`.
    pub(crate) times: Option<Times>,
    /// By layer, with placeholders.
    pub(crate) message: BTreeMap<LinkLayer, (String, Place)>,
    pub(crate) check: Option<String>,
    pub(crate) codes: Option<Vec<String>>,
    /// The counter that the event is about.
    pub(crate) counter: Option<(String, Place)>,
    pub(crate) stamped_from: Option<SimTime>,
    pub(crate) stamped_to: Option<SimTime>,
}
