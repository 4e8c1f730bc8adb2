//! Matches the devices of a snapshot with those in memory, and stores their readings.
//!
//! A device is recognised by its PCI function. If its name changed, only the name is updated, and
//! faults that were reported under the old name become pending clears. Nothing is judged here.

use std::collections::{BTreeMap, BTreeSet};

use terms::LinkLayer;

use crate::memory::{CardMemory, Judged, Memory, Port, Slot};
use crate::name::{AssignedRole, Card, DeviceName, PortNumber, SlotKey};
use crate::pending_clear::Subject;
use crate::policy::Policy;
use crate::sample::{DeviceSample, PortSample, Presence, Samples};
use crate::scope::Reason;
use crate::snapshot::{Blind, Seen, SeenPort, SeenPorts, SeenScope, Snapshot};

/// What a poll shows about cards, from all devices and not only the monitored ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    /// Cards with a management function.
    pub(crate) exempt: BTreeSet<Card>,
    /// Cards with a device that could not be read.
    pub(crate) unready: BTreeSet<Card>,
    /// At least one listed device could not be read.
    pub(crate) has_unreadable: bool,
    /// At least one listed device is unknown and cannot be placed.
    pub(crate) has_stranger: bool,
    /// At least one such device was not listed before.
    pub(crate) has_new_stranger: bool,
    /// Monitored devices that are not in the topology, so that their role is a guess.
    pub(crate) guessed: BTreeSet<SlotKey>,
}

/// Matches the snapshot with the memory.
pub(crate) fn recognise(
    memory: &mut Memory,
    samples: &mut Samples,
    snapshot: &Snapshot,
    enabled: &[LinkLayer],
    policy: &dyn Policy,
) -> Surroundings {
    samples.begin(memory);
    let claimed = claimed(memory, snapshot);
    let mut around = Surroundings::default();
    let mut strangers = BTreeSet::new();
    for seen in &snapshot.devices {
        let function = seen
            .facts
            .as_ref()
            .and_then(|facts| facts.function.as_ref());
        let found = find(memory, samples, seen, &claimed);
        match &seen.scope {
            SeenScope::Out(Reason::Excluded) if !policy.sees_excluded() => {}
            SeenScope::Out(reason) => {
                if let Some(function) = function
                    && reason.is_management()
                {
                    around.exempt.insert(function.card());
                }
                if let Some(key) = found {
                    samples.of_mut(&key).presence = Presence::Out(reason.clone());
                }
            }
            SeenScope::Unknown(blind) => {
                around.has_unreadable |= matches!(blind, Blind::Unreadable(_));
                if found.is_none() && seen.facts.is_none() {
                    strangers.insert(seen.name.clone());
                }
                around
                    .unready
                    .extend(function.map(|function| function.card()));
                if let Some(key) = found {
                    samples.of_mut(&key).presence = Presence::Present { readable: false };
                }
            }
            SeenScope::In(role, ports) => {
                let key = found.or_else(|| create(memory, seen, *role, ports, enabled));
                if is_unreadable(ports) {
                    around.has_unreadable = true;
                }
                let Some(key) = key else {
                    around
                        .unready
                        .extend(function.map(|function| function.card()));
                    continue;
                };
                let key = rekey(memory, samples, key, seen);
                if seen
                    .facts
                    .as_ref()
                    .is_some_and(|facts| !facts.is_in_topology)
                {
                    around.guessed.insert(key.clone());
                }
                if matches!(ports, SeenPorts::Blind(Blind::Unreadable(_)))
                    && policy.takes_list_error_for_absence()
                {
                    continue;
                }
                let has_moved = |slot: &Slot| slot.name != seen.name;
                if memory.slots.get(&key).is_some_and(has_moved) {
                    if !policy.follows_renames() {
                        samples.of_mut(&key).presence = Presence::Present { readable: false };
                        continue;
                    }
                    rename(memory, &key, &seen.name);
                }
                let reader = Reader {
                    now_ns: snapshot.clocks.boot_ns,
                    enabled,
                    policy,
                };
                reader.keep_readings(memory, samples, &key, *role, ports);
            }
        }
    }
    around.has_stranger = !strangers.is_empty();
    around.has_new_stranger = !strangers.is_subset(&samples.strangers);
    samples.strangers = strangers;
    around
}

fn is_unreadable(ports: &SeenPorts) -> bool {
    match ports {
        SeenPorts::Blind(blind) => matches!(blind, Blind::Unreadable(_)),
        SeenPorts::Listed(ports) => ports
            .iter()
            .any(|port| matches!(port.reading, Err(Blind::Unreadable(_)))),
    }
}

/// The slots whose function is listed, if some device has no readable function: a device that
/// merely has such a slot's name is another one.
fn claimed(memory: &Memory, snapshot: &Snapshot) -> BTreeSet<SlotKey> {
    let key = |seen: &Seen| seen.facts.as_ref().map(|facts| facts.key.clone());
    let has_function = |seen: &Seen| matches!(key(seen), Some(SlotKey::Function(_)));
    if snapshot.devices.iter().all(has_function) {
        return BTreeSet::new();
    }
    let keys = snapshot.devices.iter().filter_map(key);
    keys.filter(|key| memory.slots.contains_key(key)).collect()
}

/// The slot of a listed device; a second device of one function is identified by its name.
fn find(
    memory: &Memory,
    samples: &Samples,
    seen: &Seen,
    claimed: &BTreeSet<SlotKey>,
) -> Option<SlotKey> {
    let key = seen.facts.as_ref().map(|facts| &facts.key);
    let found = memory.find(key, &seen.name)?;
    if key != Some(&found) && claimed.contains(&found) {
        return None;
    }
    let is_seen = samples.of(&found).presence != Presence::Absent;
    let is_other = |slot: &Slot| slot.name != seen.name;
    if is_seen && memory.slots.get(&found).is_some_and(is_other) {
        let by_name = SlotKey::Name(seen.name.clone());
        return memory.slots.contains_key(&by_name).then_some(by_name);
    }
    Some(found)
}

/// A slot for a device that is seen for the first time; `None` while no port of a watched layer is
/// known.
fn create(
    memory: &mut Memory,
    seen: &Seen,
    role: AssignedRole,
    ports: &SeenPorts,
    enabled: &[LinkLayer],
) -> Option<SlotKey> {
    let SeenPorts::Listed(ports) = ports else {
        return None;
    };
    let mut layers: Vec<LinkLayer> = ports
        .iter()
        .filter(|port| port.out.is_none())
        .filter_map(|port| port.layer)
        .filter(|layer| enabled.contains(layer))
        .collect();
    layers.sort_unstable();
    layers.dedup();
    let facts = seen.facts.as_ref()?;
    if layers.is_empty() {
        return None;
    }
    let key = if memory.slots.contains_key(&facts.key) {
        SlotKey::Name(seen.name.clone())
    } else {
        facts.key.clone()
    };
    let slot = Slot {
        name: seen.name.clone(),
        function: facts.function.clone(),
        role,
        ports: BTreeMap::new(),
        misses: 0,
        empty_listings: 0,
        stale: false,
        gone: BTreeMap::new(),
        pending: if memory.blind { layers } else { Vec::new() },
    };
    memory.slots.insert(key.clone(), slot);
    Some(key)
}

/// Gives a slot that was identified by its name the function that can be read now.
fn rekey(memory: &mut Memory, samples: &mut Samples, key: SlotKey, seen: &Seen) -> SlotKey {
    let Some(facts) = &seen.facts else {
        return key;
    };
    let goes_by_name = matches!(key, SlotKey::Name(_));
    if goes_by_name
        && facts.function.is_some()
        && !memory.slots.contains_key(&facts.key)
        && let Some(mut slot) = memory.slots.remove(&key)
    {
        slot.function.clone_from(&facts.function);
        memory.slots.insert(facts.key.clone(), slot);
        samples.rekey(&key, &facts.key);
        return facts.key.clone();
    }
    key
}

/// Renames a slot. Faults that were reported under the old name become pending clears, and are
/// reported again if they still hold.
fn rename(memory: &mut Memory, key: &SlotKey, name: &DeviceName) {
    let Some(slot) = memory.slots.get_mut(key) else {
        return;
    };
    if slot.name == *name {
        return;
    }
    let old = std::mem::replace(&mut slot.name, name.clone());
    let message = format!("NIC {old} is now {name}: clearing");
    let mut pending_clears = Vec::new();
    // The device is present, so it has no disappearance; its ports' healthy events are still
    // pending.
    for (layer, _) in std::mem::take(&mut slot.gone) {
        pending_clears.push((layer.state_check(), Subject::Device(old.clone())));
        for port in slot.ports.values_mut() {
            if port.layer == layer && !port.by_design {
                (port.pending, port.judged) = (true, Judged::Returning);
            }
        }
    }
    for (number, port) in &mut slot.ports {
        if let Some(severity) = port.standing() {
            // Of a port that was unhealthy without being reported, only the loss from sight was.
            port.again = Some(severity).filter(|_| !port.by_design);
            port.said = None;
            let subject = Subject::Port(old.clone(), *number);
            pending_clears.push((port.layer.state_check(), subject));
        }
    }
    for (check, subject) in pending_clears {
        memory.owe(check, subject, message.clone());
    }
}

/// Stores the readings of a poll.
struct Reader<'a> {
    /// Boot time.
    now_ns: u64,
    /// Layers whose state checks run.
    enabled: &'a [LinkLayer],
    policy: &'a dyn Policy,
}

impl Reader<'_> {
    /// Stores what was read of a monitored device.
    fn keep_readings(
        &self,
        memory: &mut Memory,
        samples: &mut Samples,
        key: &SlotKey,
        role: AssignedRole,
        ports: &SeenPorts,
    ) {
        let Some(slot) = memory.slots.get_mut(key) else {
            return;
        };
        slot.role = role;
        slot.misses = 0;
        slot.stale = false;
        samples.maybe_renamed_since_ns.remove(key);
        let here = samples.of_mut(key);
        let listed = match ports {
            SeenPorts::Blind(blind) => {
                here.presence = Presence::Present { readable: false };
                for (number, port) in &mut slot.ports {
                    look_away(port, here, *number, *blind, self.now_ns, self.policy);
                }
                return;
            }
            SeenPorts::Listed(listed) => listed,
        };
        if !self.policy.remembers_lost_ports() {
            for (number, port) in &mut slot.ports {
                if port.is_missing && listed.iter().any(|seen| seen.number == *number) {
                    (port.said, port.again) = (None, None);
                }
            }
        }
        let is_doubtful = slot.empty_listings == 0 && self.policy.doubts_empty_ports();
        if listed.is_empty() && !slot.ports.is_empty() && is_doubtful {
            // The driver is being loaded or unloaded: wait one poll.
            slot.empty_listings = 1;
            here.presence = Presence::Present { readable: false };
            return;
        }
        slot.empty_listings = u32::from(listed.is_empty());
        here.presence = Presence::Present { readable: true };
        for (number, port) in &mut slot.ports {
            if listed.iter().all(|seen| seen.number != *number) {
                here.ports.insert(*number, PortSample::Missing);
                port.lose_sight();
                port.is_missing = true;
            }
        }
        let mut pending_clears = Vec::new();
        let mut has_new = Vec::new();
        for seen in listed {
            let is_new = !slot.ports.contains_key(&seen.number);
            let left = self.keep_port(slot, here, seen);
            if is_new && let Some(port) = slot.ports.get(&seen.number) {
                has_new.push(port.layer);
            }
            pending_clears.extend(left.map(|(layer, reason)| (seen.number, layer, reason)));
        }
        if has_new.is_empty() && pending_clears.is_empty() {
            return;
        }
        let (name, card) = (slot.name.clone(), slot.card());
        for layer in has_new {
            let blind = memory.blind;
            let card = memory
                .cards
                .entry((layer, card.clone()))
                .or_insert_with(|| CardMemory {
                    pending: blind,
                    ..CardMemory::default()
                });
            card.judged = false;
        }
        for (number, layer, reason) in pending_clears {
            let message = format!("NIC {name} no longer monitored ({reason}): clearing");
            memory.owe(
                layer.state_check(),
                Subject::Port(name.clone(), number),
                message,
            );
        }
    }

    /// Stores the reading of one port; returns layer and reason if a fault of it must be cleared.
    fn keep_port(
        &self,
        slot: &mut Slot,
        here: &mut DeviceSample,
        seen: &SeenPort,
    ) -> Option<(LinkLayer, Reason)> {
        let left = |port: Option<Port>, reason: Reason| {
            let port = port.filter(|port| port.standing().is_some())?;
            Some((port.layer, reason))
        };
        if let Some(reason) = &seen.out {
            return left(slot.ports.remove(&seen.number), reason.clone());
        }
        let Some(layer) = seen.layer else {
            if let (Some(port), Err(blind)) = (slot.ports.get_mut(&seen.number), &seen.reading) {
                look_away(port, here, seen.number, *blind, self.now_ns, self.policy);
                if self.policy.takes_unreadable_layer_for_loss() {
                    here.ports.insert(seen.number, PortSample::Missing);
                }
            }
            return None;
        };
        if !self.enabled.contains(&layer) {
            let reason = Reason::CheckOff(layer.state_check());
            return left(slot.ports.remove(&seen.number), reason);
        }
        let has_moved = |port: &Port| port.layer != layer;
        let pending_clear = if slot.ports.get(&seen.number).is_some_and(has_moved) {
            left(slot.ports.remove(&seen.number), Reason::LayerIsNow(layer))
        } else {
            None
        };
        let port = slot
            .ports
            .entry(seen.number)
            .or_insert_with(|| Port::new(layer));
        match &seen.reading {
            Err(blind) => {
                look_away(port, here, seen.number, *blind, self.now_ns, self.policy);
                port.is_missing = false;
            }
            Ok(reading) => {
                (port.stale, port.is_missing) = (false, false);
                port.unreadable_since_ns = None;
                let operstate = seen.operstate.clone();
                here.ports
                    .insert(seen.number, PortSample::Read { operstate });
                if reading.is_healthy() {
                    port.unhealthy_since_ns = None;
                    port.was_healthy = true;
                    port.judged = Judged::Open;
                    port.by_design = false;
                } else {
                    port.unhealthy_since_ns.get_or_insert(self.now_ns);
                    port.pending |= self.policy.reports_every_recovery();
                }
                if port.reading.as_ref() != Some(reading) {
                    port.reading = Some(reading.clone());
                }
            }
        }
        pending_clear
    }
}

/// Stores that a port could not be read; a race changes nothing.
pub(crate) fn look_away(
    port: &mut Port,
    here: &mut DeviceSample,
    number: PortNumber,
    blind: Blind,
    now_ns: u64,
    policy: &dyn Policy,
) {
    let sample = match blind {
        Blind::Race => PortSample::Held,
        Blind::Unreadable(cause) => {
            port.lose_sight();
            port.unreadable_since_ns.get_or_insert(now_ns);
            port.pending &= policy.owes_baseline_to_unreadable();
            PortSample::Unreadable(cause)
        }
    };
    here.ports.insert(number, sample);
}

/// The ports of a slot on one layer.
pub(crate) fn ports_of(slot: &Slot, layer: LinkLayer) -> impl Iterator<Item = (PortNumber, &Port)> {
    slot.ports
        .iter()
        .filter(move |(_, port)| port.layer == layer)
        .map(|(number, port)| (*number, port))
}
