//! Absent devices: devices that disappeared, left the scope, or did not return after a reboot.
//!
//! Records pending clears under the old name, and returns the devices to be reported as
//! disappeared. Devices and ports that can be read are handled by `judge`.

use std::collections::BTreeSet;

use terms::{Check, LinkLayer};

use crate::config::{Config, NameVerdict};
use crate::memory::{Memory, Port, Slot};
use crate::message;
use crate::name::SlotKey;
use crate::pending_clear::Subject;
use crate::policy::Policy;
use crate::recognise::{Surroundings, ports_of};
use crate::sample::{PortSample, Presence, Samples};
use crate::scope::Reason;

/// The settings and clocks by which absence is judged.
#[derive(Debug, Clone)]
pub(crate) struct Measure<'a> {
    pub(crate) config: &'a Config,
    pub(crate) enabled: &'a [LinkLayer],
    pub(crate) disappearance_polls: u32,
    pub(crate) patience_ns: u64,
    pub(crate) now_ns: u64,
    pub(crate) policy: &'a dyn Policy,
}

/// Handles absent devices in a poll whose listing succeeded; returns the slots to be reported as
/// disappeared.
pub(crate) fn settle(
    memory: &mut Memory,
    samples: &mut Samples,
    around: &Surroundings,
    measure: &Measure<'_>,
) -> BTreeSet<SlotKey> {
    leave_scope(memory, samples, measure);
    settle_reboot(memory, samples, around, measure);
    let mut gone = BTreeSet::new();
    for (key, slot) in &mut memory.slots {
        if samples.of(key).presence != Presence::Absent || slot.stale {
            continue;
        }
        if slot.misses == 0 {
            remember_design(slot);
            if around.has_new_stranger {
                let since_ns = samples.maybe_renamed_since_ns.entry(key.clone());
                since_ns.or_insert(measure.now_ns);
            }
        }
        // This function may have returned under a name that cannot be placed yet: wait before
        // reporting it.
        if let Some(since_ns) = samples.maybe_renamed_since_ns.get(key)
            && around.has_stranger
            && measure.now_ns.saturating_sub(*since_ns) <= measure.patience_ns
        {
            continue;
        }
        if slot.misses < measure.disappearance_polls {
            slot.misses += 1;
        }
        if measure
            .policy
            .is_gone(slot.misses, measure.disappearance_polls)
        {
            gone.insert(key.clone());
        }
    }
    gone
}

/// Remembers which ports of a disappeared device were unhealthy without being reported.
pub(crate) fn remember_design(slot: &mut Slot) {
    if !slot.gone.is_empty() {
        return;
    }
    slot.ports.values_mut().for_each(Port::lose_sight);
}

/// Forgets devices, layers and cards that are no longer monitored; their faults become pending
/// clears.
fn leave_scope(memory: &mut Memory, samples: &Samples, measure: &Measure<'_>) {
    let mut leaving: Vec<(SlotKey, Reason)> = Vec::new();
    for (key, slot) in &memory.slots {
        match &samples.of(key).presence {
            Presence::Out(reason) => leaving.push((key.clone(), reason.clone())),
            Presence::Absent => match measure.config.judge_name(&slot.name) {
                NameVerdict::Excluded if !measure.policy.sees_excluded() => {}
                NameVerdict::Excluded => leaving.push((key.clone(), Reason::Excluded)),
                NameVerdict::NotPinned => leaving.push((key.clone(), Reason::NotPinned)),
                NameVerdict::Open | NameVerdict::Pinned => {}
            },
            Presence::Present { .. } => {}
        }
    }
    let mut left_cards = Vec::new();
    for (key, reason) in leaving {
        if let Some(slot) = memory.slots.remove(&key) {
            left_cards.push((slot.card(), reason.clone()));
            let message = format!("NIC {} no longer monitored ({reason}): clearing", slot.name);
            owe_all(memory, &slot, |_, _| message.clone());
        }
    }
    let off: Vec<LinkLayer> = LinkLayer::ALL
        .into_iter()
        .filter(|layer| !measure.enabled.contains(layer))
        .collect();
    for layer in off {
        leave_layer(memory, layer);
    }
    let keys: Vec<_> = memory.cards.keys().cloned().collect();
    for card_key in keys {
        let (layer, card) = &card_key;
        let is_manned = || {
            let mut slots = memory.slots.values();
            slots.any(|slot| slot.is_of(card) && slot.is_on(*layer))
        };
        let left = left_cards.iter().find(|(left, _)| left == card);
        let reason = match left {
            Some((_, reason)) if !is_manned() => reason.clone(),
            _ if !measure.enabled.contains(layer) => Reason::CheckOff(layer.state_check()),
            _ => continue,
        };
        let had_fault = memory
            .cards
            .remove(&card_key)
            .is_some_and(|card| card.fault.is_some());
        if had_fault {
            let message = format!("Card {card} no longer monitored ({reason}): clearing");
            memory.owe(layer.state_check(), Subject::Card(card.clone()), message);
        }
    }
}

/// Forgets the ports of a check that is no longer in `--checks`; their faults become pending
/// clears.
fn leave_layer(memory: &mut Memory, layer: LinkLayer) {
    let check = layer.state_check();
    let reason = Reason::CheckOff(check);
    let mut pending_clears: Vec<(Check, Subject, String)> = Vec::new();
    for slot in memory.slots.values_mut() {
        let message = format!("NIC {} no longer monitored ({reason}): clearing", slot.name);
        slot.pending.retain(|pending| *pending != layer);
        if slot.gone.remove(&layer).is_some() {
            pending_clears.push((check, Subject::Device(slot.name.clone()), message.clone()));
        }
        for (number, port) in ports_of(slot, layer) {
            if port.standing().is_some() {
                let subject = Subject::Port(slot.name.clone(), number);
                pending_clears.push((check, subject, message.clone()));
            }
        }
        slot.ports.retain(|_, port| port.layer != layer);
    }
    memory
        .slots
        .retain(|_, slot| !slot.ports.is_empty() || !slot.gone.is_empty());
    for (check, subject, message) in pending_clears {
        memory.owe(check, subject, message);
    }
}

/// Adds a pending clear for every fault of a slot.
fn owe_all(memory: &mut Memory, slot: &Slot, rendered: impl Fn(LinkLayer, &Subject) -> String) {
    for layer in slot.gone.keys() {
        let subject = Subject::Device(slot.name.clone());
        let message = rendered(*layer, &subject);
        memory.owe(layer.state_check(), subject, message);
    }
    for (number, port) in &slot.ports {
        if port.standing().is_some() {
            let subject = Subject::Port(slot.name.clone(), *number);
            let message = rendered(port.layer, &subject);
            memory.owe(port.layer.state_check(), subject, message);
        }
    }
}

/// After a reboot, the faults of absent devices are cleared if at least as many devices are present
/// as the old state contained. Otherwise they remain, and the devices are reported as disappeared.
/// Devices that cannot be read are waited for, at most for the patience.
fn settle_reboot(
    memory: &mut Memory,
    samples: &Samples,
    around: &Surroundings,
    measure: &Measure<'_>,
) {
    let Some(reboot) = memory.reboot.clone() else {
        return;
    };
    let since_ns = reboot.since_ns.unwrap_or(measure.now_ns);
    let waited_ns = measure.now_ns.saturating_sub(since_ns);
    if around.has_unreadable && waited_ns <= measure.patience_ns {
        return;
    }
    let slots = memory.slots.keys();
    let present = slots.filter(|key| samples.of(key).is_present()).count();
    let is_complete = measure.policy.is_complete(present, reboot.known);
    let stale: Vec<SlotKey> = memory
        .slots
        .iter()
        .filter(|(key, slot)| slot.stale && samples.of(key).presence == Presence::Absent)
        .map(|(key, _)| key.clone())
        .collect();
    for key in stale {
        if !is_complete {
            if let Some(slot) = memory.slots.get_mut(&key) {
                slot.stale = false;
                slot.misses = measure.disappearance_polls;
            }
        } else if let Some(slot) = memory.slots.remove(&key) {
            owe_all(memory, &slot, message::not_present);
        }
    }
    settle_ports(memory, samples, is_complete);
    settle_cards(memory, samples, is_complete);
    memory.reboot = None;
}

/// The absent ports of a device that is present.
fn settle_ports(memory: &mut Memory, samples: &Samples, is_complete: bool) {
    let mut pending_clears = Vec::new();
    for (key, slot) in &mut memory.slots {
        let here = samples.of(key);
        if here.presence != (Presence::Present { readable: true }) {
            continue;
        }
        let name = slot.name.clone();
        slot.ports.retain(|number, port| {
            let is_absent = port.stale && *here.port(*number) == PortSample::Missing;
            if is_absent && is_complete && port.standing().is_some() {
                pending_clears.push((port.layer, Subject::Port(name.clone(), *number)));
            }
            let is_forgotten = is_absent && (is_complete || port.standing().is_none());
            port.stale &= !is_absent;
            !is_forgotten
        });
    }
    for (layer, subject) in pending_clears {
        let message = message::not_present(layer, &subject);
        memory.owe(layer.state_check(), subject, message);
    }
}

/// The cards of which no device is present.
fn settle_cards(memory: &mut Memory, samples: &Samples, is_complete: bool) {
    let present: BTreeSet<_> = memory
        .slots
        .iter()
        .filter(|(key, _)| samples.of(key).is_present())
        .map(|(_, slot)| slot.card())
        .collect();
    let mut pending_clears = Vec::new();
    memory.cards.retain(|(layer, card), kept| {
        if !kept.stale || present.contains(card) {
            kept.stale = false;
            return true;
        }
        if is_complete {
            pending_clears.push((*layer, Subject::Card(card.clone())));
        }
        kept.stale = false;
        !is_complete
    });
    for (layer, subject) in pending_clears {
        let message = message::not_present(layer, &subject);
        memory.owe(layer.state_check(), subject, message);
    }
}
