//! What no promise can cover: what the judge finds under the promises that were found. Start at [`fit`].

use std::collections::BTreeMap;

use judge::judge;
use observe::{Broken, Descriptor, promises::Kind};
use reports::{Cause, CauseKind, Finding, finding_id};

use crate::{
    drill::Drill,
    evidence::{Evidence, Mark},
    fitted::{Fitted, Suspect, promising},
};

/// Judges every drill by the promises that were found.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    let promised = promising(descriptor, fitted.promises.clone());
    let mut found: BTreeMap<String, Suspect> = BTreeMap::new();
    let all: Vec<(&Drill<'_>, Vec<Finding>)> = drills
        .iter()
        .map(|drill| {
            let judged = judge(drill.story, drill.truth, drill.recording, &promised);
            (drill, judged.findings)
        })
        .collect();
    let idle = all.iter().filter(|(drill, _)| is_idle(drill));
    let at_rest: Vec<Cause> = idle
        .flat_map(|(_, findings)| findings.iter().map(whatever_was_done))
        .collect();
    for (drill, findings) in &all {
        let name = drill.name();
        for finding in findings {
            let is_at_rest = at_rest.contains(&whatever_was_done(finding));
            let id = id(drill, finding, is_at_rest);
            let evidence = Evidence {
                drill: name.clone(),
                poll: finding.tick,
                came: came(finding),
            };
            if !is_at_rest && !is_of_the_wire(finding) && is_after_its_step(drill, finding) {
                mark(drill, &evidence, fitted);
            }
            found.entry(id.clone()).or_insert_with(|| Suspect {
                id,
                what: finding.cause.headline(),
                evidence,
            });
        }
    }
    fitted.suspects = found.into_values().collect();
}

/// Whether a drill changes nothing: what is found in it belongs to the machine on which it is played, in every drill.
fn is_idle(drill: &Drill<'_>) -> bool {
    let mut steps = drill.story.given.iter().chain(drill.story.steps.iter());
    steps.all(|step| step.actions.is_empty())
}

/// The cause of a finding without the action before it.
fn whatever_was_done(finding: &Finding) -> Cause {
    Cause {
        action: None,
        ..finding.cause
    }
}

/// Whether it came after the drill began to ask: what a first poll says of a healthy machine belongs to no row.
fn is_after_its_step(drill: &Drill<'_>, finding: &Finding) -> bool {
    let first = drill.story.steps.iter().map(|step| step.at).min();
    let first = first.filter(|_| drill.story.given.is_empty());
    let first = first.map_or(0, |at| drill.story.ticks.first_from(at));
    finding.tick.is_none_or(|tick| tick >= first)
}

/// Marks the rows that a drill asks about.
fn mark(drill: &Drill<'_>, evidence: &Evidence, fitted: &mut Fitted) {
    // A drill about a key of a row, such as `rename.known_by`, asks about the row.
    let of = |subject: &str| {
        let row = subject.split('.').next();
        Kind::parse(subject).or_else(|| row.and_then(Kind::parse))
    };
    let subjects: Vec<Kind> = drill.subjects().filter_map(of).collect();
    for (kind, row) in &mut fitted.rows {
        let any = matches!(kind, Kind::Counter(_)) && drill.asks("counter.*");
        if (subjects.contains(kind) || any) && row.mark != Mark::Suspect && row.row.is_some() {
            row.mark = Mark::Suspect;
            row.evidence = vec![evidence.clone()];
        }
    }
}

/// The pattern of a finding's ids in the scenarios of its drill's family. A breach of the wire occurs in all, and so does what
/// is found of a machine at rest, whatever is done to it.
fn id(drill: &Drill<'_>, finding: &Finding, is_at_rest: bool) -> String {
    let family = drill.story.name.split('/').next().unwrap_or_default();
    let cause = match is_at_rest {
        true => format!("{}*", whatever_was_done(finding)),
        false => finding.cause.to_string(),
    };
    let scenarios = match is_at_rest || is_of_the_wire(finding) {
        true => "*".to_owned(),
        false => format!("{family}/*"),
    };
    finding_id(&scenarios, &cause)
}

/// Whether a finding is about the form of an event or call.
pub(crate) fn is_of_the_wire(finding: &Finding) -> bool {
    matches!(
        finding.cause.kind,
        CauseKind::Contract | CauseKind::Undecided
    )
}

/// Whether it is something that no monitor can want: a fault that is never taken back, an event that is lost or said
/// twice, a crash.
pub(crate) fn is_unwanted(finding: &Finding) -> bool {
    matches!(
        finding.cause.kind,
        CauseKind::NotCleared
            | CauseKind::ConditionLeft
            | CauseKind::CordonLeft
            | CauseKind::NotDelivered
            | CauseKind::Repeats
            | CauseKind::Crashed
            | CauseKind::Hung
            | CauseKind::Excess
            | CauseKind::StuckInKernel
            | CauseKind::SocketTampered
    )
}

/// A finding in one line.
pub(crate) fn came(finding: &Finding) -> String {
    let expected = finding
        .line
        .as_ref()
        .map(|line| line.text.trim().to_owned());
    let expected = expected.or_else(|| finding.expected.first().cloned());
    let headline = finding.cause.headline();
    match expected {
        Some(expected) => format!("it {headline}; asked for: {expected}"),
        None => format!("it {headline}"),
    }
}

/// How a drill ended early.
pub(crate) fn how_it_broke(broken: &Broken) -> &'static str {
    match broken {
        Broken::Hung { .. } => "the monitor made no progress",
        Broken::Crashed { .. } => "the monitor ended by itself",
        Broken::Excess { .. } => "the monitor did too much in a poll",
        Broken::StuckInKernel { .. } => "the monitor is stuck in the kernel",
        Broken::SocketTampered { .. } => "the monitor took the connector's socket away",
        Broken::Interrupted => "it was interrupted",
        Broken::Stage { .. } => "the stage could not be set",
    }
}
