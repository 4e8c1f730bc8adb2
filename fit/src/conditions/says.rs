//! What one row says: a severity, a subject, and times.

use observe::promises::{Clears, Kind, Lasting, Named, PromisedSubject, Says};
use terms::Severity;

use super::CHAR_DEVICE_POLLS;
use crate::answers::Answer;

/// The severity, where the documents state one or it is another one than they ask in some case.
pub(super) fn verdict(asked: &Says, answers: &[&Answer]) -> Option<Severity> {
    let said = |answer: &&Answer| answer.report.as_ref().map(|report| report.verdict);
    let is_as_asked = |answer: &&Answer| {
        let stood = answer.stood.tone;
        said(answer) == stood.filter(|tone| *tone != Severity::Healthy)
    };
    if asked.verdict.is_none() && answers.iter().all(is_as_asked) {
        return None;
    }
    // If it depends on something, the milder one is the promise.
    answers.iter().filter_map(said).max()
}

/// Whom it names, if that is not the subject itself and a row can say so.
pub(super) fn subject(kind: &Kind, reported: &[&&Answer]) -> Option<PromisedSubject> {
    let natural = match kind {
        Kind::Named(Named::GoneDevice) => PromisedSubject::Device,
        Kind::Named(Named::Slow) => return None,
        _ => PromisedSubject::Port,
    };
    let named = reported
        .iter()
        .filter_map(|it| Some(it.report.as_ref()?.subject));
    let named = named.max()?;
    // What is coarser is named instead of the subject; a device that is gone is not named by one of its ports.
    (named > natural).then_some(named)
}

/// For how long a fault must have stood. The documents' patience counts from the poll after the first one that reads
/// the fault ("for longer than 30 s").
pub(super) fn after(kind: &Kind, asked: &Says, reported: &[&&Answer]) -> Lasting {
    let first = reported
        .iter()
        .filter_map(|it| Some(it.report.as_ref()?.after));
    let first = first.min().unwrap_or_default();
    let first = match kind {
        Kind::Named(Named::CharDevice) => first.saturating_sub(CHAR_DEVICE_POLLS - 1),
        _ => first,
    };
    let patience = asked.after.unwrap_or(Lasting::NOTHING);
    let Lasting::Time(span) = patience else {
        return in_polls(first);
    };
    let longer = first.saturating_sub(1);
    match longer == span.0.as_secs() {
        true => patience,
        false => in_polls(longer),
    }
}

/// How much later than that at the latest, if that is more than a poll.
pub(super) fn within(reported: &[&&Answer]) -> Option<Lasting> {
    let after = || {
        reported
            .iter()
            .filter_map(|it| Some(it.report.as_ref()?.after))
    };
    let apart = after().max()? - after().min()?;
    (apart > NEXT_POLL).then(|| in_polls(apart))
}

/// How a fault is taken back. One that never is stays a promise that the monitor does not keep.
pub(super) fn clears(kind: &Kind, reported: &[&&Answer]) -> Clears {
    let clears: Vec<_> = reported.iter().filter_map(|it| it.clear).collect();
    if !clears.is_empty() && clears.iter().all(|clear| clear.by_check) {
        return Clears::ByCheck;
    }
    let usual = match kind {
        Kind::Named(Named::GoneDevice | Named::GonePort) => COMES_UP,
        _ => NEXT_POLL,
    };
    let latest = clears
        .iter()
        .map(|clear| clear.after)
        .max()
        .unwrap_or_default();
    Clears::Healed((latest > usual).then(|| in_polls(latest)))
}

/// How late a report or a clear may be without a promise about it: the next poll (docs/scenario.md, "Time").
pub(super) const NEXT_POLL: u64 = 1;

/// The same for a device and its ports, which need polls to come up.
pub(super) const COMES_UP: u64 = 3;

pub(super) fn in_polls(polls: u64) -> Lasting {
    Lasting::Polls(u32::try_from(polls).unwrap_or(u32::MAX))
}
