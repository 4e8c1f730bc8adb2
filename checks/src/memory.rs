//! What the agent remembers: what it last read, what it has said, what it owes.
//!
//! Readings and their starts are kept whatever the connector says; what was *said* changes only when
//! a batch is accepted ([`Effect`]). Everything here is saved and compared; how things look in the
//! present poll is in [`crate::sample`]. Start with [`Memory`] and [`Slot`]; the texts of the file are
//! `state_file`'s business.

use std::collections::{BTreeMap, BTreeSet};

use proto::Check;
use serde::{Deserialize, Serialize};

use crate::counters::{CounterId, CounterMemory};
use crate::name::{Card, DeviceName, LinkLayer, PciFunction, PortNumber, Role, SlotKey};
use crate::optional::{OptionalChange, OptionalMemory};
use crate::pending_clear::{PendingClear, Reboot, Subject};
use crate::policy::Policy;
use crate::reading::{Reading, Severity};
use crate::sample::{PortSample, Samples};
use crate::skip::is_false;
use crate::snapshot::{Seen, SeenPort};

/// How far the first judgement of a port has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Judged {
    /// Not judged: as on a first poll, with patience and peers.
    Pending,
    /// Back after its disappearance, under another name: patience, then the table.
    Returning,
    /// The table alone decides.
    Open,
    /// Unhealthy from the first, as bad as that, and no peer evidence: nothing is said of it.
    Quiet(Option<Severity>),
}

/// A port as remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Port {
    pub(crate) layer: LinkLayer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reading: Option<Reading>,
    /// Start of the present unhealthy stretch, boot time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unhealthy_since_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable_since_ns: Option<u64>,
    /// Seen healthy in this boot.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) was_healthy: bool,
    pub(crate) judged: Judged,
    /// The worst said since its last healthy event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<Severity>,
    /// A fault that stands, or may, and is to be said again: under a new name, in a new boot, after a
    /// reply that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<Severity>,
    /// The first healthy reading is an event.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) pending: bool,
    /// When its device went it was unhealthy with nothing said of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) by_design: bool,
    /// Not seen since the host was rebooted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) stale: bool,
    /// Missing from the listing of `ports/` when last looked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_missing: bool,
}

impl Port {
    pub(crate) fn new(layer: LinkLayer) -> Port {
        Port {
            layer,
            reading: None,
            unhealthy_since_ns: None,
            unreadable_since_ns: None,
            was_healthy: false,
            judged: Judged::Pending,
            said: None,
            again: None,
            pending: true,
            by_design: false,
            stale: false,
            is_missing: false,
        }
    }

    /// The fault that stands at the connector, whether it must be said again or not.
    pub(crate) fn standing(&self) -> Option<Severity> {
        self.said.max(self.again)
    }
}

/// A device as remembered, whatever its name becomes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slot {
    pub(crate) name: DeviceName,
    pub(crate) function: Option<PciFunction>,
    pub(crate) role: Role,
    pub(crate) ports: BTreeMap<PortNumber, Port>,
    /// Polls in a row without it.
    pub(crate) misses: u32,
    /// Polls in a row with an empty `ports/`, up to 2.
    pub(crate) empty_listings: u32,
    /// A fault of an earlier boot stands, and it has not been seen since.
    pub(crate) stale: bool,
    /// Its disappearance was said, per layer; `true` when it is to be said again.
    pub(crate) gone: BTreeMap<LinkLayer, bool>,
    /// The device-level healthy event is owed, per layer.
    pub(crate) pending: Vec<LinkLayer>,
}

impl Slot {
    /// The card it sits on; its name where no function could be read.
    pub(crate) fn card(&self) -> Card {
        match &self.function {
            Some(function) => function.card(),
            None => Card::from(self.name.to_string()),
        }
    }

    /// The layers that its ports speak, or that its disappearance was said on.
    pub(crate) fn layers(&self) -> impl Iterator<Item = LinkLayer> + '_ {
        LinkLayer::ALL.into_iter().filter(|layer| {
            self.gone.contains_key(layer) || self.ports.values().any(|port| port.layer == *layer)
        })
    }

    /// Stands a fault of the device or of a port of it?
    pub(crate) fn has_faults(&self) -> bool {
        !self.gone.is_empty() || self.ports.values().any(|port| port.standing().is_some())
    }
}

/// What was said of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CardFault {
    /// The mode it was measured by.
    pub(crate) expected: usize,
    pub(crate) role: Role,
    /// To be said again, in a new boot.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) again: bool,
}

/// A card as remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CardMemory {
    /// Its first judgement is behind it.
    pub(crate) judged: bool,
    /// Its first meeting with its peers is an event.
    pub(crate) pending: bool,
    pub(crate) fault: Option<CardFault>,
    /// Not seen since the host was rebooted.
    pub(crate) stale: bool,
}

/// Everything remembered of a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Memory {
    /// `None` while it could not be read.
    pub(crate) boot_id: Option<String>,
    pub(crate) scope: Option<String>,
    /// No old state could be read: nobody knows what an earlier life left faulty.
    pub(crate) blind: bool,
    pub(crate) slots: BTreeMap<SlotKey, Slot>,
    pub(crate) cards: BTreeMap<(LinkLayer, Card), CardMemory>,
    pub(crate) pending_clears: Vec<PendingClear>,
    pub(crate) reboot: Option<Reboot>,
    /// Since when the class folder is not there, boot time.
    pub(crate) anchor_missing_since_ns: Option<u64>,
    pub(crate) counters: CounterMemory,
    pub(crate) optional: OptionalMemory,
}

/// What an accepted batch changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A port's fault was said, that bad.
    PortEntry(SlotKey, PortNumber, Severity),
    /// A port's health was said.
    PortHealthy(SlotKey, PortNumber),
    /// A device's disappearance was said.
    Gone(SlotKey, LinkLayer),
    /// A device's health was said.
    DeviceHealthy(SlotKey, LinkLayer),
    /// A card's fault was said.
    CardEntry((LinkLayer, Card), CardFault),
    /// A card's health was said.
    CardHealthy((LinkLayer, Card)),
    /// A debt was paid.
    Paid(PendingClear),
    /// A counter's fault was said, at that wall time.
    CounterEntry(SlotKey, PortNumber, CounterId, u64),
    /// A counter's health was said.
    CounterHealthy(SlotKey, PortNumber, CounterId),
    /// An event of a check that runs only where it is named.
    Optional(OptionalChange),
}

impl Memory {
    /// The slot of a device listed under that name, with that function if it could be read.
    pub(crate) fn find(&self, key: Option<&SlotKey>, name: &DeviceName) -> Option<SlotKey> {
        if let Some(key) = key
            && self.slots.contains_key(key)
        {
            return Some(key.clone());
        }
        let by_name = SlotKey::Name(name.clone());
        if self.slots.contains_key(&by_name) {
            return Some(by_name);
        }
        if let Some(SlotKey::Function(_)) = key {
            return None;
        }
        let named = self.slots.iter().find(|(_, slot)| slot.name == *name);
        named.map(|(key, _)| key.clone())
    }

    /// Remembers that a batch was accepted.
    pub(crate) fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::PortEntry(key, number, severity) => {
                    if let Some(port) = self.port_mut(&key, number) {
                        port.said = port.said.max(Some(severity));
                        port.again = None;
                    }
                }
                Effect::PortHealthy(key, number) => {
                    if let Some(port) = self.port_mut(&key, number) {
                        (port.said, port.again, port.pending) = (None, None, false);
                    }
                }
                Effect::Gone(key, layer) => {
                    if let Some(slot) = self.slots.get_mut(&key) {
                        slot.gone.insert(layer, false);
                    }
                }
                Effect::DeviceHealthy(key, layer) => {
                    if let Some(slot) = self.slots.get_mut(&key) {
                        slot.gone.remove(&layer);
                        slot.pending.retain(|pending| *pending != layer);
                    }
                }
                Effect::CardEntry(key, fault) => {
                    let card = self.cards.entry(key).or_default();
                    card.fault = Some(fault);
                    card.judged = true;
                }
                Effect::CardHealthy(key) => {
                    let card = self.cards.entry(key).or_default();
                    (card.fault, card.pending, card.judged) = (None, false, true);
                }
                Effect::Paid(pending_clear) => self
                    .pending_clears
                    .retain(|pending| *pending != pending_clear),
                Effect::CounterEntry(key, number, id, wall_ns) => {
                    if let Some(count) = self.counters.count_mut(&key, number, id) {
                        count.was_said(wall_ns);
                    }
                }
                Effect::CounterHealthy(key, number, id) => {
                    if let Some(count) = self.counters.count_mut(&key, number, id) {
                        count.was_cleared();
                    }
                }
                Effect::Optional(change) => self.optional.apply(change),
            }
        }
    }

    /// Remembers that the connector may have a batch that it did not accept: what was said in it
    /// stands, and is said again if it still holds.
    pub(crate) fn doubt(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::PortEntry(key, number, severity) => {
                    if let Some(port) = self.port_mut(&key, number) {
                        port.again = port.again.max(Some(severity));
                    }
                }
                Effect::Gone(key, layer) => {
                    if let Some(slot) = self.slots.get_mut(&key) {
                        slot.gone.entry(layer).or_insert(true);
                    }
                }
                Effect::CardEntry(key, fault) => {
                    let again = CardFault {
                        again: true,
                        ..fault
                    };
                    self.cards
                        .entry(key)
                        .or_default()
                        .fault
                        .get_or_insert(again);
                }
                Effect::CounterEntry(key, number, id, wall_ns) => {
                    if let Some(count) = self.counters.count_mut(&key, number, id) {
                        count.may_have_been_said(wall_ns);
                    }
                }
                Effect::Optional(change) => self.optional.doubt(change),
                Effect::PortHealthy(..)
                | Effect::CounterHealthy(..)
                | Effect::DeviceHealthy(..)
                | Effect::CardHealthy(_)
                | Effect::Paid(_) => {}
            }
        }
    }

    /// Could this poll's reading of an unhealthy port become an event?
    pub(crate) fn may_speak_of(&self, key: Option<&SlotKey>, seen: &Seen, port: &SeenPort) -> bool {
        let slot = self.find(key, &seen.name);
        let slot = slot.and_then(|key| self.slots.get(&key));
        let Some(known) = slot.and_then(|slot| slot.ports.get(&port.number)) else {
            return true;
        };
        let is_quiet = matches!(known.judged, Judged::Quiet(_))
            && known.reading.as_ref() == port.reading.as_ref().ok();
        let is_said =
            known.said == Some(Severity::Fatal) && slot.is_some_and(|slot| slot.name == seen.name);
        !is_quiet && !is_said
    }

    fn port_mut(&mut self, key: &SlotKey, number: PortNumber) -> Option<&mut Port> {
        self.slots.get_mut(key)?.ports.get_mut(&number)
    }

    /// Owes the clearing of a fault under its old name.
    pub(crate) fn owe(&mut self, check: Check, subject: Subject, message: String) {
        let pending_clear = PendingClear {
            check,
            subject,
            message,
        };
        let is_pending = self
            .pending_clears
            .iter()
            .any(|pending| pending.check == check && pending.subject == pending_clear.subject);
        if !is_pending {
            self.pending_clears.push(pending_clear);
        }
    }

    /// The memory of a monitor that was restarted in the same boot.
    pub(crate) fn after_restart(&mut self, policy: &dyn Policy) {
        for slot in self.slots.values_mut() {
            if !policy.restores_reported() {
                slot.gone.clear();
            }
            for port in slot.ports.values_mut() {
                if !policy.restores_reported() {
                    port.said = None;
                }
                if !policy.restores_patience() {
                    port.unhealthy_since_ns = None;
                }
            }
        }
        if !policy.restores_counters() {
            self.counters.forget_values();
        }
    }

    /// Could some port not be read in the present poll?
    pub(crate) fn has_unreadable(&self, samples: &Samples) -> bool {
        self.slots.iter().any(|(key, slot)| {
            let here = samples.of(key);
            let mut ports = slot.ports.keys();
            ports.any(|number| matches!(here.port(*number), PortSample::Unreadable(_)))
        })
    }

    /// The memory of a host that was rebooted: standing faults are kept to be settled, the rest is
    /// forgotten.
    pub(crate) fn after_reboot(mut self, boot_id: Option<String>) -> Memory {
        let known = self.slots.len();
        self.boot_id = boot_id;
        self.blind = false;
        self.anchor_missing_since_ns = None;
        self.counters.after_reboot();
        self.optional.after_reboot();
        self.slots.retain(|_, slot| slot.has_faults());
        for slot in self.slots.values_mut() {
            slot.stale = true;
            (slot.misses, slot.empty_listings) = (0, 0);
            slot.pending.clear();
            slot.gone.values_mut().for_each(|again| *again = true);
            slot.ports
                .retain(|_, port| port.standing().is_some() || !slot.gone.is_empty());
            for port in slot.ports.values_mut() {
                let kept = port.standing();
                *port = Port {
                    again: kept,
                    reading: port.reading.take(),
                    stale: true,
                    by_design: port.by_design,
                    ..Port::new(port.layer)
                };
            }
        }
        self.cards.retain(|_, card| card.fault.is_some());
        for card in self.cards.values_mut() {
            card.stale = true;
            card.judged = false;
            card.pending = false;
            if let Some(fault) = &mut card.fault {
                fault.again = true;
            }
        }
        // Whoever else is on such a card is new, but a port that is kept must not hide its card.
        let kept = self.slots.values();
        let kept = kept.flat_map(|slot| slot.layers().map(|layer| (layer, slot.card())));
        for card in kept.collect::<BTreeSet<_>>() {
            self.cards.entry(card).or_default();
        }
        self.reboot = Some(Reboot {
            known,
            since_ns: None,
        });
        self
    }

    /// Without what only says when and how something was read: what a restart could not find out
    /// again by itself.
    pub(crate) fn lasting(&self) -> Memory {
        let mut lasting = self.clone();
        lasting.anchor_missing_since_ns = None;
        for slot in lasting.slots.values_mut() {
            (slot.misses, slot.empty_listings) = (0, 0);
            for port in slot.ports.values_mut() {
                port.reading = None;
                (port.unhealthy_since_ns, port.unreadable_since_ns) = (None, None);
                port.by_design = false;
            }
        }
        lasting
    }
}
