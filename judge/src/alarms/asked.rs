//! Which line of a story asks for an alarm, or for its end. Start at [`line`].

use platforms::NodeName;
use reports::{Finding, FindingKind, StoryLine};
use scenarios::About;
use terms::Severity;

use super::due::Group;
use crate::{
    kinds::Whom,
    line_of,
    owed::{Fate, Owed, Translated},
};

/// The line that asks for what a finding misses of a subject's alarms; `None` if the story has none, because the monitor's
/// promises alone ask for it.
pub(super) fn line(
    owed: &Owed<'_>,
    node: &NodeName,
    group: &Group,
    finding: &Finding,
) -> Option<StoryLine> {
    let tick = finding.tick?;
    let begun = group.alarms.iter().filter(|alarm| alarm.opens <= tick);
    let alarm = begun.max_by_key(|alarm| alarm.opens)?;
    let is_end = finding.kind == FindingKind::Outstanding;
    let spans: Vec<(u64, u64)> = match is_end {
        true => vec![(alarm.closes, alarm.closes)],
        false => {
            let faults = alarm.pieces.iter().zip(&alarm.due);
            let begun = faults.filter(|(from, _)| **from <= tick);
            begun.map(|(from, (by, _))| (*from, *by)).collect()
        }
    };
    let asked = |span: (u64, u64)| {
        let of_it = owed.documents.iter().filter(move |it| {
            it.demand.node == *node
                && is_of(group, &it.demand.pattern.about)
                && (it.demand.pattern.tone == Severity::Healthy) == is_end
                && begins_near(it, span)
        });
        let is_said_so = |it: &&Translated<'_>| tone(it) == finding.cause.severity;
        let best = of_it.clone().find(is_said_so).or(of_it.clone().next());
        best.and_then(|it| it.demand.expectation)
    };
    // The fault that came last is the one that was not told.
    spans.into_iter().rev().find_map(asked).map(line_of)
}

/// Whether a demand that is owed may be met from its first tick to its last in a span, or a tick beside it.
fn begins_near(it: &Translated<'_>, (from, to): (u64, u64)) -> bool {
    let Fate::Owed { later, .. } = it.fate else {
        return false;
    };
    let window = it.demand.window;
    let begins = window.from.saturating_add_signed(later);
    begins.saturating_sub(1) <= to && from <= window.to.saturating_add(1)
}

/// The severity that a demand has for this monitor.
fn tone(it: &Translated<'_>) -> Option<Severity> {
    match &it.fate {
        Fate::Owed { tone, .. } => Some(*tone),
        _ => None,
    }
}

/// Whether what is said of this is said of the subject.
fn is_of(group: &Group, about: &About) -> bool {
    let (pci, port) = match about {
        About::Port(slot) => (slot.pci, Some(slot.port)),
        About::Device(_, pci) | About::Card(_, pci) => (*pci, None),
        About::NamedPort(..) | About::NamedDevice(_) | About::Check => return false,
    };
    match &group.subject.whom {
        None => true,
        Some(Whom::Port(of, number)) => *of == pci && port.is_none_or(|port| port == *number),
        Some(Whom::Device(of)) => *of == pci,
        Some(Whom::Card(card)) => pci.card() == *card,
        Some(Whom::Name(_) | Whom::Check) => false,
    }
}
