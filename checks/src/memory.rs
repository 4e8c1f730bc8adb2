//! What the agent remembers: its last readings, what it has reported, and which clears are pending.
//!
//! Readings and their start times are stored whether or not the connector answers; what counts as
//! *reported* (`said`) changes only when a batch is accepted ([`Effect`]). Everything here is saved
//! and compared; the state of a device in the present poll is in [`crate::sample`]. Start with
//! [`Memory`] and [`Slot`]; `state_file` converts them to text.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use terms::{Check, LinkLayer};

use crate::counters::{CounterId, CounterMemory};
use crate::name::{AssignedRole, Card, DeviceName, PciFunction, PortNumber, SlotKey};
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
    /// Not judged yet: it is judged as on a first poll, with patience and peers.
    Pending,
    /// It returned under another name after its disappearance: patience first, then the severity
    /// table.
    Returning,
    /// Judged by the severity table alone.
    Open,
    /// Fatal while it is unhealthy, although the severity table is silent: it makes its card fall
    /// below its peers.
    Condemned,
    /// Unhealthy since it was first seen, with this severity, and without evidence from peers: not
    /// reported.
    Quiet(Option<Severity>),
}

impl Judged {
    /// Whether the comparison with peers may still decide about an unhealthy port.
    pub(crate) fn is_open_to_peers(self) -> bool {
        !matches!(self, Judged::Open | Judged::Condemned)
    }
}

/// A port as remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Port {
    pub(crate) layer: LinkLayer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reading: Option<Reading>,
    /// Start of the present unhealthy period, boot time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unhealthy_since_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable_since_ns: Option<u64>,
    /// It was healthy at least once in this boot.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) was_healthy: bool,
    pub(crate) judged: Judged,
    /// The worst severity reported since its last healthy event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<Severity>,
    /// A fault that was reported, or may have been, and must be reported again: under a new name,
    /// in a new boot, or after a lost reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<Severity>,
    /// Its first healthy reading gives an event.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) pending: bool,
    /// It was unhealthy without being reported, or had never been read, when it was lost from sight:
    /// when its device disappeared, when it was missing, or when it could not be read. What is said
    /// of it then is taken back once it is read again and there is nothing else to say.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) by_design: bool,
    /// Not seen since the host was rebooted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) stale: bool,
    /// Missing from the last listing of `ports/`.
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

    /// Remembers, when it is lost from sight, whether it was unhealthy without being reported.
    pub(crate) fn lose_sight(&mut self) {
        if self.is_missing || self.unreadable_since_ns.is_some() {
            return;
        }
        let reading = self.reading.as_ref();
        let is_sick = reading.is_none_or(|reading| !reading.is_healthy());
        self.by_design = is_sick && (self.by_design || self.standing().is_none());
    }

    /// Whether it has a reported fault of which nothing is left, although it is unhealthy.
    pub(crate) fn is_as_before(&self) -> bool {
        let is_unsaid = self.by_design || self.judged.is_open_to_peers();
        self.standing().is_some() && is_unsaid
    }

    /// The fault that the connector has, whether or not it must be reported again.
    pub(crate) fn standing(&self) -> Option<Severity> {
        self.said.max(self.again)
    }
}

/// A device as remembered, whatever its name becomes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slot {
    pub(crate) name: DeviceName,
    pub(crate) function: Option<PciFunction>,
    pub(crate) role: AssignedRole,
    pub(crate) ports: BTreeMap<PortNumber, Port>,
    /// Number of polls in a row without it.
    pub(crate) misses: u32,
    /// Number of polls in a row with an empty `ports/`, up to 2.
    pub(crate) empty_listings: u32,
    /// It has a fault of an earlier boot and has not been seen since.
    pub(crate) stale: bool,
    /// The layers on which its disappearance was reported; `true` if it must be reported again.
    pub(crate) gone: BTreeMap<LinkLayer, bool>,
    /// The layers on which the device's healthy event is pending.
    pub(crate) pending: Vec<LinkLayer>,
}

impl Slot {
    /// Its card; named after the device if the function could not be read.
    pub(crate) fn card(&self) -> Card {
        match &self.function {
            Some(function) => function.card(),
            None => Card::from(self.name.to_string()),
        }
    }

    /// Whether this is its card.
    pub(crate) fn is_of(&self, card: &Card) -> bool {
        match &self.function {
            Some(function) => function.is_of(card),
            None => self.name.as_str() == card.as_str(),
        }
    }

    /// The layers of its ports, and those on which its disappearance was reported.
    pub(crate) fn layers(&self) -> impl Iterator<Item = LinkLayer> + '_ {
        LinkLayer::ALL
            .into_iter()
            .filter(|layer| self.is_on(*layer))
    }

    /// Whether this is one of its layers.
    pub(crate) fn is_on(&self, layer: LinkLayer) -> bool {
        self.gone.contains_key(&layer) || self.ports.values().any(|port| port.layer == layer)
    }

    /// Whether a fault of the device or of one of its ports is reported.
    pub(crate) fn has_faults(&self) -> bool {
        !self.gone.is_empty() || self.ports.values().any(|port| port.standing().is_some())
    }
}

/// The reported fault of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CardFault {
    /// The mode of its group at that time.
    pub(crate) expected: usize,
    pub(crate) role: AssignedRole,
    /// It must be reported again, in a new boot.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) again: bool,
}

/// A card as remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CardMemory {
    /// Its first judgement is done.
    pub(crate) judged: bool,
    /// Its first healthy comparison with its peers gives an event.
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
    /// No old state could be read: it is unknown which faults an earlier process reported.
    pub(crate) blind: bool,
    pub(crate) slots: BTreeMap<SlotKey, Slot>,
    pub(crate) cards: BTreeMap<(LinkLayer, Card), CardMemory>,
    pub(crate) pending_clears: Vec<PendingClear>,
    pub(crate) reboot: Option<Reboot>,
    /// Since when the class folder has been missing, boot time.
    pub(crate) anchor_missing_since_ns: Option<u64>,
    pub(crate) counters: CounterMemory,
    pub(crate) optional: OptionalMemory,
}

/// The change of memory when an event is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A port's fault with this severity was reported.
    PortEntry(SlotKey, PortNumber, Severity),
    /// A port was reported as healthy.
    PortHealthy(SlotKey, PortNumber),
    /// What was reported of a port was taken back; its first healthy reading is still an event.
    PortTakenBack(SlotKey, PortNumber),
    /// A device was reported as disappeared.
    Gone(SlotKey, LinkLayer),
    /// A device was reported as healthy.
    DeviceHealthy(SlotKey, LinkLayer),
    /// A card's fault was reported.
    CardEntry((LinkLayer, Card), CardFault),
    /// A card was reported as healthy.
    CardHealthy((LinkLayer, Card)),
    /// A pending clear was sent.
    Paid(PendingClear),
    /// A counter's fault was reported, at this wall time.
    CounterEntry(SlotKey, PortNumber, CounterId, u64),
    /// A counter was reported as healthy.
    CounterHealthy(SlotKey, PortNumber, CounterId),
    /// An event of an optional check.
    Optional(OptionalChange),
}

impl Memory {
    /// The slot of a listed device with this name, and with this function if it could be read.
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
                Effect::PortTakenBack(key, number) => {
                    if let Some(port) = self.port_mut(&key, number) {
                        (port.said, port.again) = (None, None);
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

    /// Remembers that the connector may have a batch although it did not accept it: its events
    /// count as reported, and are reported again if they still hold.
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
                | Effect::PortTakenBack(..)
                | Effect::CounterHealthy(..)
                | Effect::DeviceHealthy(..)
                | Effect::CardHealthy(_)
                | Effect::Paid(_) => {}
            }
        }
    }

    /// Whether this poll's reading of an unhealthy port can become an event.
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

    /// Adds a pending clear for a fault under its old name.
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

    /// Whether at least one port could not be read in the present poll.
    pub(crate) fn has_unreadable(&self, samples: &Samples) -> bool {
        self.slots.iter().any(|(key, slot)| {
            let here = samples.of(key);
            let mut ports = slot.ports.keys();
            ports.any(|number| matches!(here.port(*number), PortSample::Unreadable(_)))
        })
    }

    /// The memory after a reboot of the host: reported faults are kept until they are settled,
    /// everything else is forgotten.
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
        // Other devices on such a card count as new, but a port that is kept must not hide its
        // card.
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

    /// Without the fields that only state when and how something was read: a restart finds them out
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
