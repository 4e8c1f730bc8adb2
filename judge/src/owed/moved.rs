//! Ports that show another link layer than before: what becomes of what was said of them. Start at
//! [`Translator::of_moved`].

use director::NodeView;
use observe::promises::{Named, Row};
use platforms::{DeviceName, LinkLayer, PciAddress, SlotRef};
use scenarios::{About, EventPattern, Window};
use terms::Severity;

use super::{Fate, GRACE, translator::Translator};
use crate::{
    assign::Bounds,
    demands::{Demand, is_healthy, polled},
    fits::{layer_of_check, state_check},
    kinds::Kinds,
};

impl<'a> Translator<'_, 'a> {
    /// What becomes of a demand about a port that moved to the other link layer, where its row decides: without one nothing
    /// is judged from then on, and where it is silent the clear under the former layer need not come.
    pub(super) fn of_moved(&self, demand: &Demand<'a>, kinds: &Kinds) -> Option<Fate> {
        if let Some(reason) = self.rows.unpromised(&Named::MovedLayer.into()) {
            return self.is_of_moved(demand).then_some(Fate::NotJudged(reason));
        }
        let is_clear = demand.pattern.tone == Severity::Healthy;
        (is_clear && self.has_moved(demand, kinds)).then_some(Fate::Free)
    }

    /// Whether a demand is about a port, or its card, that moved before the demand's time is over.
    fn is_of_moved(&self, demand: &Demand<'a>) -> bool {
        let name = match &demand.pattern.about {
            About::NamedPort(name, _) => Some(name),
            _ => None,
        };
        let bears = |pci: PciAddress, name: &DeviceName| {
            let mut past = self.context.past(&demand.node, demand.window.to);
            past.any(|views| views.0.get(&pci).is_some_and(|view| view.name == *name))
        };
        let changes = self.readings.layer_changes(&demand.node).iter().copied();
        let mut in_time = changes.filter(|(.., tick)| *tick <= demand.window.to);
        in_time.any(|(pci, port, _)| match &demand.pattern.about {
            About::Port(slot) => (slot.pci, slot.port) == (pci, port),
            About::NamedPort(_, number) => {
                *number == port && name.is_some_and(|name| bears(pci, name))
            }
            About::Card(_, of) => of.card() == pci.card(),
            About::Device(..) | About::NamedDevice(_) | About::Check => false,
        })
    }

    /// A port that has moved to the other layer may be reported by the check of that, for a monitor to which it is
    /// another port.
    pub(super) fn moved_ports(&self, owed: &mut Vec<Demand<'a>>) {
        let row = self.rows.pair(&Named::MovedLayer.into(), None);
        if !matches!(row, Some((documents, promised)) if documents != promised) {
            return;
        }
        for node in &self.context.story.monitors {
            let mut before: Option<&NodeView> = None;
            for tick in polled(self.recording, node) {
                let Some([views, _]) = self.readings.views(node, tick) else {
                    continue;
                };
                let Some(was) = before.replace(views) else {
                    continue;
                };
                for (pci, view) in views.watched() {
                    let moved = view.ports.iter().filter(|(port, now)| {
                        let then = was.0.get(&pci).and_then(|was| was.ports.get(port));
                        then.is_some_and(|then| then.layer != now.layer) && !now.healthy()
                    });
                    owed.extend(moved.flat_map(|(port, now)| {
                        let port = SlotRef {
                            node: node.clone(),
                            pci,
                            port: *port,
                        };
                        [Severity::Fatal, Severity::NonFatal]
                            .map(|tone| may_report(&port, now.layer, tone, tick))
                    }));
                }
            }
        }
    }

    /// Whether the clear of a fault is asked for because its port has moved to the other layer, and the monitor says
    /// nothing of that.
    fn has_moved(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
        let row = self.rows.pair(&Named::MovedLayer.into(), None);
        let before = demand.window.from.saturating_sub(1);
        let bears = |name: &DeviceName| {
            let [views, _] = self.readings.views(&demand.node, before)?;
            let mut all = views.0.iter();
            all.find_map(|(pci, view)| (view.name == *name).then_some(*pci))
        };
        let of = match &demand.pattern.about {
            About::Port(slot) => Some((slot.pci, slot.port)),
            About::NamedPort(name, port) => bears(name).map(|pci| (pci, *port)),
            _ => None,
        };
        let Some((pci, port)) = of else {
            return false;
        };
        if !matches!(row, Some((documents, Row::Silent)) if documents != Row::Silent) {
            return false;
        }
        let layer = |tick: u64| {
            let [views, _] = self.readings.views(&demand.node, tick)?;
            Some(views.0.get(&pci)?.ports.get(&port)?.layer)
        };
        let checked = demand.pattern.check.as_deref().and_then(layer_of_check);
        let then = kinds.begins.and_then(layer).or(layer(before));
        let now = layer(
            demand
                .window
                .to
                .min(self.readings.ticks().saturating_sub(1)),
        );
        then.is_some() && now.is_some() && then != now && (checked.is_none() || checked == then)
    }
}

/// A report of a port by the check of its present layer, which may come.
fn may_report<'a>(port: &SlotRef, layer: LinkLayer, tone: Severity, tick: u64) -> Demand<'a> {
    let window = Window {
        from: tick,
        to: tick + GRACE,
    };
    let pattern = EventPattern {
        tone,
        ..is_healthy(About::Port(port.clone()), Some(state_check(layer)))
    };
    let bounds = Bounds {
        at_least: 0,
        at_most: 1,
    };
    Demand::by_promise(&port.node, window, pattern, bounds)
}
