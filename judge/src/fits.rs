//! Matches events against patterns.

use std::{borrow::Cow, collections::BTreeSet};

use platforms::{DeviceName, NodeName, PciAddress, PortNumber, SlotRef, WORLD_START_WALL_NS};
use scenarios::{About, EventPattern, Story};
use simfs::SimTime;
use terms::{Check, LinkLayer};

use director::{FunctionView, NodeView, PortView, Truth};
use observe::{ClockKind, Descriptor, Observation, Subject, promises::PortNaming};

/// The true state and the monitor's descriptor, for matching events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgeContext<'a> {
    pub(crate) story: &'a Story,
    pub(crate) truth: &'a Truth,
    pub(crate) descriptor: &'a Descriptor,
}

/// The state check of a link layer (`lsd 13.1`).
pub(crate) fn state_check(layer: LinkLayer) -> &'static str {
    layer.state_check().name()
}

/// The counter check of a link layer (`lsd 12.1`).
pub(crate) fn counter_check(layer: LinkLayer) -> &'static str {
    layer.degradation_check().name()
}

/// The link layer of a check; `None` for a check that is not in the table.
pub(crate) fn layer_of_check(check: &str) -> Option<LinkLayer> {
    Check::parse(check).map(Check::layer)
}

impl<'a> JudgeContext<'a> {
    /// Whether an event received in this tick on this node matches a pattern.
    pub(crate) fn fits(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> bool {
        // Fields that do not depend on the true state are compared first.
        pattern
            .error_codes
            .as_ref()
            .is_none_or(|codes| *codes == event.codes)
            && pattern
                .counter
                .as_ref()
                .is_none_or(|counter| event.codes == [counter.as_str()])
            && self.names_subject(&pattern.about, node, tick, event)
            && self.is_check(pattern, node, tick, event)
            && event.severity == pattern.tone
            && self.says(pattern, node, tick, event)
            && self.is_stamped(pattern, event)
    }

    /// Whether the event's entities are those of the subject.
    pub(crate) fn names_subject(
        &self,
        about: &About,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> bool {
        let bears = |pci: PciAddress, name: &str| {
            self.names(node, pci, tick)
                .any(|borne| borne.as_str() == name)
        };
        match (about, &event.subject) {
            (About::Port(slot), Subject::Port { device, port }) => {
                slot.node == *node && bears(slot.pci, device) && *port == slot.port.to_string()
            }
            (About::Port(slot), Subject::Device(device)) if self.names_ports_by_device() => {
                slot.node == *node && bears(slot.pci, device)
            }
            (About::Device(of, pci), Subject::Device(name) | Subject::Card(name)) => {
                of == node && bears(*pci, name)
            }
            (About::Card(of, pci), Subject::Device(name) | Subject::Card(name)) => {
                of == node && pci.card().is_called(name)
            }
            (About::NamedPort(name, number), Subject::Port { device, port }) => {
                device == name.as_str() && *port == number.to_string()
            }
            (About::NamedDevice(name), Subject::Device(named) | Subject::Card(named)) => {
                named == name.as_str()
            }
            (About::Check, Subject::Node) => true,
            _ => false,
        }
    }

    /// Whether the entities of a port's event are those of its device, by promise.
    fn names_ports_by_device(&self) -> bool {
        let wire = self.descriptor.promises.wire.as_ref();
        wire.is_some_and(|wire| wire.port == Some(PortNaming::Device))
    }

    /// Whether an entry of a node condition names exactly the subject.
    pub(crate) fn names_entry(
        &self,
        about: &About,
        node: &NodeName,
        tick: u64,
        entry: &str,
    ) -> bool {
        let has = |kind: &str, value: &str| entry.contains(&format!("{kind}:{value} "));
        let is_port = |port: PortNumber| has("NICPort", &port.to_string());
        let borne = |pci| {
            self.names(node, pci, tick)
                .any(|name| has("NIC", name.as_str()))
        };
        let is_device = !entry.contains("NICPort:");
        match about {
            About::Port(slot) => slot.node == *node && borne(slot.pci) && is_port(slot.port),
            About::Device(of, pci) => of == node && borne(*pci) && is_device,
            About::Card(of, pci) => of == node && has("NIC", &pci.card().to_string()),
            About::NamedPort(name, port) => has("NIC", name.as_str()) && is_port(*port),
            About::NamedDevice(name) => has("NIC", name.as_str()) && is_device,
            About::Check => !entry.contains("NIC:"),
        }
    }

    /// A subject as its events name it in a tick.
    pub(crate) fn describe(&self, about: &About, node: &NodeName, tick: u64) -> String {
        match self.entities(about, node, tick) {
            (Some(nic), Some(port)) => format!("NIC={nic} NICPort={port}"),
            (Some(nic), None) => format!("NIC={nic}"),
            (None, _) => "(whole check)".to_owned(),
        }
    }

    /// The NIC and the port that events about a subject name in a tick.
    pub(crate) fn entities(
        &self,
        about: &About,
        node: &NodeName,
        tick: u64,
    ) -> (Option<String>, Option<String>) {
        let name = |pci: PciAddress| {
            let name = self.names(node, pci, tick).next();
            name.map_or_else(|| pci.to_string(), ToString::to_string)
        };
        match about {
            About::Port(slot) => (Some(name(slot.pci)), Some(slot.port.to_string())),
            About::Device(_, pci) => (Some(name(*pci)), None),
            About::Card(_, pci) => (Some(pci.card().to_string()), None),
            About::NamedPort(name, port) => (Some(name.to_string()), Some(port.to_string())),
            About::NamedDevice(name) => (Some(name.to_string()), None),
            About::Check => (None, None),
        }
    }

    /// The expected messages of a demand about a subject, filled in: those of the link layers that its events can have, and
    /// none if texts are not judged.
    pub(crate) fn messages(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
    ) -> Vec<(LinkLayer, String)> {
        let about = &pattern.about;
        let stated = pattern.check.as_deref().and_then(layer_of_check);
        let layers = match stated {
            Some(layer) => BTreeSet::from([layer]),
            None => self.layers(about, node, tick),
        };
        let (nic, port) = self.entities(about, node, tick);
        let entities = (nic.as_deref(), port.as_deref());
        let of_layer = |layer: &LinkLayer| layers.is_empty() || layers.contains(layer);
        let texts = &self.descriptor.texts.events;
        let judged = |(layer, text): &(&LinkLayer, &String)| of_layer(layer) && texts.has(text);
        let messages = pattern.message.iter().filter(judged);
        messages
            .map(|(layer, text)| (*layer, self.filled(text, about, node, tick, entities)))
            .collect()
    }

    /// An expected message with the placeholders of its subject filled in; `entities` are the NIC and the port of the event.
    fn filled(
        &self,
        text: &str,
        about: &About,
        node: &NodeName,
        tick: u64,
        (nic, port): (Option<&str>, Option<&str>),
    ) -> String {
        let (nic, port) = (nic.unwrap_or_default(), port.unwrap_or_default());
        let subject = self.subject(about, node, tick);
        let view = subject.map(|(_, view)| view);
        let pci = subject.map_or_else(String::new, |(pci, _)| pci.to_string());
        text.replace("{pci}", &pci)
            .replace("{device}", nic)
            .replace("{card}", nic)
            .replace("{port}", port)
            .replace(
                "{role}",
                &view.map_or_else(String::new, |view| view.role.to_string()),
            )
            .replace(
                "{netdev}",
                view.and_then(|view| view.netdev.as_deref())
                    .unwrap_or_default(),
            )
    }

    fn is_check(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> bool {
        // In a protocol without check names, any check may have emitted it.
        let Some(named) = &event.check else {
            return true;
        };
        if let Some(check) = &pattern.check {
            return named == check;
        }
        let check_of = match pattern.counter {
            Some(_) => counter_check,
            None => state_check,
        };
        let layers = self.layers(&pattern.about, node, tick);
        // A name that no device ever had, such as a card's, may be of either layer.
        let is_by_name = matches!(
            pattern.about,
            About::Check | About::NamedPort(..) | About::NamedDevice(_)
        );
        is_by_name && layers.is_empty() || layers.into_iter().any(|layer| named == check_of(layer))
    }

    fn says(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> bool {
        let texts = &self.descriptor.texts.events;
        let layer = event.check.as_deref().and_then(layer_of_check);
        let text = layer.and_then(|layer| pattern.message.get(&layer));
        let Some(text) = text.filter(|text| texts.has(text)) else {
            return true;
        };
        let entities = (event.subject.nic(), event.subject.port());
        let text = self.filled(text, &pattern.about, node, tick, entities);
        if self.descriptor.clock == ClockKind::Own {
            return like(&any_rate(&text), &event.text);
        }
        like(&text, &event.text)
    }

    fn is_stamped(&self, pattern: &EventPattern, event: &Observation) -> bool {
        if self.descriptor.clock == ClockKind::Own {
            return true;
        }
        let Some(at) = event
            .stamped_ns
            .and_then(|ns| ns.checked_sub(WORLD_START_WALL_NS))
        else {
            return pattern.stamped_from.is_none() && pattern.stamped_to.is_none();
        };
        // The events of a batch have timestamps one nanosecond apart, from the poll's time on.
        let at = SimTime::from_ns(at);
        pattern.stamped_from.is_none_or(|from| from <= at)
            && pattern.stamped_to.is_none_or(|to| at <= to + BATCH_SPREAD)
    }

    /// The names of a function in a tick: at its start and at its end.
    fn names(
        &self,
        node: &NodeName,
        pci: PciAddress,
        tick: u64,
    ) -> impl Iterator<Item = &'a DeviceName> + use<'a> {
        self.views(node, tick)
            .into_iter()
            .flatten()
            .filter_map(move |views| Some(&views.0.get(&pci)?.name))
    }

    /// The views at a tick's start and at its end.
    fn views(&self, node: &NodeName, tick: u64) -> Option<[&'a NodeView; 2]> {
        let truth = usize::try_from(tick)
            .ok()
            .and_then(|tick| self.truth.ticks.get(tick))?;
        let truth = truth.nodes.get(node)?;
        Some([&*truth.views, &*truth.after])
    }

    /// The views in a tick and before it, the latest first, without repetitions.
    pub(crate) fn past(
        &self,
        node: &NodeName,
        tick: u64,
    ) -> impl Iterator<Item = &'a NodeView> + use<'a> {
        let until = usize::try_from(tick).map_or(usize::MAX, |tick| tick.saturating_add(1));
        let ticks = &self.truth.ticks[..until.min(self.truth.ticks.len())];
        let node = node.clone();
        let mut last: Option<*const NodeView> = None;
        ticks
            .iter()
            .rev()
            .filter_map(move |tick| tick.nodes.get(&node))
            .flat_map(|node| [&*node.after, &*node.views])
            .filter(move |views| {
                last.replace(std::ptr::from_ref(*views)) != Some(std::ptr::from_ref(*views))
            })
    }

    /// The view of a port when it was last visible up to this tick.
    fn port(&self, slot: &SlotRef, tick: u64) -> Option<PortView> {
        self.past(&slot.node, tick)
            .find_map(|views| views.0.get(&slot.pci)?.ports.get(&slot.port).copied())
    }

    /// The view of the function of a subject when it was last visible up to this tick.
    pub(crate) fn subject(
        &self,
        about: &About,
        node: &NodeName,
        tick: u64,
    ) -> Option<(PciAddress, &'a FunctionView)> {
        let is_meant = |(pci, view): &(&PciAddress, &FunctionView)| match about {
            About::Port(slot) => slot.pci == **pci,
            About::Device(_, meant) | About::Card(_, meant) => meant == *pci,
            About::NamedPort(name, _) | About::NamedDevice(name) => view.name == *name,
            About::Check => false,
        };
        let found = self
            .past(node, tick)
            .find_map(|views| views.0.iter().find(is_meant));
        found.map(|(pci, view)| (*pci, view))
    }

    /// The link layers of a subject when it was last visible.
    pub(crate) fn layers(&self, about: &About, node: &NodeName, tick: u64) -> BTreeSet<LinkLayer> {
        let of_function = |view: &FunctionView| {
            view.ports
                .values()
                .map(|port| port.layer)
                .collect::<BTreeSet<_>>()
        };
        match about {
            About::Port(slot) => self
                .port(slot, tick)
                .map(|port| port.layer)
                .into_iter()
                .collect(),
            About::Device(_, pci) => self
                .past(node, tick)
                .find_map(|views| views.0.get(pci).filter(|view| !view.ports.is_empty()))
                .map(of_function)
                .unwrap_or_default(),
            About::Card(_, pci) => {
                let card = pci.card();
                let views = self.past(node, tick).next();
                let functions = views.into_iter().flat_map(|views| &views.0);
                functions
                    .filter(|(pci, _)| pci.card() == card)
                    .flat_map(|(_, view)| of_function(view))
                    .collect()
            }
            About::NamedPort(name, _) | About::NamedDevice(name) => {
                let bearers = self.past(node, tick).flat_map(|views| views.0.values());
                bearers
                    .filter(|view| view.name == *name)
                    .flat_map(of_function)
                    .collect()
            }
            About::Check => BTreeSet::new(),
        }
    }
}

/// The largest distance of a timestamp from its poll's time: one nanosecond per event.
pub(crate) const BATCH_SPREAD: SimTime = SimTime::from_ns(100_000);

/// Whether `text` matches `pattern`, in which `…` matches anything.
pub(crate) fn like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// An expected text with any rate: it is measured by the monitor's own clock.
fn any_rate(text: &str) -> Cow<'_, str> {
    let Some((before, rest)) = text.split_once("rate=") else {
        return Cow::Borrowed(text);
    };
    match rest.find('/') {
        Some(unit) => Cow::Owned(format!("{before}rate=…{}", &rest[unit..])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
pub(crate) mod tests;
