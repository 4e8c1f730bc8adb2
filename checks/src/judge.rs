//! Finds the events of a poll: every fault and every recovery that has not been reported yet.
//!
//! Each device, port and card is compared with what was last reported of it; a difference is an
//! event. The comparison is made in every poll, so an event that the connector did not accept is
//! found again. Start with [`judge`]; the rules of one port are in [`port`].

pub(crate) mod port;

use std::collections::BTreeSet;

use terms::LinkLayer;

use crate::absence::{self, Measure};
use crate::memory::{CardFault, CardMemory, Effect, Memory, Port, Slot};
use crate::message;
use crate::name::{AssignedRole, Card, DeviceName, PortNumber, SlotKey};
use crate::peers::{InRole, Peers, Standing};
use crate::pending_clear::Subject;
use crate::policy::Policy;
use crate::prepared_event::PreparedEvent;
use crate::reading::Severity;
use crate::recognise::{self, ports_of};
use crate::sample::{DeviceSample, Presence, Samples};
use crate::snapshot::{Anchor, Blind, Cause, Snapshot};

/// Judges a poll. Readings are stored in the memory; what counts as reported is not changed here.
pub(crate) fn judge(
    memory: &mut Memory,
    samples: &mut Samples,
    snapshot: &Snapshot,
    measure: &Measure<'_>,
) -> Vec<PreparedEvent> {
    match snapshot.anchor {
        Anchor::Listed => judge_listed(memory, samples, snapshot, measure),
        Anchor::Missing => judge_missing(memory, measure),
        Anchor::Unreadable(error) => {
            look_away(memory, samples, Cause::Failed(error), measure);
            let peers = Peers::default();
            judge_slots(memory, samples, &peers, &BTreeSet::new(), measure)
        }
    }
}

/// Adds the pending clears, and sorts everything into the order in which it is sent.
pub(crate) fn add_pending_clears(memory: &Memory, prepared_events: &mut Vec<PreparedEvent>) {
    prepared_events.extend(
        memory
            .pending_clears
            .iter()
            .map(|pending_clear| PreparedEvent {
                check: pending_clear.check,
                severity: None,
                message: pending_clear.message.clone(),
                subject: pending_clear.subject.clone(),
                effect: Effect::Paid(pending_clear.clone()),
            }),
    );
    prepared_events.sort_by(|left, right| left.order().cmp(&right.order()));
}

fn judge_listed(
    memory: &mut Memory,
    samples: &mut Samples,
    snapshot: &Snapshot,
    measure: &Measure<'_>,
) -> Vec<PreparedEvent> {
    memory.anchor_missing_since_ns = None;
    let around = recognise::recognise(memory, samples, snapshot, measure.enabled, measure.policy);
    if let Some(reboot) = &mut memory.reboot {
        reboot.since_ns.get_or_insert(measure.now_ns);
    }
    let gone = absence::settle(memory, samples, &around, measure);
    repeat_what_is_overshadowed(memory);
    let peers = if wants_peers(memory, samples) {
        Peers::of(memory, samples, &around, measure)
    } else {
        Peers::default()
    };
    let mut prepared_events = judge_slots(memory, samples, &peers, &gone, measure);
    judge_cards(memory, &peers, &mut prepared_events);
    prepared_events
}

/// The class folder is missing: a failed poll, until the patience is over.
fn judge_missing(memory: &mut Memory, measure: &Measure<'_>) -> Vec<PreparedEvent> {
    let since_ns = *memory.anchor_missing_since_ns.get_or_insert(measure.now_ns);
    let mut prepared_events = Vec::new();
    let waited_ns = measure.now_ns.saturating_sub(since_ns);
    if waited_ns <= measure.patience_ns && measure.policy.waits_for_class_folder() {
        return prepared_events;
    }
    for (key, slot) in &mut memory.slots {
        if !slot.stale {
            slot.misses = measure.disappearance_polls;
            absence::remember_design(slot);
            say_gone(key, slot, &mut prepared_events);
        }
    }
    prepared_events
}

/// The class folder cannot be listed, so nothing below it can be read.
fn look_away(memory: &mut Memory, samples: &mut Samples, cause: Cause, measure: &Measure<'_>) {
    let slots = memory.slots.iter_mut().filter(|(_, slot)| !slot.stale);
    for (key, slot) in slots {
        let here = samples.of_mut(key);
        here.presence = Presence::Present { readable: false };
        for (number, port) in &mut slot.ports {
            let blind = Blind::Unreadable(cause);
            recognise::look_away(port, here, *number, blind, measure.now_ns, measure.policy);
        }
    }
}

/// At the connector, a clear under a name also clears the faults of the device that has this name
/// now. These faults are reported again after the clear.
fn repeat_what_is_overshadowed(memory: &mut Memory) {
    let Memory {
        pending_clears,
        slots,
        ..
    } = memory;
    for pending_clear in pending_clears.iter() {
        for slot in slots.values_mut() {
            let hit = match &pending_clear.subject {
                Subject::Device(name) if *name == slot.name => None,
                Subject::Port(name, number) if *name == slot.name => Some(*number),
                _ => continue,
            };
            for (number, port) in &mut slot.ports {
                let is_hit = hit.is_none_or(|hit| hit == *number);
                if is_hit && port.layer.state_check() == pending_clear.check && port.said.is_some()
                {
                    port.again = port.standing();
                    port.said = None;
                }
            }
        }
    }
}

/// Whether any decision of this poll needs the comparison with peers.
fn wants_peers(memory: &Memory, samples: &Samples) -> bool {
    let hangs_on = |(key, slot): (&SlotKey, &Slot)| {
        let here = samples.of(key);
        let mut ports = slot.ports.iter();
        ports.any(|(number, port)| {
            port.judged.is_open_to_peers() && here.is_unhealthy(*number, port)
        })
    };
    memory
        .cards
        .values()
        .any(|card| !card.judged || card.pending || card.fault.is_some())
        || memory.slots.iter().any(hangs_on)
}

fn judge_slots(
    memory: &mut Memory,
    samples: &Samples,
    peers: &Peers,
    gone: &BTreeSet<SlotKey>,
    measure: &Measure<'_>,
) -> Vec<PreparedEvent> {
    let mut prepared_events = Vec::new();
    for (key, slot) in &mut memory.slots {
        if gone.contains(key) {
            say_gone(key, slot, &mut prepared_events);
        }
        let here = samples.of(key);
        if !here.is_present() {
            continue;
        }
        for layer in LinkLayer::ALL {
            if !slot.is_on(layer) {
                continue;
            }
            if slot.gone.contains_key(&layer) {
                say_back(key, slot, here, layer, measure.policy, &mut prepared_events);
                continue;
            }
            let is_healthy = |(number, port): (PortNumber, &Port)| here.is_healthy(number, port);
            let is_whole = ports_of(slot, layer).all(is_healthy);
            if is_whole && slot.pending.contains(&layer) {
                let message = message::device_healthy(&slot.name);
                prepared_events.push(device_healthy(key, &slot.name, layer, message));
            }
            port::judge_ports(key, slot, here, layer, peers, measure, &mut prepared_events);
        }
    }
    prepared_events
}

fn say_gone(key: &SlotKey, slot: &Slot, prepared_events: &mut Vec<PreparedEvent>) {
    for layer in slot.layers() {
        if slot.gone.get(&layer) != Some(&false) {
            prepared_events.push(PreparedEvent {
                check: layer.state_check(),
                severity: Some(Severity::Fatal),
                message: message::device_gone(layer, &slot.name),
                subject: Subject::Device(slot.name.clone()),
                effect: Effect::Gone(key.clone(), layer),
            });
        }
    }
}

/// A disappeared device is back when each of its ports is healthy, or is unhealthy by design. Until
/// then its ports give no further events.
fn say_back(
    key: &SlotKey,
    slot: &Slot,
    here: &DeviceSample,
    layer: LinkLayer,
    policy: &dyn Policy,
    prepared_events: &mut Vec<PreparedEvent>,
) {
    let (mut ports, mut healthy, mut quiet) = (0, 0, 0);
    for (number, port) in ports_of(slot, layer) {
        ports += 1;
        if here.is_healthy(number, port) {
            healthy += 1;
        } else if here.is_read(number) && port.by_design {
            quiet += 1;
        }
    }
    if !policy.is_back(ports, healthy, quiet) {
        return;
    }
    let message = message::device_back(&slot.name);
    prepared_events.push(device_healthy(key, &slot.name, layer, message));
    for (number, port) in ports_of(slot, layer) {
        if here.is_healthy(number, port) {
            prepared_events.push(port::healthy(key, &slot.name, number, layer));
        } else if let Some(reading) = port.reading.as_ref().filter(|_| port.is_as_before()) {
            let taken_back = port::taken_back(key, &slot.name, number, port, reading);
            prepared_events.push(taken_back);
        }
    }
}

fn device_healthy(
    key: &SlotKey,
    name: &DeviceName,
    layer: LinkLayer,
    message: String,
) -> PreparedEvent {
    PreparedEvent {
        check: layer.state_check(),
        severity: None,
        message,
        subject: Subject::Device(name.clone()),
        effect: Effect::DeviceHealthy(key.clone(), layer),
    }
}

/// The event of a card, if there is one.
#[derive(Debug, Clone, Copy)]
enum CardWord {
    Below { active: usize, mode: usize },
    Meets { active: usize, mode: usize },
    Exempt,
}

fn judge_cards(memory: &mut Memory, peers: &Peers, prepared_events: &mut Vec<PreparedEvent>) {
    let slots = &memory.slots;
    memory.cards.retain(|(_, card), kept| {
        kept.fault.is_some() || slots.values().any(|slot| slot.is_of(card))
    });
    for (key, card) in &mut memory.cards {
        let in_roles = peers.of_card(key);
        let word = match &card.fault {
            Some(fault) => word_of_fault(fault, &in_roles),
            None => first_word(card, &in_roles),
        };
        prepared_events.extend(word.map(|(role, word)| say_card(key, word, role)));
    }
}

/// The event of a card with a reported fault. The fault stands while any of the card's roles is
/// below its peers; the role in which it was reported decides the rest.
fn word_of_fault(fault: &CardFault, in_roles: &[InRole]) -> Option<(AssignedRole, CardWord)> {
    let (role, expected) = (fault.role, fault.expected);
    let below = |active, mode| fault.again.then_some(CardWord::Below { active, mode });
    let own = in_roles.iter().find(|it| it.role == role);
    // After a change of its role, the card is judged in the role that it has now. If no device of it
    // is present, there is nothing to compare: the events of its devices report the fault, which
    // stands until one of them is back.
    let own = own.or(in_roles.first())?;
    let role = own.role;
    let met = match own.standing {
        Standing::Exempt => return Some((role, CardWord::Exempt)),
        Standing::Unready => return None,
        Standing::Below { active, mode } => return Some((role, below(active, mode)?)),
        Standing::Meets { active, mode } => CardWord::Meets { active, mode },
        Standing::NoEvidence { active } if active >= expected => CardWord::Meets {
            active,
            mode: expected,
        },
        Standing::NoEvidence { active } => return Some((role, below(active, expected)?)),
    };
    match first_below(in_roles) {
        Some(below) => fault.again.then_some(below),
        None => Some((role, met)),
    }
}

/// The first role in which a card is below its peers.
fn first_below<'r>(
    in_roles: impl IntoIterator<Item = &'r InRole>,
) -> Option<(AssignedRole, CardWord)> {
    let mut in_roles = in_roles.into_iter();
    in_roles.find_map(|it| match it.standing {
        Standing::Below { active, mode } => Some((it.role, CardWord::Below { active, mode })),
        _ => None,
    })
}

/// The first judgement of a card, and the baseline event that may still be pending after it. The
/// card is healthy when no role of it is below its peers. What is read decides the first judgement,
/// not what is delivered: a port that was healthy and failed before the judgement is made or
/// delivered is reported itself, and its card is judged as if it were healthy.
fn first_word(card: &mut CardMemory, in_roles: &[InRole]) -> Option<(AssignedRole, CardWord)> {
    let is_unready = |it: &InRole| it.standing == Standing::Unready;
    if in_roles.is_empty() || in_roles.iter().any(is_unready) {
        return None;
    }
    if !card.judged {
        let is_judgeable = |it: &&InRole| !it.is_waiting && !it.fell_later();
        if let Some(below) = first_below(in_roles.iter().filter(is_judgeable)) {
            return Some(below);
        }
        if in_roles.iter().any(|it| it.is_waiting) {
            return None;
        }
        card.judged = true;
    }
    let meets = in_roles.iter().find_map(|it| match it.standing {
        Standing::Meets { active, mode } => Some((it.role, active, mode)),
        _ => None,
    });
    let meets = meets.filter(|_| card.pending && first_below(in_roles).is_none());
    meets.map(|(role, active, mode)| (role, CardWord::Meets { active, mode }))
}

fn say_card(key: &(LinkLayer, Card), word: CardWord, role: AssignedRole) -> PreparedEvent {
    let (layer, card) = key;
    let (severity, message, effect) = match word {
        CardWord::Below { active, mode } => {
            let fault = CardFault {
                expected: mode,
                role,
                again: false,
            };
            (
                Some(Severity::Fatal),
                message::card_below(card, role, active, mode),
                Effect::CardEntry(key.clone(), fault),
            )
        }
        CardWord::Meets { active, mode } => (
            None,
            message::card_healthy(card, role, active, mode),
            Effect::CardHealthy(key.clone()),
        ),
        CardWord::Exempt => (
            None,
            message::card_exempt(card),
            Effect::CardHealthy(key.clone()),
        ),
    };
    PreparedEvent {
        check: layer.state_check(),
        severity,
        message,
        subject: Subject::Card(card.clone()),
        effect,
    }
}
