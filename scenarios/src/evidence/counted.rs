//! The counters that a story is about: the check of the port's layer must read them.

use fabric::{Action, PortAction};
use platforms::{LinkLayer, SlotRef};

use super::cast::Cast;
use super::fact::{Fact, Topic};
use crate::resolved_world::ResolvedPort;
use crate::story::{ChecksRun, FileRef, StepAction};

/// `None` for a story that touches no counter of a monitored port, or in which no check of counters runs.
pub(crate) fn fact(cast: &Cast<'_>) -> Option<Fact> {
    if !matches!(cast.story.checks, ChecksRun::Counters | ChecksRun::All) {
        return None;
    }
    let mut seen = None;
    for (slot, name) in cast.story.actions().filter_map(counter) {
        let Some(port) = cast.port(slot).map(|port| &cast.world.ports[port]) else {
            continue;
        };
        if !port.facts.is_monitored() {
            continue;
        }
        if !is_read(cast, port, name) {
            let (device, layer) = (&port.facts.device, port.facts.layer);
            let text = format!("no check on {layer} reads `{name}` of {device}");
            return Some(Fact::lacks(Topic::Counter, text));
        }
        seen = seen.or(Some(name));
    }
    seen.map(|name| Fact::holds(Topic::Counter, format!("its port counts `{name}`")))
}

/// The counter that an action changes, or whose file a rule is about.
fn counter(action: &StepAction) -> Option<(&SlotRef, &str)> {
    match action {
        StepAction::World(Action::Port(slot, PortAction::Counter { name, .. })) => {
            Some((slot, name))
        }
        StepAction::Rule(rule) => match &rule.file {
            FileRef::Port(slot, path) => {
                let file = path.strip_prefix("counters/");
                let file = file.or_else(|| path.strip_prefix("hw_counters/"))?;
                Some((slot, file))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether the check of the port's layer reads the counter: the port's own on both layers, those of its interface on
/// Ethernet alone.
fn is_read(cast: &Cast<'_>, port: &ResolvedPort, name: &str) -> bool {
    let platform = &cast.world.nodes[port.node].platform;
    let Some(driver) = platform.driver(&port.facts.driver_file) else {
        return false;
    };
    let mut own = driver.counters.iter().chain(&driver.hw_counters);
    own.any(|file| file.name == name) || port.facts.layer == LinkLayer::Ethernet
}
