//! What a monitor said about each fault that a drill made. Start at [`answers`].

use judge::{Stood, StoodOf, stood};
use observe::{
    Descriptor,
    promises::{Kind, PromisedSubject},
};
use terms::Severity;

use crate::{
    drill::Drill,
    heard::{Entity, Heard, bears, heard},
};

/// How many polls after its end a fault may still be reported. Chosen: more than a publisher in the background needs.
const LATE: u64 = 2;

/// What a monitor said about one fault.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) drill: String,
    /// The fault.
    pub(crate) stood: Stood,
    /// Its first report.
    pub(crate) report: Option<Report>,
    /// The first fatal report after one that was not.
    pub(crate) worse: Option<Report>,
    /// How often it was reported again in the same severity.
    pub(crate) repeats: usize,
    /// The first healthy event after it was healed.
    pub(crate) clear: Option<Clear>,
    /// Whether a clear could be seen: it was healed long before the drill ended.
    pub(crate) is_over: bool,
}

/// A report of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) poll: u64,
    /// For how many polls the fault had stood.
    pub(crate) after: u64,
    /// The severity.
    pub(crate) verdict: Severity,
    /// Whom it names.
    pub(crate) subject: PromisedSubject,
    /// It in words.
    pub(crate) line: String,
}

/// The end of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clear {
    /// How many polls after it was healed.
    pub(crate) after: u64,
    /// Whether it is about the check as a whole.
    pub(crate) by_check: bool,
}

impl Answer {
    /// For how many polls the fault stood; to the end of the drill if it did.
    pub(crate) fn lasted(&self) -> u64 {
        let to = self.stood.to.unwrap_or(u64::MAX);
        to.saturating_sub(self.stood.from)
    }
}

/// The answers of a drill about the faults of a kind that its first step makes.
pub(crate) fn answers(descriptor: &Descriptor, drill: &Drill<'_>, kind: &Kind) -> Vec<Answer> {
    let Some(first) = drill.story.steps.iter().map(|step| step.at).min() else {
        return Vec::new();
    };
    let first = drill.story.ticks.first_from(first);
    let heard = heard(drill);
    let faults = stood(drill.story, drill.truth, drill.recording, descriptor);
    let faults = faults
        .into_iter()
        .filter(|fault| fault.kind == *kind && (first..=first + 1).contains(&fault.from));
    faults.map(|fault| answer(drill, &heard, fault)).collect()
}

fn answer(drill: &Drill<'_>, heard: &[Heard<'_>], stood: Stood) -> Answer {
    let until = stood.to.map_or(u64::MAX, |to| to.saturating_add(LATE));
    let about = |one: &Heard<'_>| subject(drill, &stood, one);
    let reports: Vec<Report> = heard
        .iter()
        .filter(|one| (stood.from..until).contains(&one.tick))
        .filter_map(|one| {
            Some(Report {
                poll: one.tick,
                after: one.tick - stood.from,
                verdict: one.verdict()?,
                subject: about(one)?,
                line: one.line(),
            })
        })
        .collect();
    let natural = natural(&stood.of);
    let first_poll = reports.iter().map(|report| report.poll).min();
    let of_first = || reports.iter().filter(|it| Some(it.poll) == first_poll);
    let report = of_first()
        .find(|it| it.subject == natural)
        .or_else(|| of_first().next())
        .cloned();
    let same = |it: &&Report| {
        report
            .as_ref()
            .is_some_and(|first| it.subject == first.subject)
    };
    let worse = report
        .as_ref()
        .filter(|first| first.verdict == Severity::NonFatal)
        .and_then(|_| {
            let mut later = reports.iter().filter(same);
            later.find(|it| it.verdict == Severity::Fatal).cloned()
        });
    let repeats = reports
        .iter()
        .filter(same)
        .filter(|it| {
            report
                .as_ref()
                .is_some_and(|first| it.verdict == first.verdict)
        })
        .count()
        .saturating_sub(1);
    let said_until = drill.recording.ticks.len() as u64;
    let clear = stood.to.filter(|_| report.is_some()).and_then(|to| {
        let mut later = heard
            .iter()
            .filter(|one| one.tick >= to && one.is_healthy());
        later.find_map(|one| {
            let about = about(one)?;
            Some(Clear {
                after: one.tick - to,
                by_check: about == PromisedSubject::Node,
            })
        })
    });
    let is_over = stood
        .to
        .is_some_and(|to| to.saturating_add(LATE) < said_until);
    Answer {
        drill: drill.name(),
        report,
        worse,
        repeats,
        clear,
        is_over,
        stood,
    }
}

/// Whom a report names that names its subject.
fn natural(of: &StoodOf) -> PromisedSubject {
    match of {
        StoodOf::Port(..) => PromisedSubject::Port,
        StoodOf::Device(_) => PromisedSubject::Device,
        StoodOf::Card(_) => PromisedSubject::Card,
    }
}

/// Whom an event names, if it can be about a fault.
fn subject(drill: &Drill<'_>, stood: &Stood, one: &Heard<'_>) -> Option<PromisedSubject> {
    let is_code = |code: &String| match &stood.kind {
        Kind::Counter(counter) => code == counter,
        Kind::Named(_) => true,
    };
    let codes = &one.event.codes;
    if !codes.is_empty() && !codes.iter().any(is_code) {
        return None;
    }
    let bears = |pci, name: &str| bears(drill, pci, name, one.tick);
    match (one.said(), &stood.of) {
        (Entity::Node, _) => Some(PromisedSubject::Node),
        (Entity::Port(device, number), StoodOf::Port(pci, port)) => {
            (bears(*pci, device) && number == port.to_string()).then_some(PromisedSubject::Port)
        }
        (Entity::Port(device, _), StoodOf::Device(pci)) => {
            bears(*pci, device).then_some(PromisedSubject::Port)
        }
        (Entity::Device(device), StoodOf::Port(pci, _) | StoodOf::Device(pci)) => {
            bears(*pci, device).then_some(PromisedSubject::Device)
        }
        (Entity::Card(card), StoodOf::Card(of)) => {
            of.is_called(card).then_some(PromisedSubject::Card)
        }
        _ => None,
    }
}
