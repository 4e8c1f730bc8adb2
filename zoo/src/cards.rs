//! Wrong decisions about a card and its peers.

use std::collections::BTreeSet;

use checks::{AssignedRole, Card, Policy, Right};

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        CardWithoutItsDomain,
        "card-without-its-domain",
        "a card key cut to bus and device: two cards of two PCI domains are one"
    ),
    mutant!(
        decides,
        CardWithoutItsPort,
        "card-without-its-port",
        "a RoCE port stuck in INIT at the start: its card is fatal, and no event names device or port"
    ),
    mutant!(
        decides,
        ComparesAcrossRoles,
        "compares-across-roles",
        "storage cards held against the mode of the compute cards (NVSentinel's design, 4.3.2)"
    ),
    mutant!(
        decides,
        ComparesTheManagementCard,
        "compares-the-management-card",
        "the dark sibling of a management NIC reported fatal, port and card (field bug B11)"
    ),
    mutant!(
        decides,
        JudgesTheLonelyCard,
        "judges-the-lonely-card",
        "a lone storage port dark by design, reported fatal at the start (field bug B14)"
    ),
    mutant!(
        decides,
        TakesDarkForTheNorm,
        "takes-dark-for-the-norm",
        "every card dark, and each reported healthy because it meets its peers"
    ),
    mutant!(
        decides,
        TieGoesUp,
        "tie-goes-up",
        "one dark card of two taken for the odd one (field bug B15)"
    ),
];

/// Identifies exempt cards without their PCI domain.
#[derive(Debug, Default)]
struct CardWithoutItsDomain;

impl Policy for CardWithoutItsDomain {
    fn is_exempt(&self, management: &BTreeSet<Card>, card: &Card) -> bool {
        management
            .iter()
            .any(|other| bus_and_device(other) == bus_and_device(card))
    }
}

fn bus_and_device(card: &Card) -> &str {
    let text = card.as_str();
    text.split_once(':').map_or(text, |(_, rest)| rest)
}

/// Reports the card alone where the severity table is silent about its port.
#[derive(Debug, Default)]
struct CardWithoutItsPort;

impl Policy for CardWithoutItsPort {
    fn names_its_port(&self) -> bool {
        false
    }
}

/// Compares cards of all roles with each other.
#[derive(Debug, Default)]
struct ComparesAcrossRoles;

impl Policy for ComparesAcrossRoles {
    fn peer_group(&self, _: AssignedRole) -> AssignedRole {
        AssignedRole::Compute
    }
}

/// Compares a card that has a management function with its peers.
#[derive(Debug, Default)]
struct ComparesTheManagementCard;

impl Policy for ComparesTheManagementCard {
    fn is_exempt(&self, _: &BTreeSet<Card>, _: &Card) -> bool {
        false
    }
}

/// Expects an active port of a card that has no peers.
#[derive(Debug, Default)]
struct JudgesTheLonelyCard;

impl Policy for JudgesTheLonelyCard {
    fn expected_ports(&self, active: &[usize]) -> Option<usize> {
        match active {
            [0] => Some(1),
            _ => Right.expected_ports(active),
        }
    }
}

/// Takes a mode of zero for evidence.
#[derive(Debug, Default)]
struct TakesDarkForTheNorm;

impl Policy for TakesDarkForTheNorm {
    fn expected_ports(&self, active: &[usize]) -> Option<usize> {
        let dark = active.iter().filter(|ports| **ports == 0).count();
        if active.len() > 1 && dark * 2 > active.len() {
            return Some(0);
        }
        Right.expected_ports(active)
    }
}

/// Resolves a tie for the mode upward.
#[derive(Debug, Default)]
struct TieGoesUp;

impl Policy for TieGoesUp {
    fn expected_ports(&self, active: &[usize]) -> Option<usize> {
        match active {
            [one, other] if one != other => Some(*one.max(other)),
            _ => Right.expected_ports(active),
        }
    }
}
