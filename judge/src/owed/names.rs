//! Devices that come back or get another name: when they count as back, and what becomes of what was said about them.
//! Start at [`Translator::back`].

use observe::promises::{Back, Kind, Meanwhile, Named, Restates, Row, Says};
use platforms::{DeviceName, NodeName, PciAddress};
use scenarios::{About, EventPattern, Window};
use terms::Severity;

use super::{rows, translator::Translator};
use crate::{
    assign::Bounds,
    demands::{Demand, is_healthy, polled},
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
    /// that was not there.
    pub(super) fn is_forgotten(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
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

    /// Why nothing is judged of a demand about a device that got another name before its time is over; `None` if it is
    /// judged: a row is about names, or its device kept its name.
    pub(super) fn unpromised_name(&self, demand: &Demand<'a>) -> Option<String> {
        let reason = self.rows.unpromised_name()?;
        let views = self.readings.views(&demand.node, demand.window.from);
        let bears = |pci: &PciAddress, name: &DeviceName| {
            let view = views.and_then(|[views, _]| views.0.get(pci));
            view.is_some_and(|view| view.name == *name)
        };
        let mut renamed = self.renamed(&demand.node);
        let is_of_it = renamed.any(|(pci, old, tick)| {
            tick <= demand.window.to
                && match &demand.pattern.about {
                    About::Port(slot) => slot.pci == pci,
                    About::Device(_, of) => *of == pci,
                    About::NamedPort(name, _) | About::NamedDevice(name) => {
                        *name == old || bears(&pci, name)
                    }
                    About::Card(..) | About::Check => false,
                }
        });
        is_of_it.then_some(reason)
    }

    /// Adds what a monitor owes that knows devices by their names: the old name of a device is one that is gone, if it says
    /// anything of those.
    pub(super) fn old_names(&self, owed: &mut Vec<Demand<'a>>) {
        if !self.is_known_by_name() {
            return;
        }
        let gone = self.rows.pair(&Named::GoneDevice.into(), None);
        let (tone, at_least) = match gone {
            Some((_, Row::Silent)) => return,
            Some((_, Row::Says(says))) if says.verdict == Some(Severity::NonFatal) => {
                (Severity::NonFatal, 1)
            }
            Some((_, Row::Says(_) | Row::Usual)) => (Severity::Fatal, 1),
            // Nothing is promised: it may.
            None => (Severity::Fatal, 0),
        };
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
                    tone,
                    ..is_healthy(About::NamedDevice(old), None)
                };
                let bounds = Bounds {
                    at_least,
                    at_most: 1,
                };
                owed.push(Demand {
                    stays: true,
                    ..Demand::by_promise(node, window, pattern, bounds)
                });
            }
        }
    }

    /// Adds what a monitor owes that knows devices by their names: the new name of a device is one that was added, of which
    /// its row of added devices says whether it tells that it is healthy.
    pub(super) fn new_names(&self, owed: &mut Vec<Demand<'a>>) {
        if !self.is_known_by_name() {
            return;
        }
        let baselines = self.rows.wire().baselines;
        let tells_ports = baselines.is_none_or(|it| it.ports);
        let is_promised = match self.rows.pair(&Named::HotAdded.into(), None) {
            Some((_, Row::Silent)) => return,
            Some((_, Row::Says(says))) if says.healthy == Some(Meanwhile::Silent) => return,
            Some((_, Row::Says(_) | Row::Usual)) => true,
            // Nothing is promised: it may.
            None => false,
        };
        for node in &self.context.story.monitors {
            for (pci, _, tick) in self.renamed(node) {
                let views = self.readings.views(node, tick);
                let function = views.and_then(|[views, _]| views.0.get(&pci));
                let Some(function) = function.filter(|it| it.monitored && it.listed) else {
                    continue;
                };
                let before = polled(self.recording, node).take_while(|poll| *poll < tick);
                let bears = |poll: u64| {
                    let views = self.readings.views(node, poll);
                    views.is_some_and(|[views, _]| {
                        views.0.values().any(|it| it.name == function.name)
                    })
                };
                let (mut last, mut is_known) = (None, false);
                for poll in before {
                    (last, is_known) = (Some(poll), is_known || bears(poll));
                }
                if is_known {
                    continue;
                }
                let from = last.map_or(0, |last| last + 1);
                // What cannot be read under its new name yet is told when it can.
                let mut later = polled(self.recording, node).skip_while(|poll| *poll < tick);
                let is_read = |poll: &u64| self.readings.is_ruled(node, pci, *poll).is_none();
                let read = later.find(is_read).unwrap_or(tick);
                // Something else may make it wait, or begin anew.
                let is_all = self.episodes.latest_of_monitor(node, from, tick)
                    == Some(Named::Rename)
                    && !self.readings.is_any_ruled(node, tick);
                let window = Window {
                    from: tick,
                    to: self.delivery.next(node, read) + GRACE,
                };
                let healthy = function.ports.iter().filter(|(_, port)| port.healthy());
                let ports = healthy.map(|(port, _)| {
                    let about = About::NamedPort(function.name.clone(), *port);
                    (about, is_promised && is_all && tells_ports)
                });
                let device = (About::NamedDevice(function.name.clone()), false);
                owed.extend(ports.chain([device]).map(|(about, is_owed)| {
                    let bounds = Bounds {
                        at_least: usize::from(is_owed),
                        at_most: 1,
                    };
                    Demand::by_promise(node, window, is_healthy(about, None), bounds)
                }));
            }
        }
    }

    /// The subjects whose faults may stay because their names were given up: names of devices, and cards, with the
    /// first poll without them.
    pub(super) fn left_behind(&self) -> Vec<(NodeName, String, u64)> {
        if self.rows.follow_renames() {
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
