//! The comparison of cards: whether a dark port's peers make its card the topic, and whether the story speaks of it.
//!
//! A monitor compares cards when it starts ("NIC Health Monitor: Link State Detection", 7.2), each with the mode of the
//! cards of its role and layer (4.3). A group of one, a tie and a mode of zero are no evidence.

use std::collections::{BTreeMap, BTreeSet};

use platforms::Role;

use super::cast::Cast;
use super::fact::{Fact, Topic};
use super::starts::dark_at_starts;
use crate::resolved_world::{ResolvedPort, ResolvedWorld};
use crate::story::ChecksRun;

/// How many cards a comparison needs: of two that differ, neither is the mode.
const AT_LEAST: usize = 3;

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
    let speaks = !cast.card_spoken.is_empty();
    if !dark.is_empty() {
        let peers = dark.into_iter().flatten().max();
        return Some(match (speaks, peers) {
            (true, Some(cards)) => Fact::holds(
                Topic::Peers,
                format!("its card is compared with {} others", cards - 1),
            ),
            (true, None) => Fact::lacks(Topic::Peers, "no peers convict its card"),
            (false, Some(_)) => Fact::lacks(
                Topic::Peers,
                "peers make the card the topic, and the story is the port's",
            ),
            (false, None) => Fact::holds(
                Topic::Peers,
                "no peers convict its card, so the port speaks alone",
            ),
        });
    }
    let card = cast.card_spoken.first().or(cast.card_silent.first())?;
    let cards = group(cast.world, *card, &BTreeSet::new()).len();
    Some(if cards >= AT_LEAST {
        Fact::holds(
            Topic::Peers,
            format!("its card is compared with {} others", cards - 1),
        )
    } else {
        Fact::lacks(Topic::Peers, "its card has too few peers")
    })
}

/// The number of compared cards, if the card of this port has fewer active ports than their mode while these ports are
/// dark.
fn below_its_peers(world: &ResolvedWorld, dark: &BTreeSet<usize>, port: usize) -> Option<usize> {
    let group = group(world, port, dark);
    let mine = *group.get(world.ports[port].facts.card.as_str())?;
    let mut often: BTreeMap<usize, usize> = BTreeMap::new();
    for active in group.values() {
        *often.entry(*active).or_default() += 1;
    }
    let most = often.values().max()?;
    let mut modes = often.iter().filter(|(_, times)| *times == most);
    match (modes.next(), modes.next()) {
        (Some((mode, _)), None) if mine < *mode && group.len() >= AT_LEAST => Some(group.len()),
        _ => None,
    }
}

/// The active ports of each card that is compared with this port's card, its own included, while these ports are dark.
/// A card with a management function is not compared.
fn group<'w>(
    world: &'w ResolvedWorld,
    port: usize,
    dark: &BTreeSet<usize>,
) -> BTreeMap<&'w str, usize> {
    let one = &world.ports[port];
    let on_node = |other: &ResolvedPort| other.node == one.node;
    let exempt: BTreeSet<&str> = world
        .ports
        .iter()
        .filter(|other| on_node(other) && other.facts.role == Role::Management)
        .map(|other| other.facts.card.as_str())
        .collect();
    let mut cards: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, other) in world.ports.iter().enumerate() {
        let alike = other.facts.role == one.facts.role && other.facts.layer == one.facts.layer;
        let card = other.facts.card.as_str();
        if on_node(other) && alike && other.facts.is_monitored() && !exempt.contains(card) {
            let is_active = other.healthy && !dark.contains(&place);
            *cards.entry(card).or_default() += usize::from(is_active);
        }
    }
    cards
}
