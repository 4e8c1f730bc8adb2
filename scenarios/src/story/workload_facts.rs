//! Expectations on workloads, and on the monitor's reports about them. Start at [`WorkloadIs`].

use std::ops::RangeInclusive;

use platforms::{NodeName, SlotRef};
use simfs::SimTime;
use workloads::{Cause, WorkloadOutcome};

/// Expected state of an LNet interface; `None` is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LnetIs {
    /// The workload.
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
}

/// Expected value of a counter of `lnetctl stats show` on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LnetStatIs {
    /// The workload.
    pub workload: String,
    /// The node.
    pub node: NodeName,
    /// The counter, as [`lnet::Statistics::rows`] names it.
    pub counter: &'static str,
    /// Its value.
    pub is: RangeInclusive<u64>,
}

/// Expected state of a workload; `None` is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadIs {
    /// The workload.
    pub workload: String,
    /// Its outcome.
    pub outcome: Option<WorkloadOutcome>,
    /// The cause of its failure.
    pub cause: Option<Cause>,
    /// The instants between which it failed, inclusive.
    pub failed: Option<(SimTime, SimTime)>,
    /// Errors reported to the layer above.
    pub errors: Option<RangeInclusive<u64>>,
    /// Retries (`lnet`), or messages that had to wait (`mpib`).
    pub retries: Option<RangeInclusive<u64>>,
    /// Answered writes (`lnet`), or delivered messages (`mpib`).
    pub done: Option<RangeInclusive<u64>>,
}

/// Whether a monitor was right, by the one question that "NIC Health Monitor: Link State Detection",
/// 1.3, allows: will the running workload fail because of this?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Fatal and failed, or silent and not failed.
    Agreement,
    /// Fatal, and it did not fail.
    OverReport,
    /// Silent, and it failed.
    UnderReport,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 3] = [Self::Agreement, Self::OverReport, Self::UnderReport];

    /// As scenarios and reports spell it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::OverReport => "over-report",
            Self::UnderReport => "under-report",
        }
    }

    /// The verdict on a monitor that did or did not report a fatal event, for a workload that did or did
    /// not fail.
    #[must_use]
    pub fn of(fatal: bool, failed: bool) -> Self {
        match (fatal, failed) {
            (true, false) => Self::OverReport,
            (false, true) => Self::UnderReport,
            _ => Self::Agreement,
        }
    }
}
