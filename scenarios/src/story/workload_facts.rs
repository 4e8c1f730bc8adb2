//! Expectations on workloads, and on the monitor's reports about them. Start at [`WorkloadIs`].

use std::ops::RangeInclusive;

use lnet::{Nid, UlpEvent, UlpResult};
use platforms::{NodeName, SlotRef};
use simfs::SimTime;
use workloads::{WorkloadCause, WorkloadOutcome};

/// Expected state of an LNet interface; `None` is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LnetIs {
    /// The name that the world gives it.
    pub workload: String,
    /// The node whose view is checked.
    pub seen_from: NodeName,
    /// The port of the interface.
    pub slot: SlotRef,
    /// Its status.
    pub up: Option<bool>,
    /// Its fatal flag.
    pub fatal: Option<bool>,
    /// Its health.
    pub health: Option<RangeInclusive<u64>>,
    /// Whether it is on the recovery queue.
    pub queued: Option<bool>,
    /// Recovery pings since the last answer.
    pub pings: Option<RangeInclusive<u64>>,
    /// When the next recovery ping is due, in whole seconds since the drill's start; then it is on the queue.
    pub next_ping_s: Option<u64>,
}

/// Expected value of a counter of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountIs {
    /// The counter.
    pub counter: WorkloadCounter,
    /// Its value.
    pub is: RangeInclusive<u64>,
}

/// A counter of a workload on one of its nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkloadCounter {
    /// The name that the world gives it.
    pub workload: String,
    /// The node that counts.
    pub node: NodeName,
    /// What it counts.
    pub of: CounterOf,
}

/// What a node of a workload counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterOf {
    /// A counter of `lnetctl stats show`, as [`lnet::Statistics::rows`] names it.
    Lnet(String),
    /// A counter of the LNet interface on this port, the node's own or a peer's, as [`lnet::NiStats::rows`] names it.
    LnetNi(SlotRef, String),
    /// How often the layer above LNet was told this event with this result, since the start of the story.
    LnetUlp(UlpEvent, UlpResult),
    /// Whether the route by this gateway is up, as 1 or 0.
    LnetRoute(Nid),
    /// A counter of a job, on the edge to another node or on all.
    Mpib(mpib::Counter, Option<NodeName>),
    /// The lines of the plugin's log with this text.
    MpibLog(String),
}

impl CounterOf {
    /// Its name, as in the scenario.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Lnet(name) | Self::LnetNi(_, name) => name.clone(),
            Self::LnetUlp(event, result) => format!("{} {}", event.name(), result.name()),
            Self::LnetRoute(gateway) => format!("the route by {gateway}"),
            Self::Mpib(counter, _) => counter.name().to_owned(),
            Self::MpibLog(text) => format!("lines with `{text}`"),
        }
    }
}

/// Expected state of a workload; `None` is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadIs {
    /// The name that the world gives it.
    pub workload: String,
    /// Its outcome.
    pub outcome: Option<WorkloadOutcome>,
    /// The cause of its failure.
    pub cause: Option<WorkloadCause>,
    /// The instants between which it failed, inclusive.
    pub failed: Option<(SimTime, SimTime)>,
    /// Errors reported to the layer above.
    pub errors: Option<RangeInclusive<u64>>,
    /// Retries (`lnet`), or messages that had to wait (`mpib`).
    pub retries: Option<RangeInclusive<u64>>,
    /// Answered writes (`lnet`), or delivered messages (`mpib`).
    pub done: Option<RangeInclusive<u64>>,
}
