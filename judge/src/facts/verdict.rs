//! Whether the monitor's report about a workload was right.
//!
//! The outcome of a workload depends on the world only; the monitor matters for the verdict only. Its
//! report is the first event with `isFatal` that a connector accepted during the story: an event about
//! a port, device or card without a fault fails the drill anyway. A monitor with non-fatal events only
//! counts as silent. Start at [`verdict_on`].

use director::Truth;
use observe::Recording;
use platforms::NodeName;
use reports::CauseKind;
use scenarios::{Story, What};
use simfs::SimTime;
use terms::{ReportVerdict, Severity};
use workloads::WorkloadOutcome;

use super::{
    fact::{Fact, FactKind, FactLane, Outcome, Scene, check},
    workload::stats,
};
use crate::{
    altered::change::{Alteration, AlteredSubject},
    owed::Rows,
    reported_event::all_reported,
};

/// This verdict, with the report so long before the failure, in nanoseconds.
pub(super) struct Verdict<'w> {
    pub(super) workload: &'w str,
    pub(super) verdict: ReportVerdict,
    pub(super) lead: Option<(i64, i64)>,
}

impl Fact for Verdict<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("verdict", CauseKind::Verdict)
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Workload(self.workload)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let found = verdict_on(
            self.workload,
            scene.expectation.node.as_ref(),
            scene.context.story,
            scene.context.truth,
            scene.recording,
        );
        // One that promises otherwise than the documents may do better than their monitor.
        let agrees = found.is_some_and(|found| found.verdict == ReportVerdict::Agreement);
        if agrees
            && self.verdict != ReportVerdict::Agreement
            && !Rows::of(&scene.context).are_the_documents()
        {
            return Outcome::Holds;
        }
        verdict(self.workload, self.verdict, self.lead, found)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        other_verdicts(subject, self.workload, self.verdict, self.lead)
    }
}

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

fn at(tick: u64, truth: &Truth) -> Option<SimTime> {
    let tick = truth.ticks.get(usize::try_from(tick).ok()?)?;
    Some(tick.at)
}

pub(super) fn verdict(
    workload: &str,
    expected: ReportVerdict,
    lead: Option<(i64, i64)>,
    found: Option<WorkloadVerdict>,
) -> Outcome {
    let in_time = |found: &WorkloadVerdict| {
        lead.is_none_or(|(from, to)| {
            found
                .lead_ns
                .is_some_and(|lead| (from..=to).contains(&lead))
        })
    };
    let holds = found.is_some_and(|found| found.verdict == expected && in_time(&found));
    let rendered = |verdict: ReportVerdict, lead: String| {
        format!("{} about `{workload}`{lead}", verdict.word())
    };
    check(
        holds,
        || {
            let lead = lead.map(|(from, to)| {
                format!(
                    ", the word {} to {} before the failure",
                    secs(from),
                    secs(to)
                )
            });
            rendered(expected, lead.unwrap_or_default())
        },
        || {
            let Some(found) = found else {
                return vec!["nothing of this name ran".to_owned()];
            };
            let lead = found
                .lead_ns
                .map(|lead| format!(", the word {} before the failure", secs(lead)));
            vec![rendered(found.verdict, lead.unwrap_or_default())]
        },
    )
}

/// A signed time in seconds, with three decimals.
pub(super) fn secs(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ms = ns.unsigned_abs() / 1_000_000;
    format!("{sign}{}.{:03} s", ms / 1000, ms % 1000)
}

fn other_verdicts(
    subject: &AlteredSubject<'_>,
    workload: &str,
    verdict: ReportVerdict,
    lead: Option<(i64, i64)>,
) -> Vec<Alteration> {
    let line = |verdict, lead| {
        subject.line(What::Verdict {
            workload: workload.to_owned(),
            verdict,
            lead,
        })
    };
    let others = ReportVerdict::ALL
        .into_iter()
        .filter(|other| *other != verdict);
    let mut changes: Vec<_> = others
        .map(|other| ("another verdict", line(other, lead)))
        .collect();
    if let Some((_, to)) = lead {
        let later = to.saturating_add(1);
        changes.push(("another lead", line(verdict, Some((later, later)))));
    }
    changes
}
