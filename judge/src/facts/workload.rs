//! The outcome of a workload.

use std::ops::RangeInclusive;

use director::Truth;
use reports::CauseKind;
use scenarios::{What, Window, WorkloadIs};
use simfs::SimTime;
use workloads::{WorkloadCause, WorkloadOutcome, WorkloadStats};

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, bounds, check};
use crate::altered::change::{Alteration, AlteredSubject, with};

/// It is so at the end of the window's last tick.
pub(super) struct Workload<'w>(pub(super) &'w WorkloadIs);

impl Fact for Workload<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("workload", CauseKind::Workload)
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Workload(&self.0.workload)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        workload(self.0, scene.expectation.window, scene.context.truth)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        other_outcome(subject, self.0)
    }
}

/// The statistics of a workload at the end of a tick, or of the last tick if that never came.
pub(super) fn stats(workload: &str, tick: u64, truth: &Truth) -> Option<WorkloadStats> {
    let tick = usize::try_from(tick).unwrap_or(usize::MAX);
    let tick = truth.ticks.get(tick).or(truth.ticks.last())?;
    tick.workloads.get(workload).copied()
}

/// Checks an expectation of a workload at the window's end.
pub(super) fn workload(is: &WorkloadIs, window: Window, truth: &Truth) -> Outcome {
    let found = stats(&is.workload, window.to, truth);
    let within = |bound: &Option<RangeInclusive<u64>>, number: u64| {
        bound.as_ref().is_none_or(|bound| bound.contains(&number))
    };
    let holds = found.is_some_and(|found| {
        let in_time = |(from, to): (SimTime, SimTime)| {
            found.failed_at.is_some_and(|at| (from..=to).contains(&at))
        };
        is.outcome.is_none_or(|outcome| outcome == found.outcome)
            && is.cause.is_none_or(|cause| found.cause == Some(cause))
            && is.failed.is_none_or(in_time)
            && within(&is.errors, found.errors)
            && within(&is.retries, found.retries)
            && within(&is.done, found.done)
    });
    check(
        holds,
        || {
            let figure = |name: &str, bound: &Option<RangeInclusive<u64>>| {
                bound
                    .as_ref()
                    .map(|bound| format!("{name} {}", bounds(bound)))
            };
            let parts = [
                is.outcome.map(|outcome| outcome.to_string()),
                is.cause.map(|cause| format!("by `{cause}`")),
                is.failed
                    .map(|(from, to)| format!("between {from} and {to}")),
                figure("errors", &is.errors),
                figure("retries", &is.retries),
                figure("done", &is.done),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("`{}`: {}", is.workload, parts.join(", "))
        },
        || {
            vec![found.map_or_else(
                || "nothing of this name ran".to_owned(),
                |found| rendered(&is.workload, &found),
            )]
        },
    )
}

fn rendered(name: &str, stats: &WorkloadStats) -> String {
    let failed = stats
        .cause
        .zip(stats.failed_at)
        .map(|(cause, at)| format!(" by `{cause}` at {at}"));
    format!(
        "`{name}`: {}{}, {} errors, {} retries, {} done",
        stats.outcome,
        failed.unwrap_or_default(),
        stats.errors,
        stats.retries,
        stats.done
    )
}

fn other_outcome(subject: &AlteredSubject<'_>, is: &WorkloadIs) -> Vec<Alteration> {
    let mut changes = Vec::new();
    let mut part = |name, is: WorkloadIs| changes.push((name, subject.line(What::Workload(is))));
    if let Some(outcome) = is.outcome {
        let outcome = WorkloadOutcome::ALL.into_iter().find(|of| *of != outcome);
        part("another outcome", with(is, |of| of.outcome = outcome));
    }
    if let Some(cause) = is.cause {
        let cause = WorkloadCause::ALL.into_iter().find(|of| *of != cause);
        part("another cause", with(is, |of| of.cause = cause));
    }
    if let Some((_, to)) = is.failed {
        let later = to + SimTime::from_ms(1);
        let failed = Some((later, later));
        part("another instant", with(is, |of| of.failed = failed));
    }
    if let Some(errors) = is.errors.as_ref().and_then(other) {
        let errors = Some(errors);
        part("other errors", with(is, |of| of.errors = errors));
    }
    if let Some(retries) = is.retries.as_ref().and_then(other) {
        let retries = Some(retries);
        part("other retries", with(is, |of| of.retries = retries));
    }
    if let Some(done) = is.done.as_ref().and_then(other) {
        let done = Some(done);
        part("another amount", with(is, |of| of.done = done));
    }
    changes
}

/// The numbers above a range, or below it if there are none above; `None` for a range of all numbers.
fn other(range: &RangeInclusive<u64>) -> Option<RangeInclusive<u64>> {
    let above = range.end().checked_add(1).map(|more| more..=u64::MAX);
    above.or_else(|| range.start().checked_sub(1).map(|less| 0..=less))
}
