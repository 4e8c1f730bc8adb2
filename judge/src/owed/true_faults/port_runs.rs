//! What a monitor owes of a port from one healthy reading to the next.

use observe::promises::{Row, Says};
use platforms::{PciAddress, PortNumber, SlotRef};
use scenarios::About;
use terms::Severity;

use super::super::{
    Fate, Translated,
    translator::{Translator, at_will},
    waited::Waited,
};
use super::{own_severity, rises, severity};
use crate::{
    demands::{Demand, is_healthy},
    intervals::Interval,
    kinds::Whom,
};

impl<'a> Translator<'_, 'a> {
    /// The unhealthy readings of a port from a healthy one to the next.
    pub(super) fn run_of_port(
        &self,
        of: &Run<'_>,
        documents: &[Translated<'a>],
        owed: &mut Vec<Demand<'a>>,
    ) {
        let Run {
            slot: (pci, port),
            intervals: run,
            follows_absence,
            is_asked: by_documents,
        } = of;
        let (pci, port, follows_absence) = (*pci, *port, *follows_absence);
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return;
        };
        let node = &first.node;
        let slot = SlotRef {
            node: node.clone(),
            pci,
            port,
        };
        if follows_absence && (!self.ports_speak(first) || self.was_dark(&slot, first.from)) {
            return;
        }
        let sight = self.first_sight(node, first.from);
        let is_first = sight.is_some();
        if let Some(sight) = sight {
            let is_asked = |it: &Translated<'_>| {
                it.demand.pattern.tone != Severity::Healthy
                    && it.demand.node == *node
                    && it.demand.pattern.about == About::Port(slot.clone())
                    && it.demand.window.to >= first.from
                    && it.demand.window.from < last.to
            };
            let decides = self.is_judged_at_once(sight, first)
                && self.has_evidence_against(node, pci, first.from);
            if !decides || documents.iter().any(is_asked) {
                return;
            }
        }
        let all_asked = documents;
        let (mut asked, mut said) = (None, None);
        let mut clears: Option<Box<Says>> = None;
        for interval in run {
            let Some((documents, promised)) = self.rows.pair(&interval.kind, interval.layer) else {
                return;
            };
            let long = interval.to - interval.from;
            let theirs = severity(&documents, interval.tone)
                .filter(|_| *by_documents && long > self.rows.after(&documents));
            let own = own_severity(&documents, &promised, interval.tone);
            let waited = own.map(|own| self.waited(&slot, interval, &promised, own));
            let (own, waited) = match waited {
                Some(Waited::Due { from, to, is_owed }) => {
                    (own.filter(|_| is_owed), Some((from, to)))
                }
                Some(Waited::Over) | None => (None, None),
            };
            let theirs = theirs.filter(|_| !self.is_garbled(interval, pci));
            let is_asked = if self.is_pinned() {
                self.is_asked_for(all_asked, &slot, interval.from)
            } else {
                rises(asked, theirs) && !follows_absence && !is_first
            };
            if is_asked {
                asked = theirs;
            }
            if rises(said, own) {
                said = own;
                if let (false, Row::Says(promised), Some(tone), Some(due)) =
                    (is_asked, &promised, own, waited)
                {
                    let about = About::Port(slot.clone());
                    owed.push(self.due_between(due, interval, promised, (about, tone)));
                    clears = Some(promised.clone());
                }
            }
        }
        let is_clear_asked = documents.iter().any(|it| {
            it.demand.pattern.tone == Severity::Healthy
                && matches!(it.fate, Fate::Owed { .. })
                && it.demand.pattern.about == About::Port(slot.clone())
                && it.demand.pattern.counter.is_none()
                && (it.demand.window.from..=it.demand.window.to).contains(&last.to)
        });
        let (Some(promised), false) = (clears, is_clear_asked) else {
            return;
        };
        // A port whose device is gone is not healed; it may be when the device is back.
        let views = self.readings.views(node, last.to);
        let is_gone = views.is_some_and(|[views, _]| {
            let function = views.0.get(&pci);
            function.is_none_or(|function| !function.listed)
        });
        if is_gone {
            let pattern = is_healthy(About::Port(slot), None);
            owed.push(at_will(&self.once(last, pattern, last.to, u64::MAX)));
        } else {
            self.owe_clear(first, &promised, (pci, Some(port)), last.to, owed);
        }
    }

    /// Demands that a fault of a port or device that stands is reported in a poll, unless the documents ask for that.
    pub(in crate::owed) fn restate(
        &self,
        interval: &Interval,
        tick: u64,
        documents: &[Translated<'a>],
        owed: &mut Vec<Demand<'a>>,
    ) {
        let Some((_, row)) = self.rows.pair(&interval.kind, interval.layer) else {
            return;
        };
        let (Row::Says(promised), Some(tone)) = (&row, severity(&row, interval.tone)) else {
            return;
        };
        let node = interval.node.clone();
        let about = match &interval.whom {
            Whom::Port(pci, port) => About::Port(SlotRef {
                node,
                pci: *pci,
                port: *port,
            }),
            Whom::Device(pci) => About::Device(node, *pci),
            _ => return,
        };
        let is_asked = |it: &Translated<'_>| {
            let (pattern, window) = (&it.demand.pattern, it.demand.window);
            pattern.tone != Severity::Healthy
                && pattern.about == about
                && (window.from..=window.to).contains(&tick)
        };
        let is_by_design = match &about {
            About::Port(slot) => self.is_dark_by_design(slot, tick, documents),
            _ => false,
        };
        if is_by_design {
            return;
        }
        let after = self.rows.after(&row);
        let is_told = tick - interval.from >= after;
        if is_told && !documents.iter().any(is_asked) {
            // Who remembers nothing waits anew, or says at once what has stood for long.
            let last = tick.saturating_add(after);
            let mut again = self.due_between((tick, last), interval, promised, (about, tone));
            if interval.to <= last {
                again.bounds.at_least = 0;
            }
            owed.push(again);
        }
    }
}

/// The unhealthy readings of a port from a healthy one to the next.
pub(super) struct Run<'i> {
    pub(super) slot: (PciAddress, PortNumber),
    pub(super) intervals: Vec<&'i Interval>,
    /// Whether its device came back just before.
    pub(super) follows_absence: bool,
    /// Whether the documents monitor the port.
    pub(super) is_asked: bool,
}

/// Whether an interval of a port goes on in another one without a healthy reading between.
pub(super) fn goes_on(before: &Interval, after: &Interval) -> bool {
    before.node == after.node
        && before.whom == after.whom
        && before.to == after.from
        && before.is_of_reading()
}

/// The intervals of a port from the first one to its next healthy reading.
pub(super) fn run<'i>(later: &'i [Interval], first: &'i Interval) -> Vec<&'i Interval> {
    let mut run = vec![first];
    for interval in later {
        if run.last().is_some_and(|last| goes_on(last, interval)) {
            run.push(interval);
        }
    }
    run
}
