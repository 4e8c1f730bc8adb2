//! Expectations about links and workloads made false, part by part.

use std::ops::RangeInclusive;

use fabric::opa::{OfflineDisabledReason, Pair};
use platforms::SlotRef;
use scenarios::{CountIs, EndIs, LnetIs, PairIs, What, WorkloadIs};
use simfs::SimTime;
use terms::ReportVerdict;
use workloads::{WorkloadCause, WorkloadOutcome};

use super::change::{AlteredSubject, Change, with};

pub(super) fn link(
    subject: &AlteredSubject<'_>,
    slot: &SlotRef,
    here: &EndIs,
    there: &EndIs,
) -> Vec<(&'static str, Change)> {
    let line = |here: EndIs, there: EndIs| {
        subject.line(What::Link {
            slot: slot.clone(),
            here,
            there,
        })
    };
    let here_changed = ends(here).into_iter().map(|(name, end)| {
        let name = match name {
            End::Pair => "another pair here",
            End::Offline => "another offline reason here",
            End::Log => "another log here",
        };
        (name, line(end, there.clone()))
    });
    let there_changed = ends(there).into_iter().map(|(name, end)| {
        let name = match name {
            End::Pair => "another pair there",
            End::Offline => "another offline reason there",
            End::Log => "another log there",
        };
        (name, line(here.clone(), end))
    });
    here_changed.chain(there_changed).collect()
}

/// A part of an end.
enum End {
    Pair,
    Offline,
    Log,
}

/// An end with each of its stated parts made false.
fn ends(end: &EndIs) -> Vec<(End, EndIs)> {
    let pair = end.pair.map(|pair| match pair {
        PairIs::Unavailable => PairIs::Shown(Pair::CLEAR),
        PairIs::Shown(_) => PairIs::Unavailable,
    });
    let offline = end.offline.map(|offline| {
        let none = OfflineDisabledReason::NONE;
        if offline == none {
            OfflineDisabledReason::by_code(1).unwrap_or(none)
        } else {
            none
        }
    });
    let log = end.log.as_ref().map(|log| {
        let mut longer = log.clone();
        longer.push(Pair::CLEAR);
        longer
    });
    [
        pair.map(|pair| (End::Pair, with(end, |of| of.pair = Some(pair)))),
        offline.map(|reason| (End::Offline, with(end, |of| of.offline = Some(reason)))),
        log.map(|log| (End::Log, with(end, |of| of.log = Some(log)))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn lnet(subject: &AlteredSubject<'_>, is: &LnetIs) -> Vec<(&'static str, Change)> {
    let mut changes = Vec::new();
    let mut part = |name, is: LnetIs| changes.push((name, subject.line(What::Lnet(is))));
    if let Some(up) = is.up {
        let up = Some(!up);
        part("another status", with(is, |of| of.up = up));
    }
    if let Some(fatal) = is.fatal {
        let fatal = Some(!fatal);
        part("another fatal flag", with(is, |of| of.fatal = fatal));
    }
    if is.health.is_some() {
        // In a window it may have been anything that it can be.
        let health = Some(u64::from(lnet::Health::MAX.value()) + 1..=u64::MAX);
        part("another health", with(is, |of| of.health = health));
    }
    if let Some(queued) = is.queued {
        let queued = Some(!queued);
        part("another queue", with(is, |of| of.queued = queued));
    }
    if is.pings.is_some() {
        // No drill pings so often.
        let pings = Some(u64::MAX..=u64::MAX);
        part("another count of pings", with(is, |of| of.pings = pings));
    }
    if is.next_ping_s.is_some() {
        let next = Some(u64::MAX);
        part("another next ping", with(is, |of| of.next_ping_s = next));
    }
    changes
}

pub(super) fn count(subject: &AlteredSubject<'_>, is: &CountIs) -> Vec<(&'static str, Change)> {
    // No drill counts so far.
    let other = with(is, |of| of.is = u64::MAX..=u64::MAX);
    vec![("another value", subject.line(What::Count(other)))]
}

pub(super) fn workload(
    subject: &AlteredSubject<'_>,
    is: &WorkloadIs,
) -> Vec<(&'static str, Change)> {
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

pub(super) fn verdict(
    subject: &AlteredSubject<'_>,
    workload: &str,
    verdict: ReportVerdict,
    lead: Option<(i64, i64)>,
) -> Vec<(&'static str, Change)> {
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
