//! What a monitor owes where the documents ask for nothing: it reports a kind that they leave silent, earlier than
//! they do, or in a severity that rises where theirs does not. It follows from the truth.
//! Start at [`Translator::true_faults`].

mod port_runs;

use port_runs::{Run, goes_on, run};

use std::collections::BTreeSet;

use observe::promises::{Clears, Lasting, Meanwhile, Named, Recoveries, Row, Says};
use platforms::{NodeName, PciAddress, PortNumber, SlotRef};
use scenarios::{About, EventPattern, Window};
use terms::Severity;

use super::{
    GRACE, Translated, rows,
    translator::{Translator, at_will},
    waited::Waited,
};
use crate::{
    assign::Bounds,
    demands::{Demand, is_healthy},
    fits::state_check,
    intervals::{Interval, intervals},
    kinds::Whom,
    scope::{decides, pinned},
};

/// The same for the return of a device, whose ports have to come up. Chosen: as scenarios allow.
const COMES_UP: u64 = 3;

impl<'a> Translator<'_, 'a> {
    /// Adds what follows from the truth alone.
    pub(super) fn true_faults(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        let further = self.beyond_scope();
        let differs = self.rows.differ() || !further.is_empty();
        let tells_all = self.rows.wire().recoveries == Some(Recoveries::All);
        if !differs && !tells_all {
            return;
        }
        let all = intervals(self.context, self.readings, self.recording);
        if tells_all {
            self.recoveries(&all, owed);
        }
        if !differs {
            return;
        }
        let is_further =
            |it: &Interval, pci: &PciAddress| further.contains(&(it.node.clone(), *pci));
        for (at, interval) in all.iter().enumerate() {
            match &interval.whom {
                Whom::Port(pci, port) if interval.kind == Named::Slow.into() => {
                    self.slow(interval, (*pci, *port), owed);
                }
                Whom::Port(pci, port) => {
                    let begins_run = !all[..at].iter().any(|before| goes_on(before, interval));
                    if begins_run && interval.is_of_reading() {
                        let run = run(&all[at..], interval);
                        let follows = all.iter().any(|gone| {
                            gone.node == interval.node
                                && gone.whom == Whom::Device(*pci)
                                && gone.to == interval.from
                        });
                        let of = Run {
                            slot: (*pci, *port),
                            intervals: run,
                            follows_absence: follows,
                            is_asked: !is_further(interval, pci),
                        };
                        self.run_of_port(&of, documents, owed);
                    }
                }
                Whom::Device(pci) if is_further(interval, pci) => self.device(interval, *pci, owed),
                _ => {}
            }
        }
    }

    /// A monitor that tells that every port is healthy again, reported or not, may say so at the end of each fault.
    fn recoveries(&self, all: &[Interval], owed: &mut Vec<Demand<'a>>) {
        for interval in all
            .iter()
            .filter(|it| it.is_of_reading() && it.to < u64::MAX)
        {
            let Whom::Port(pci, port) = interval.whom else {
                continue;
            };
            if all.iter().any(|after| goes_on(interval, after)) {
                continue;
            }
            let slot = SlotRef {
                node: interval.node.clone(),
                pci,
                port,
            };
            let to = self.delivery.next(&interval.node, interval.to) + GRACE;
            let pattern = is_healthy(About::Port(slot), None);
            let mut may = self.once(interval, pattern, interval.to, to);
            may.bounds.at_least = 0;
            owed.push(may);
        }
    }

    /// The functions that a scope of its own adds to those that the documents monitor.
    pub(super) fn beyond_scope(&self) -> BTreeSet<(NodeName, PciAddress)> {
        let scope = self.context.descriptor.promises.scope.as_ref();
        let pins = |scope| pinned(self.context.story, scope).is_some();
        if !scope.is_some_and(|scope| decides(scope) || pins(scope)) {
            return BTreeSet::new();
        }
        let nodes = self.context.story.nodes.iter();
        let ports = nodes.flat_map(|(node, platform)| {
            let ports = platform.ports().into_iter();
            let further = ports.filter(|port| !port.is_monitored());
            further.map(|port| (node.clone(), port.pci))
        });
        ports.collect()
    }

    /// A port at a lower speed, about which the documents ask for nothing. What healing ends is taken back then, as all is.
    fn slow(
        &self,
        interval: &Interval,
        (pci, port): (PciAddress, PortNumber),
        owed: &mut Vec<Demand<'a>>,
    ) {
        let Some((_, Row::Says(promised))) = self.rows.pair(&interval.kind, interval.layer) else {
            return;
        };
        if self.first_sight(&interval.node, interval.from).is_some() {
            return;
        }
        let about = About::Port(SlotRef {
            node: interval.node.clone(),
            pci,
            port,
        });
        let tone = tone_of(&promised);
        self.owe(interval, &promised, (about, tone), owed);
        let healing = self.recording.healing_from;
        if healing.is_none_or(|from| interval.to < from) {
            self.owe_clear(interval, &promised, (pci, Some(port)), interval.to, owed);
        }
    }

    /// A device that is gone, about which the documents ask for nothing.
    fn device(&self, interval: &Interval, pci: PciAddress, owed: &mut Vec<Demand<'a>>) {
        let Some((_, Row::Says(promised))) = self.rows.pair(&interval.kind, interval.layer) else {
            return;
        };
        if self.first_sight(&interval.node, interval.from).is_some() {
            return;
        }
        let about = About::Device(interval.node.clone(), pci);
        let tone = tone_of(&promised);
        self.owe(interval, &promised, (about.clone(), tone), owed);
        if interval.to != u64::MAX {
            let within = match rows::clears(&promised) {
                Clears::Healed(within) => within.map_or(COMES_UP, |it| self.rows.ticks(it)),
                _ => return,
            };
            let last = interval.to.saturating_add(within);
            owed.push(self.once(interval, is_healthy(about, None), interval.to, last));
            // Its ports may be told of beside it.
            let views = self.readings.views(&interval.node, interval.to);
            let function = views.and_then(|[views, _]| views.0.get(&pci));
            for port in function.iter().flat_map(|function| function.ports.keys()) {
                let about = About::Port(SlotRef {
                    node: interval.node.clone(),
                    pci,
                    port: *port,
                });
                let back = self.once(interval, is_healthy(about, None), interval.to, last);
                owed.push(at_will(&back));
            }
        }
    }

    /// Whether ports of a device are reported while it comes back.
    fn ports_speak(&self, of: &Interval) -> bool {
        let pair = self.rows.pair(&Named::GoneDevice.into(), of.layer);
        matches!(pair, Some((_, Row::Says(says))) if says.ports == Some(Meanwhile::Reported))
    }

    /// Whether the documents ask for a fault of a port in a tick.
    fn is_asked_for(&self, documents: &[Translated<'a>], slot: &SlotRef, tick: u64) -> bool {
        documents.iter().any(|it| {
            it.demand.pattern.tone != Severity::Healthy
                && it.demand.pattern.about == About::Port(slot.clone())
                && (it.demand.window.from..=it.demand.window.to).contains(&tick)
        })
    }

    /// Whether a state is a text that is none, which the documents call unreadable.
    fn is_garbled(&self, interval: &Interval, pci: PciAddress) -> bool {
        interval.kind == Named::OddState.into()
            && self
                .readings
                .is_ruled(&interval.node, pci, interval.from)
                .is_some()
    }

    /// Whether a port was never healthy until a poll, nothing was asked about it, and its peers are no evidence of a fault: a
    /// first poll says nothing of it.
    fn is_dark_by_design(&self, slot: &SlotRef, tick: u64, documents: &[Translated<'a>]) -> bool {
        let is_asked = |it: &Translated<'_>| {
            let pattern = &it.demand.pattern;
            pattern.tone != Severity::Healthy
                && pattern.about == About::Port(slot.clone())
                && it.demand.window.from <= tick
        };
        self.was_dark(slot, tick)
            && !self.has_evidence_against(&slot.node, slot.pci, tick)
            && !documents.iter().any(is_asked)
    }

    /// Whether a port was not healthy before its device was gone, and nothing was said of it: it has no cable by design.
    pub(super) fn was_dark(&self, slot: &SlotRef, back: u64) -> bool {
        let mut before = (0..back).rev().filter_map(|tick| {
            let [views, _] = self.readings.views(&slot.node, tick)?;
            views.0.get(&slot.pci).filter(|view| view.listed)?;
            Some(
                self.readings
                    .port(&slot.node, (slot.pci, slot.port), views, tick),
            )
        });
        // It was dark ever since the first poll.
        let last = before.next();
        last.is_some_and(|last| last.kind().is_some() && before.all(|it| it.kind().is_some()))
    }

    /// Demands the report of a fault whose kind does not change.
    fn owe(
        &self,
        interval: &Interval,
        promised: &Says,
        about: (About, Severity),
        owed: &mut Vec<Demand<'a>>,
    ) {
        let after = self.rows.ticks(promised.after.unwrap_or(Lasting::NOTHING));
        if let Waited::Due { from, to, .. } = stands(interval, after) {
            owed.push(self.due_between((from, to), interval, promised, about));
        }
    }

    /// The demand for the report of a fault that is due in these polls.
    fn due_between(
        &self,
        (from, to): (u64, u64),
        interval: &Interval,
        promised: &Says,
        (about, tone): (About, Severity),
    ) -> Demand<'a> {
        let within = promised
            .within
            .map_or(GRACE, |within| self.rows.ticks(within));
        let pattern = EventPattern {
            tone,
            ..is_healthy(about, None)
        };
        let last = self.delivery.next(&interval.node, to);
        self.once(interval, pattern, from, last.saturating_add(within))
    }

    /// When a fault of a port is due by its row: what is read from its first poll on decides, if it shows the fault.
    fn waited(
        &self,
        slot: &SlotRef,
        interval: &Interval,
        promised: &Row,
        severity: Severity,
    ) -> Waited {
        self.waited_for(slot, interval.layer, interval.from, severity)
            .unwrap_or_else(|| stands(interval, self.rows.after(promised)))
    }

    /// Demands its clear.
    fn owe_clear(
        &self,
        interval: &Interval,
        promised: &Says,
        (pci, port): (PciAddress, Option<PortNumber>),
        healed: u64,
        owed: &mut Vec<Demand<'a>>,
    ) {
        let after = self.rows.ticks(promised.after.unwrap_or(Lasting::NOTHING));
        let is_told = healed.saturating_sub(interval.from) > after;
        if healed == u64::MAX || !is_told {
            return;
        }
        let within = match rows::clears(promised) {
            Clears::Healed(within) => within.map_or(GRACE, |within| self.rows.ticks(within)),
            _ => return,
        };
        let (about, check) = match port {
            Some(port) => {
                let node = interval.node.clone();
                (About::Port(SlotRef { node, pci, port }), None)
            }
            None => (
                About::Card(interval.node.clone(), pci),
                interval.layer.map(state_check),
            ),
        };
        let pattern = is_healthy(about, check);
        owed.push(self.once(interval, pattern, healed, healed.saturating_add(within)));
    }

    fn once(&self, interval: &Interval, pattern: EventPattern, from: u64, to: u64) -> Demand<'a> {
        let bounds = Bounds {
            at_least: 1,
            at_most: 1,
        };
        Demand::by_promise(&interval.node, Window { from, to }, pattern, bounds)
    }
}

/// When a fault is due that must have stood for so many ticks, and is of one kind.
fn stands(interval: &Interval, after: u64) -> Waited {
    let due = interval.from.saturating_add(after);
    match due < interval.to {
        true => Waited::Due {
            from: due,
            to: due,
            is_owed: true,
        },
        false => Waited::Over,
    }
}

/// The severity by a row of what has this one by the documents; `None` if nothing is said.
fn severity(row: &Row, natural: Option<Severity>) -> Option<Severity> {
    match row {
        Row::Says(says) => Some(says.verdict.unwrap_or(natural?)),
        Row::Silent | Row::Usual => None,
    }
}

/// The severity by the monitor's row, beside the documents', of what has this one by the documents; `None` if nothing is said.
pub(super) fn own_severity(
    documents: &Row,
    promised: &Row,
    natural: Option<Severity>,
) -> Option<Severity> {
    match (documents, promised) {
        _ if documents == promised => severity(promised, natural),
        (Row::Says(of_documents), Row::Says(says)) if of_documents.verdict == says.verdict => {
            severity(promised, natural)
        }
        (_, Row::Says(says)) => Some(tone_of(says)),
        _ => None,
    }
}

/// The severity that a row states; nonfatal if it states none.
fn tone_of(says: &Says) -> Severity {
    says.verdict.unwrap_or(Severity::NonFatal)
}

/// Whether a severity is worse than the one that was reported.
fn rises(said: Option<Severity>, now: Option<Severity>) -> bool {
    match (said, now) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(said), Some(now)) => now.is_worse_than(said),
    }
}
