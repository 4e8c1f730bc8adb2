//! Faults that were reported and not yet cleared, and the events that a monitor may emit while the
//! world heals.

use std::collections::{BTreeMap, BTreeSet};

use platforms::NodeName;

use director::Truth;
use observe::Subject;
use terms::Severity;

use crate::{forgotten::Forgotten, reported_event::ReportedEvent};

/// The result of going through the accepted events.
#[derive(Debug, Default)]
pub(crate) struct Reckoning {
    /// Unexpected events that are allowed during healing, by index among the accepted events.
    pub(crate) allowed: BTreeSet<usize>,
    /// Reports that were not cleared, by index among the accepted events.
    pub(crate) outstanding: Vec<usize>,
}

/// A node and a subject of its events.
type Of = (NodeName, String);

/// A reported fault: subject, check and error codes. A port may have several counters in breach,
/// and each is cleared by itself.
type Pending<'a> = (Of, Option<&'a str>, &'a [String]);

/// Goes through the accepted events in order. From `healing_from` on, a healthy event that no
/// expectation claimed is allowed if it clears an outstanding fault, is the first event about its
/// subject that the monitor knows of, or is about a port or device that healing brought back; each once.
pub(crate) fn reckon(
    accepted: &[ReportedEvent<'_>],
    claimed: impl Fn(usize) -> bool,
    healing_from: Option<u64>,
    truth: &Truth,
    forgotten: &[Forgotten],
) -> Reckoning {
    let mut forgotten = forgotten.iter().peekable();
    let mut reckoning = Reckoning::default();
    let mut pending: BTreeMap<Pending<'_>, usize> = BTreeMap::new();
    let mut mentioned: BTreeSet<(Of, &[String])> = BTreeSet::new();
    let mut returning = healing_from.map_or_else(BTreeSet::new, |from| returning(truth, from));
    for (at, reported) in accepted.iter().enumerate() {
        while let Some(lost) = forgotten.next_if(|lost| lost.from <= reported.tick) {
            mentioned.retain(|((node, subject), _)| {
                let subjects = lost.subjects.as_ref();
                *node != lost.node || subjects.is_some_and(|lost| !lost.contains(subject))
            });
        }
        let subject = (reported.node.clone(), reported.event.subject.to_string());
        let check = reported.event.check.as_deref();
        let codes = reported.event.codes.as_slice();
        if reported.event.severity != Severity::Healthy {
            pending.insert((subject.clone(), check, codes), at);
            mentioned.insert((subject, codes));
            continue;
        }
        let cleared = if reported.event.subject == Subject::Node {
            let before = pending.len();
            pending.retain(|((node, _), of, _), _| node != reported.node || *of != check);
            pending.len() < before
        } else {
            pending.remove(&(subject.clone(), check, codes)).is_some()
        };
        let new = mentioned.insert((subject.clone(), codes));
        let healing = healing_from.is_some_and(|from| reported.tick >= from);
        let back = healing && returning.remove(&subject);
        if healing && !claimed(at) && (cleared || new || back) {
            reckoning.allowed.insert(at);
        }
    }
    reckoning.outstanding = pending.into_values().collect();
    reckoning.outstanding.sort_unstable();
    reckoning
}

/// Ports and devices that were not healthy when healing began, under their present and later names.
fn returning(truth: &Truth, from: u64) -> BTreeSet<Of> {
    let mut subjects = BTreeSet::new();
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let Some(before) = from.checked_sub(1).and_then(|tick| truth.ticks.get(tick)) else {
        return subjects;
    };
    for (node, then) in before.nodes.iter() {
        for (pci, function) in &then.after.0 {
            if !function.monitored {
                continue;
            }
            let later = truth.ticks[from..]
                .iter()
                .filter_map(|tick| tick.nodes.get(node)?.views.0.get(pci));
            let names: BTreeSet<&str> = std::iter::once(function)
                .chain(later)
                .map(|view| view.name.as_str())
                .collect();
            for name in names {
                if !function.listed {
                    subjects.insert((node.clone(), format!("NIC={name}")));
                }
                for (port, view) in &function.ports {
                    if !function.listed || !view.healthy() {
                        subjects.insert((node.clone(), format!("NIC={name} NICPort={port}")));
                    }
                }
            }
        }
    }
    subjects
}

#[cfg(test)]
mod tests;
