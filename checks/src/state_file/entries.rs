//! The entries of the state file for slots and cards: in the shared keys, and in this monitor's
//! own.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use terms::LinkLayer;

use crate::memory::{CardFault, CardMemory, Memory, Port, Slot};
use crate::name::{AssignedRole, Card, DeviceName, PciFunction, PortNumber};
use crate::reading::Severity;
use crate::skip::{is_false, is_zero};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PortEntry {
    pub(super) device: DeviceName,
    pub(super) port: PortNumber,
    #[serde(default)]
    pub(super) state: String,
    #[serde(default)]
    pub(super) physical_state: String,
    pub(super) link_layer: LinkLayer,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CardEntry {
    pub(super) card: Card,
    pub(super) link_layer: LinkLayer,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DeviceEntry {
    pub(super) device: DeviceName,
    pub(super) link_layer: LinkLayer,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) observed_this_boot: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GonePortEntry {
    pub(super) device: DeviceName,
    pub(super) port: PortNumber,
    pub(super) link_layer: LinkLayer,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) observed_this_boot: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MissEntry {
    pub(super) device: DeviceName,
    pub(super) link_layer: LinkLayer,
    pub(super) count: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SlotEntry<'a> {
    pub(super) device: DeviceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) function: Option<PciFunction>,
    pub(super) role: AssignedRole,
    pub(super) ports: Cow<'a, BTreeMap<PortNumber, Port>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) misses: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) empty_listings: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) stale: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) gone: BTreeMap<LinkLayer, bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pending: Vec<LinkLayer>,
}

impl SlotEntry<'_> {
    pub(super) fn of(slot: &Slot) -> SlotEntry<'_> {
        SlotEntry {
            device: slot.name.clone(),
            function: slot.function.clone(),
            role: slot.role,
            ports: Cow::Borrowed(&slot.ports),
            misses: slot.misses,
            empty_listings: slot.empty_listings,
            stale: slot.stale,
            gone: slot.gone.clone(),
            pending: slot.pending.clone(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OurCardEntry {
    pub(super) card: Card,
    pub(super) link_layer: LinkLayer,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) judged: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) pending: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<CardFault>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) stale: bool,
}

impl OurCardEntry {
    pub(super) fn of(((layer, card), memory): (&(LinkLayer, Card), &CardMemory)) -> OurCardEntry {
        OurCardEntry {
            card: card.clone(),
            link_layer: *layer,
            judged: memory.judged,
            pending: memory.pending,
            fault: memory.fault.clone(),
            stale: memory.stale,
        }
    }
}

/// Slots and cards in the shared keys.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) port_states: BTreeMap<String, PortEntry>,
    pub(super) anomalous_cards: BTreeMap<String, CardEntry>,
    pub(super) disappeared_devices: BTreeMap<String, DeviceEntry>,
    pub(super) disappeared_ports: BTreeMap<String, GonePortEntry>,
    pub(super) device_miss_counts: BTreeMap<String, MissEntry>,
}

impl Shared {
    pub(super) fn of(memory: &Memory) -> Shared {
        let mut shared = Shared::default();
        memory.slots.values().for_each(|slot| shared.add(slot));
        let cards = memory.cards.iter();
        for ((layer, card), _) in cards.filter(|(_, card)| card.fault.is_some()) {
            let entry = CardEntry {
                card: card.clone(),
                link_layer: *layer,
            };
            shared
                .anomalous_cards
                .insert(format!("{layer}/{card}"), entry);
        }
        shared
    }

    /// The devices of the ports whose states are known, in order.
    pub(super) fn known_devices(&self) -> Vec<DeviceName> {
        let ports = self.port_states.values();
        let devices: BTreeSet<DeviceName> = ports.map(|port| port.device.clone()).collect();
        devices.into_iter().collect()
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
