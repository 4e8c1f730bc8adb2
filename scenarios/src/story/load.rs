//! What can be expected of workloads, and of a monitor's word about them. Start at [`WorkloadIs`].

use std::ops::RangeInclusive;

use platforms::{NodeName, SlotRef};
use simfs::SimTime;
use workloads::{Cause, WorkloadOutcome};

/// How an LNet interface can be expected to stand; unchecked where nothing is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LnetIs {
    /// The workload.
    pub workload: String,
    /// In whose eyes.
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

/// What can be expected of a workload; unchecked where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadIs {
    /// The workload.
    pub workload: String,
    /// What became of it.
    pub outcome: Option<WorkloadOutcome>,
    /// What it failed of.
    pub cause: Option<Cause>,
    /// Between which instants, both included.
    pub failed: Option<(SimTime, SimTime)>,
    /// Errors that the layer on top was told of.
    pub errors: Option<RangeInclusive<u64>>,
    /// Tries beyond the first, or messages that had to wait.
    pub retries: Option<RangeInclusive<u64>>,
    /// Writes that were answered, or messages that got through.
    pub done: Option<RangeInclusive<u64>>,
}

/// Whether a monitor was right, by the only question that "NIC Health Monitor: Link State Detection",
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
    /// All.
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

    /// Of a monitor that did or did not say that it is fatal, about a workload that did or did not fail.
    #[must_use]
    pub fn of(fatal: bool, failed: bool) -> Self {
        match (fatal, failed) {
            (true, false) => Self::OverReport,
            (false, true) => Self::UnderReport,
            _ => Self::Agreement,
        }
    }
}
