//! What slots and cards tell in the state file: in the keys that both monitors know, and in ours.
//!
//! Most saves are of counters; slots and cards are then what they were, and so are their texts. Start
//! at [`Told::keep`].

use std::collections::BTreeMap;

use super::{CardEntry, DeviceEntry, GonePortEntry, MissEntry, OurCardEntry, PortEntry, SlotEntry};
use crate::members::Members;
use crate::memory::{CardMemory, Memory, Slot};
use crate::name::{Card, DeviceName, LinkLayer, SlotKey};
use crate::reading::Severity;

/// The texts of slots and cards, with what they are the texts of.
#[derive(Debug, Clone)]
pub(super) struct Told {
    of: Option<Of>,
    /// The keys that both monitors know.
    pub(super) shared: Members,
    /// Our own keys.
    pub(super) own: Members,
}

#[derive(Debug, Clone)]
struct Of {
    slots: BTreeMap<SlotKey, Slot>,
    cards: BTreeMap<(LinkLayer, Card), CardMemory>,
}

impl Default for Told {
    fn default() -> Told {
        Told {
            of: None,
            shared: Members::part(),
            own: Members::part(),
        }
    }
}

impl Told {
    /// Makes the texts those of this memory.
    pub(super) fn keep(&mut self, memory: &Memory) {
        let is_same = |of: &Of| of.slots == memory.slots && of.cards == memory.cards;
        if self.of.as_ref().is_some_and(is_same) {
            return;
        }
        let mut lists = Lists::default();
        memory.slots.values().for_each(|slot| lists.add(slot));
        for ((layer, card), kept) in &memory.cards {
            lists.add_card(*layer, card, kept);
        }
        self.shared = lists.shared();
        let slots: Vec<SlotEntry<'_>> = memory.slots.values().map(SlotEntry::of).collect();
        self.own = Members::part();
        self.own.put("slots", &slots);
        self.own.put_list("cards", &lists.cards);
        self.of = Some(Of {
            slots: memory.slots.clone(),
            cards: memory.cards.clone(),
        });
    }
}

/// What is told of slots and cards, in the order of the file.
#[derive(Default)]
struct Lists {
    port_states: BTreeMap<String, PortEntry>,
    anomalous_cards: BTreeMap<String, CardEntry>,
    disappeared_devices: BTreeMap<String, DeviceEntry>,
    disappeared_ports: BTreeMap<String, GonePortEntry>,
    device_miss_counts: BTreeMap<String, MissEntry>,
    cards: Vec<OurCardEntry>,
}

impl Lists {
    fn shared(&self) -> Members {
        let mut part = Members::part();
        part.put_map("port_states", &self.port_states);
        part.put_list("known_devices", &self.known_devices());
        part.put_map("anomalous_cards", &self.anomalous_cards);
        part.put_map("disappeared_devices", &self.disappeared_devices);
        part.put_map("disappeared_ports", &self.disappeared_ports);
        part.put_map("device_miss_counts", &self.device_miss_counts);
        part
    }

    fn known_devices(&self) -> Vec<&DeviceName> {
        let devices = self.port_states.values().map(|entry| &entry.device);
        let mut devices: Vec<&DeviceName> = devices.collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    fn add_card(&mut self, layer: LinkLayer, card: &Card, kept: &CardMemory) {
        if kept.fault.is_some() {
            let entry = CardEntry {
                card: card.clone(),
                link_layer: layer,
            };
            self.anomalous_cards
                .insert(format!("{layer}/{card}"), entry);
        }
        self.cards.push(OurCardEntry {
            card: card.clone(),
            link_layer: layer,
            judged: kept.judged,
            owed: kept.owed,
            fault: kept.fault.clone(),
            stale: kept.stale,
        });
    }

    fn add(&mut self, slot: &Slot) {
        let name = &slot.name;
        for layer in slot.gone.keys() {
            let entry = DeviceEntry {
                device: name.clone(),
                link_layer: *layer,
                observed_this_boot: !slot.stale,
            };
            self.disappeared_devices
                .insert(format!("{layer}/{name}"), entry);
        }
        let held = slot.layers().filter(|layer| !slot.gone.contains_key(layer));
        for layer in held.filter(|_| slot.misses > 0) {
            let entry = MissEntry {
                device: name.clone(),
                link_layer: layer,
                count: slot.misses,
            };
            self.device_miss_counts
                .insert(format!("{layer}/{name}"), entry);
        }
        for (number, port) in &slot.ports {
            if port.is_missing && port.said == Some(Severity::Fatal) {
                let entry = GonePortEntry {
                    device: name.clone(),
                    port: *number,
                    link_layer: port.layer,
                    observed_this_boot: !port.stale,
                };
                let key = format!("{}/{name}_{number}", port.layer);
                self.disappeared_ports.insert(key, entry);
            } else if let Some(reading) = &port.reading
                && slot.gone.is_empty()
                && !slot.stale
            {
                let entry = PortEntry {
                    device: name.clone(),
                    port: *number,
                    state: reading.state.to_string(),
                    physical_state: reading.phys.to_string(),
                    link_layer: port.layer,
                };
                self.port_states.insert(format!("{name}_{number}"), entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::migrated_slot;
    use super::*;
    use crate::memory::{CardFault, Port};
    use crate::name::{PortNumber, Role};
    use crate::reading::{PhysState, PortState, Reading};

    fn reading(state: PortState) -> Option<Reading> {
        let phys = PhysState::LinkUp;
        Some(Reading { state, phys })
    }

    fn slot<'a>(memory: &'a mut Memory, device: &str) -> &'a mut Slot {
        migrated_slot(memory, DeviceName::from(device))
    }

    fn port<'a>(memory: &'a mut Memory, device: &str) -> &'a mut Port {
        let ports = slot(memory, device).ports.entry(PortNumber(1));
        ports.or_insert_with(|| Port::new(LinkLayer::InfiniBand))
    }

    fn text(told: &Told) -> String {
        let mut file = Members::of_file(Vec::new());
        file.put_all(&told.shared);
        file.put_all(&told.own);
        String::from_utf8(file.object()).unwrap()
    }

    #[track_caller]
    fn check(is_told: bool, change: impl FnOnce(&mut Memory)) {
        let mut memory = Memory::default();
        for device in ["mlx5_0", "mlx5_1"] {
            port(&mut memory, device).reading = reading(PortState::Active);
        }
        let mut told = Told::default();
        told.keep(&memory);
        let before = text(&told);
        change(&mut memory);
        told.keep(&memory);
        let mut fresh = Told::default();
        fresh.keep(&memory);
        assert_eq!(text(&told), text(&fresh));
        assert_eq!(text(&told) != before, is_told);
    }

    #[test]
    fn what_was_kept_never_shows() {
        check(false, |_| ());
        check(true, |memory| {
            port(memory, "mlx5_0").reading = reading(PortState::Down);
        });
        check(true, |memory| slot(memory, "mlx5_0").misses = 1);
        check(true, |memory| {
            let gone = &mut slot(memory, "mlx5_0").gone;
            gone.insert(LinkLayer::InfiniBand, false);
        });
        check(true, |memory| {
            port(memory, "mlx5_2").reading = reading(PortState::Active);
        });
        check(true, |memory| drop(memory.slots.pop_first()));
        check(true, |memory| {
            let fault = CardFault {
                expected: 2,
                role: Role::Compute,
                again: false,
            };
            let card = CardMemory {
                fault: Some(fault),
                ..CardMemory::default()
            };
            let key = (LinkLayer::InfiniBand, Card::from("0000:03:00".to_owned()));
            memory.cards.insert(key, card);
        });
    }
}
