//! Checks expectations about workloads, and whether the monitor's report about them was right.
//!
//! The outcome of a workload depends on the world only; the monitor matters for the verdict only. Its
//! report is the first event with `isFatal` that a connector accepted during the story: an event about
//! a port, device or card without a fault fails the drill anyway. A monitor with non-fatal events only
//! counts as silent. Start at [`verdict_on`].

use platforms::NodeName;
use scenarios::Story;
use simfs::SimTime;
use terms::{ReportVerdict, Severity};
use workloads::{WorkloadOutcome, WorkloadStats};

use director::Truth;
use observe::Recording;

use crate::reported_event::all_reported;

/// The verdict on the monitor's report, given a workload's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadVerdict {
    /// The verdict.
    pub verdict: ReportVerdict,
    /// Time from the report to the failure, in nanoseconds; negative if the report came after. `None`
    /// without a report or without a failure.
    pub lead_ns: Option<i64>,
}

/// The verdict for a workload at the story's end, on the monitor of this node or on any monitor.
/// `None` if there is no workload of this name.
#[must_use]
pub fn verdict_on(
    workload: &str,
    node: Option<&NodeName>,
    story: &Story,
    truth: &Truth,
    recording: &Recording,
) -> Option<WorkloadVerdict> {
    let last = story.ticks.first_from(story.until);
    let stats = stats(workload, last, truth)?;
    let reported = all_reported(story, recording);
    let word = reported.iter().find(|reported| {
        let meant = node.is_none_or(|node| node == reported.node);
        meant
            && reported.accepted
            && reported.event.severity == Severity::Fatal
            && reported.tick <= last
    });
    let word = word.and_then(|reported| Some(at(reported.tick, truth)?.as_ns()));
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    Some(WorkloadVerdict {
        verdict: ReportVerdict::of(word.is_some(), stats.outcome == WorkloadOutcome::Failed),
        lead_ns: stats
            .failed_at
            .zip(word)
            .map(|(failed, word)| signed(failed.as_ns()) - signed(word)),
    })
}

/// The statistics of a workload at the end of a tick, or of the last tick if that never came.
pub(crate) fn stats(workload: &str, tick: u64, truth: &Truth) -> Option<WorkloadStats> {
    let tick = usize::try_from(tick).unwrap_or(usize::MAX);
    let tick = truth.ticks.get(tick).or(truth.ticks.last())?;
    tick.workloads.get(workload).copied()
}

fn at(tick: u64, truth: &Truth) -> Option<SimTime> {
    let tick = truth.ticks.get(usize::try_from(tick).ok()?)?;
    Some(tick.at)
}
