//! The comparison of cards: whether a dark port's peers make its card the topic, and whether the story speaks of it.
//!
//! A monitor compares cards when it starts ("NIC Health Monitor: Link State Detection", 7.2), each with the mode of the
//! cards of its role and layer (4.3). A group of one, a tie and a mode of zero are no evidence.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{Card, NicRole};
use terms::Severity;

use super::cast::{Cast, events};
use super::fact::{Fact, Topic};
use super::starts::dark_at_starts;
use crate::resolved_world::{ResolvedPort, ResolvedWorld};
use crate::story::{About, ChecksRun, EventPattern};

/// `None` for a story that speaks of no card and in which no port is dark when a monitor starts.
pub(crate) fn fact(cast: &Cast<'_>) -> Option<Fact> {
    if !matches!(cast.story.checks, ChecksRun::State | ChecksRun::All) {
        return None;
    }
    let mut dark = Vec::new();
    for ports in dark_at_starts(cast) {
        dark.extend(
            ports
                .iter()
                .map(|port| below_its_peers(cast.world, &ports, *port)),
        );
    }
    let accuses = |event: &EventPattern| {
        matches!(event.about, About::Card(..)) && event.tone != Severity::Healthy
    };
    let speaks = !cast.card_spoken.is_empty();
    let convicted = dark.iter().flatten().max();
    Some(match convicted {
        Some(cards) if speaks => compared(*cards),
        Some(_) => Fact::lacks(
            Topic::Peers,
            "peers make the card the topic, and the story is the port's",
        ),
        None if events(cast.story).any(accuses) && !dark.is_empty() => {
            Fact::lacks(Topic::Peers, "no peers convict its card")
        }
        None if !speaks && !dark.is_empty() => Fact::holds(
            Topic::Peers,
            "no peers convict its card, so the port speaks alone",
        ),
        None => {
            let card = cast.card_spoken.first().or(cast.card_silent.first())?;
            match group(cast.world, *card, &BTreeSet::new()).len() {
                cards @ 2.. => compared(cards),
                _ => Fact::lacks(Topic::Peers, "its card has no peers"),
            }
        }
    })
}

fn compared(cards: usize) -> Fact {
    let others = match cards - 1 {
        1 => "another".to_owned(),
        number => format!("{number} others"),
    };
    Fact::holds(Topic::Peers, format!("its card is compared with {others}"))
}

/// The number of compared cards, if the card of this port has fewer active ports than their mode while these ports are
/// dark.
fn below_its_peers(world: &ResolvedWorld, dark: &BTreeSet<usize>, port: usize) -> Option<usize> {
    let group = group(world, port, dark);
    let mine = *group.get(&world.ports[port].facts.card)?;
    let mut often: BTreeMap<usize, usize> = BTreeMap::new();
    for active in group.values() {
        *often.entry(*active).or_default() += 1;
    }
    let most = often.values().max()?;
    let mut modes = often.iter().filter(|(_, times)| *times == most);
    match (modes.next(), modes.next()) {
        (Some((mode, _)), None) if mine < *mode => Some(group.len()),
        _ => None,
    }
}

/// The active ports of each card that is compared with this port's card, its own included, while these ports are dark.
/// A card with a management function is not compared.
fn group(world: &ResolvedWorld, port: usize, dark: &BTreeSet<usize>) -> BTreeMap<Card, usize> {
    let one = &world.ports[port];
    let on_node = |other: &ResolvedPort| other.node == one.node;
    let exempt: BTreeSet<Card> = world
        .ports
        .iter()
        .filter(|other| on_node(other) && other.facts.role == NicRole::Management)
        .map(|other| other.facts.card)
        .collect();
    let mut cards: BTreeMap<Card, usize> = BTreeMap::new();
    for (place, other) in world.ports.iter().enumerate() {
        let alike = other.facts.role == one.facts.role && other.facts.layer == one.facts.layer;
        let card = other.facts.card;
        if on_node(other) && alike && other.facts.is_monitored() && !exempt.contains(&card) {
            let is_active = other.healthy && !dark.contains(&place);
            *cards.entry(card).or_default() += usize::from(is_active);
        }
    }
    cards
}
