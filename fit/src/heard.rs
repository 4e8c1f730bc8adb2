//! What a monitor said in a drill, event by event, and whom it named. Start at [`heard`].

use observe::{Observation, Subject};
use platforms::PciAddress;
use terms::Severity;

use crate::drill::Drill;

/// An event of an accepted call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<'a> {
    /// The poll in which it came.
    pub(crate) tick: u64,
    pub(crate) event: &'a Observation,
}

/// Whom an event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity<'a> {
    /// The node, or all that a check monitors.
    Node,
    /// A port by its device and number.
    Port(&'a str, &'a str),
    Device(&'a str),
    Card(&'a str),
    /// Something else.
    Other,
}

impl<'a> Heard<'a> {
    /// Whom it names; a device with a slash and a number is a port.
    pub(crate) fn said(&self) -> Entity<'a> {
        match &self.event.subject {
            Subject::Node => Entity::Node,
            Subject::Port { device, port } => Entity::Port(device, port),
            Subject::Card(card) => Entity::Card(card),
            Subject::Device(device) => match device.split_once('/') {
                Some((device, port)) => Entity::Port(device, port),
                None => Entity::Device(device),
            },
            Subject::Other(_) => Entity::Other,
        }
    }

    /// The severity of a fault; `None` for a healthy event and for one that contradicts itself.
    pub(crate) fn verdict(&self) -> Option<Severity> {
        match self.event.severity {
            severity @ (Severity::Fatal | Severity::NonFatal) => Some(severity),
            Severity::Healthy | Severity::Unknown => None,
        }
    }

    pub(crate) fn is_healthy(&self) -> bool {
        self.event.severity == Severity::Healthy
    }

    /// It in words, without its message.
    pub(crate) fn line(&self) -> String {
        let Observation {
            severity,
            subject,
            check,
            codes,
            ..
        } = self.event;
        let words = [
            severity.to_string(),
            subject.to_string(),
            check.clone().unwrap_or_default(),
        ];
        let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
        match codes.is_empty() {
            true => words.join(" "),
            false => format!("{} [{}]", words.join(" "), codes.join(", ")),
        }
    }
}

/// The events of the accepted calls of a drill, in order.
pub(crate) fn heard<'a>(drill: &Drill<'a>) -> Vec<Heard<'a>> {
    let ticks = (0..).zip(&drill.recording.ticks);
    let calls = ticks.flat_map(|(tick, of)| {
        let calls = of.monitors.values().flat_map(|monitor| &monitor.calls);
        calls
            .filter(|call| call.accepted)
            .map(move |call| (tick, call))
    });
    calls
        .flat_map(|(tick, call)| {
            let events = call.observations.iter();
            events.map(move |event| Heard { tick, event })
        })
        .collect()
}

/// Whether a device bore a name at or before a poll.
pub(crate) fn bears(drill: &Drill<'_>, pci: PciAddress, name: &str, until: u64) -> bool {
    let until = usize::try_from(until).unwrap_or(usize::MAX);
    let ticks = drill.truth.ticks.iter().take(until.saturating_add(1));
    ticks.rev().any(|tick| {
        tick.nodes.values().any(|node| {
            let views = [&node.views, &node.after];
            let mut borne = views.into_iter().filter_map(|views| views.0.get(&pci));
            borne.any(|view| view.name.as_str() == name)
        })
    })
}
