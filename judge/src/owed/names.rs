//! Devices that come back or get another name: when they count as back, and what becomes of what was said about them.
//! Start at [`Translator::back`].

use observe::promises::{Back, Kind, Meanwhile, Named, Restates, Row, Says};
use platforms::{DeviceName, LinkLayer, NodeName, PciAddress, SlotRef};
use scenarios::{About, EventPattern, Tone, Window};

use super::{rows, translator::Translator};
use crate::{
    assign::Bounds,
    demands::{Demand, is_healthy, polled},
    fits::{layer_of_check, state_check},
    kinds::Kinds,
};

/// How many polls after its time a report may come. Chosen: as scenarios allow where they state `within: 1 poll`.
const GRACE: u64 = 1;

impl<'a> Translator<'_, 'a> {
    /// Moves the demand for the return of a device, or of a port of it, to the time at which that is back by the
    /// monitor's row.
    pub(super) fn back(&self, owed: &mut Demand<'a>, kinds: &Kinds, promised: &Says) {
        if kinds.condition != Some(Named::GoneDevice.into()) || promised.back != Some(Back::AnyPort)
        {
            return;
        }
        let (node, to) = (owed.node.clone(), owed.window.from);
        let is_back = |tick: u64| {
            let Some([views, _]) = self.readings.views(&node, tick) else {
                return false;
            };
            match &owed.pattern.about {
                About::Device(_, pci) => views.0.get(pci).is_some_and(|view| {
                    view.listed && view.ports.values().any(director::PortView::healthy)
                }),
                About::Port(slot) => {
                    let listed = views.0.get(&slot.pci).is_some_and(|view| view.listed);
                    listed && views.healthy(slot.pci, slot.port)
                }
                _ => false,
            }
        };
        let since = (kinds.begins.unwrap_or(0)..=to)
            .rev()
            .take_while(|tick| is_back(*tick))
            .last();
        if let Some(since) = since {
            owed.window = Window {
                from: since,
                to: owed.window.to.min(since + GRACE + 1).max(since),
            };
            owed.in_order = None;
        }
    }

    /// Whether a healthy demand is about what the monitor has forgotten: after a baseline it does not know a device
    /// that was not there, and is silent about a healthy one that is new.
    pub(super) fn is_forgotten(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
        let added = self.rows.pair(&Named::HotAdded.into(), kinds.layer);
        let is_silent =
            matches!(added, Some((_, Row::Says(says))) if says.healthy == Some(Meanwhile::Silent));
        if kinds.episode == Some(Named::HotAdded) && kinds.clears.is_none() && is_silent {
            return true;
        }
        let reboot = self.rows.pair(&Named::Reboot.into(), None);
        let forgets =
            matches!(reboot, Some((_, Row::Says(says))) if rows::restates(&says) != Restates::All);
        let pci = match &demand.pattern.about {
            About::Device(_, pci) => *pci,
            About::Port(slot) => slot.pci,
            _ => return false,
        };
        let is_of_absence = matches!(
            kinds.condition,
            Some(Kind::Named(Named::GoneDevice | Named::GonePort))
        );
        if is_of_absence && forgets {
            let mut baselines = polled(self.recording, &demand.node)
                .take_while(|tick| *tick <= demand.window.from)
                .scan(0, |from, tick| {
                    Some((std::mem::replace(from, tick + 1), tick))
                })
                .filter(|(from, tick)| {
                    *from > 0 && self.begins_baseline(&demand.node, *from, *tick)
                });
            let is_absent = baselines.any(|(_, tick)| {
                let views = self.readings.views(&demand.node, tick);
                views.is_some_and(|[views, _]| views.0.get(&pci).is_none_or(|it| !it.listed))
            });
            return is_absent;
        }
        false
    }

    /// A port that has moved to the other layer may be reported by the check of that, for a monitor to which it is
    /// another port.
    pub(super) fn moved_ports(&self, owed: &mut Vec<Demand<'a>>) {
        let row = self.rows.pair(&Named::MovedLayer.into(), None);
        if !matches!(row, Some((documents, promised)) if documents != promised) {
            return;
        }
        for node in &self.context.story.monitors {
            let mut before: Option<&director::NodeView> = None;
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
                        [Tone::Fatal, Tone::NonFatal]
                            .map(|tone| may_report(&port, now.layer, tone, tick))
                    }));
                }
            }
        }
    }

    /// Whether the clear of a fault is asked for because its port has moved to the other layer, and the monitor says
    /// nothing of that.
    pub(super) fn has_moved(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
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

    /// Whether a healthy demand is about a name that its device does not bear any more, for a monitor that knows
    /// devices by their names.
    pub(super) fn is_left_behind(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
        kinds.episode == Some(Named::Rename) && self.is_known_by_name()
            || self.is_known_by_name() && self.names_the_old(demand)
    }

    /// Whether a fault is asked for under a name that another device bore before, for a monitor that knows devices by
    /// their names: what it reported under that name stands already.
    pub(super) fn is_taken_over(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
        if kinds.episode != Some(Named::Rename) || !self.is_known_by_name() {
            return false;
        }
        // Its counters are counted anew.
        if demand.pattern.counter.is_some() {
            return true;
        }
        let now = self.readings.views(&demand.node, demand.window.from);
        let name = match &demand.pattern.about {
            About::NamedPort(name, _) | About::NamedDevice(name) => Some(name.clone()),
            About::Port(slot) => {
                now.and_then(|[views, _]| Some(views.0.get(&slot.pci)?.name.clone()))
            }
            _ => None,
        };
        name.is_some_and(|name| self.renamed(&demand.node).any(|(_, old, _)| old == name))
    }

    fn names_the_old(&self, demand: &Demand<'a>) -> bool {
        let name = match &demand.pattern.about {
            About::NamedPort(name, _) | About::NamedDevice(name) => name,
            _ => return false,
        };
        self.renamed(&demand.node)
            .any(|(_, old, tick)| old == *name && tick <= demand.window.from)
    }

    /// The functions of a node that got another name: each with the old one, and the first poll without it.
    fn renamed(&self, node: &NodeName) -> impl Iterator<Item = (PciAddress, DeviceName, u64)> {
        let mut before: Option<&director::NodeView> = None;
        let mut found = Vec::new();
        for tick in polled(self.recording, node) {
            let Some([views, _]) = self.readings.views(node, tick) else {
                continue;
            };
            if let Some(before) = before.replace(views) {
                for (pci, was) in &before.0 {
                    let now = views.0.get(pci);
                    if now.is_some_and(|now| now.name != was.name) && was.monitored {
                        found.push((*pci, was.name.clone(), tick));
                    }
                }
            }
        }
        found.into_iter()
    }

    /// Adds what a monitor owes that knows devices by their names: the old name of a device is one that is gone.
    pub(super) fn old_names(&self, owed: &mut Vec<Demand<'a>>) {
        if !self.is_known_by_name() {
            return;
        }
        let absence = usize::try_from(self.absence()).unwrap_or(usize::MAX);
        for node in &self.context.story.monitors {
            for (_, old, tick) in self.renamed(node) {
                let mut missed = polled(self.recording, node).skip_while(|poll| *poll < tick);
                let Some(due) = missed.nth(absence) else {
                    continue;
                };
                let is_free = |tick: u64| {
                    let views = self.readings.views(node, tick);
                    views.is_some_and(|[views, _]| {
                        !views.0.values().any(|it| it.listed && it.name == old)
                    })
                };
                let known = !self.begins_baseline(node, tick, tick);
                if !known || !(tick..=due).all(is_free) {
                    continue;
                }
                let window = Window {
                    from: due,
                    to: self.delivery.next(node, due) + GRACE,
                };
                let pattern = EventPattern {
                    tone: Tone::Fatal,
                    ..is_healthy(About::NamedDevice(old), None)
                };
                let bounds = Bounds {
                    at_least: 1,
                    at_most: 1,
                };
                owed.push(Demand {
                    stays: true,
                    ..Demand::by_promise(node, window, pattern, bounds)
                });
            }
        }
    }

    /// The subjects whose faults stay because their names were given up: names of devices, and cards, with the
    /// first poll without them.
    pub(super) fn left_behind(&self) -> Vec<(NodeName, String, u64)> {
        if !self.is_known_by_name() {
            return Vec::new();
        }
        let nodes = self.context.story.monitors.iter();
        let of_node = nodes.flat_map(|node| {
            let renamed: Vec<_> = self.renamed(node).collect();
            renamed.into_iter().flat_map(|(pci, old, tick)| {
                [
                    (node.clone(), old.to_string(), tick),
                    (node.clone(), pci.card().to_string(), tick),
                ]
            })
        });
        of_node.collect()
    }
}

/// A report of a port by the check of its present layer, which may come.
fn may_report<'a>(port: &SlotRef, layer: LinkLayer, tone: Tone, tick: u64) -> Demand<'a> {
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
