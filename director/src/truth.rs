//! The true state of a drill's world for the judge: names, layers, roles and port views, tick by tick, and what
//! happened.
//!
//! It is read from the fabric's machines and from the platforms' declarations, independently of the
//! monitor. Start at [`Truth`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fabric::EndTruth;
use lnet::NiView;
use platforms::{
    Card, DeviceName, LinkLayer, NicRole, NodeName, PciAddress, PhysState, PortNumber, PortState,
    Shared, SlotRef,
};
use scenarios::{LnetIs, WorkloadCounter};
use simfs::SimTime;
use workloads::WorkloadStats;

use crate::log::Log;

/// The true state over one drill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// One entry per tick, from tick 0.
    pub ticks: Vec<TickTruth>,
    /// What happened.
    pub log: Log,
}

/// The true state in one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickTruth {
    /// The simulated time of the tick.
    pub at: SimTime,
    /// The nodes; shared with the previous tick if nothing changed.
    pub nodes: Shared<BTreeMap<NodeName, NodeTruth>>,
    /// The links that the story's expectations are about.
    pub links: BTreeMap<SlotRef, LinkTruth>,
    /// The statistics of the workloads.
    pub workloads: BTreeMap<String, WorkloadStats>,
    /// The LNet interfaces that the story's expectations are about.
    pub interfaces: BTreeMap<Interface, NiView>,
    /// The counters of workloads that the story's expectations are about.
    pub counters: BTreeMap<WorkloadCounter, u64>,
}

impl TickTruth {
    /// A node's wall clock at the tick's start, in nanoseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn wall_ns(&self, node: &NodeName) -> Option<u64> {
        let node = self.nodes.get(node)?;
        Some(node.wall_at_start_ns.wrapping_add(self.at.as_ns()))
    }
}

/// An LNet interface in the view of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interface {
    /// The workload that it belongs to.
    pub workload: String,
    /// The node whose view it is.
    pub seen_from: NodeName,
    /// Its port.
    pub slot: SlotRef,
}

impl Interface {
    /// The interface of an expectation.
    #[must_use]
    pub fn of(is: &LnetIs) -> Self {
        Self {
            workload: is.workload.clone(),
            seen_from: is.seen_from.clone(),
            slot: is.slot.clone(),
        }
    }
}

/// What both ends of a link remember at a tick's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkTruth {
    /// The node's own end.
    pub here: EndTruth,
    /// Its partner.
    pub there: EndTruth,
}

/// The true state of one node in one tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTruth {
    /// Its wall clock minus the drill's time, in nanoseconds since 1970-01-01T00:00:00Z; it changes
    /// only when the clock is stepped. The subtraction wraps, so that no step overflows.
    pub wall_at_start_ns: u64,
    /// What a poll at the tick's start could see.
    pub views: Arc<NodeView>,
    /// What a poll could see at the tick's end, after the moments within it.
    pub after: Arc<NodeView>,
}

/// The views of a node's functions, by PCI address. A function that has disappeared keeps its last
/// entry, marked as not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeView(pub BTreeMap<PciAddress, FunctionView>);

/// The view of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionView {
    /// The present or last name of its RDMA device.
    pub name: DeviceName,
    /// Whether the class folder lists it.
    pub listed: bool,
    /// Its declared role.
    pub role: NicRole,
    /// Whether a monitor must monitor it: not management, not virtual, and of a monitored vendor.
    pub monitored: bool,
    /// Its first network interface.
    pub netdev: Option<String>,
    /// Its ports.
    pub ports: BTreeMap<PortNumber, PortView>,
    /// Counters of its ports that cannot be read as numbers at present.
    pub unreadable: BTreeSet<(PortNumber, String)>,
}

/// The view of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// Its link layer.
    pub layer: LinkLayer,
    /// Its logical state.
    pub state: PortState,
    /// Its physical state.
    pub phys_state: PhysState,
    /// Whether its folder is listed.
    pub listed: bool,
}

impl PortView {
    /// Whether it is listed and shows `ACTIVE` and `LinkUp`.
    #[must_use]
    pub fn healthy(&self) -> bool {
        self.listed && self.state == PortState::ACTIVE && self.phys_state == PhysState::LINK_UP
    }
}

/// A card that takes part in the comparison of peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedCard {
    /// One of its functions.
    pub pci: PciAddress,
    /// Its role.
    pub role: NicRole,
    /// Its link layer.
    pub layer: LinkLayer,
    /// The number of its healthy ports.
    pub active: usize,
}

impl NodeView {
    /// Whether a port is healthy; a missing one is not.
    #[must_use]
    pub fn healthy(&self, pci: PciAddress, port: PortNumber) -> bool {
        self.0.get(&pci).is_some_and(|function| {
            function.listed && function.ports.get(&port).is_some_and(PortView::healthy)
        })
    }

    /// The functions that a monitor must monitor and that are listed.
    pub fn watched(&self) -> impl Iterator<Item = (PciAddress, &FunctionView)> {
        let watched = |function: &FunctionView| function.listed && function.monitored;
        self.0
            .iter()
            .filter(move |(_, function)| watched(function))
            .map(|(pci, function)| (*pci, function))
    }

    /// Whether a port of this card may be on its way up: polling, training, or waiting for the subnet
    /// manager. A first poll waits for such a card.
    #[must_use]
    pub fn is_card_waiting(&self, card: Card) -> bool {
        let ports = self
            .watched()
            .filter(|(pci, _)| pci.card() == card)
            .flat_map(|(_, view)| view.ports.values());
        ports.into_iter().any(|port| {
            let walking = matches!(port.phys_state, PhysState::POLLING | PhysState::TRAINING);
            let managed = matches!(port.state, PortState::INIT | PortState::ARMED);
            port.listed
                && port.phys_state != PhysState::DISABLED
                && (managed || port.state == PortState::DOWN && walking)
        })
    }

    /// Whether a device is listed and all its ports are healthy.
    #[must_use]
    pub fn is_whole(&self, pci: PciAddress) -> bool {
        self.0.get(&pci).is_some_and(|view| {
            view.listed && !view.ports.is_empty() && view.ports.values().all(PortView::healthy)
        })
    }

    /// The compared cards (`lsd 4.3`), by role and layer. A card that shares its board with a
    /// management function is not compared.
    #[must_use]
    pub fn cards(&self) -> Vec<ComparedCard> {
        let mut management: Vec<Card> = Vec::new();
        for (pci, function) in &self.0 {
            if function.listed && function.role == NicRole::Management {
                management.push(pci.card());
            }
        }
        let mut cards: BTreeMap<(NicRole, LinkLayer, Card), (PciAddress, usize)> = BTreeMap::new();
        for (pci, function) in self.watched() {
            let card = pci.card();
            if management.contains(&card) {
                continue;
            }
            for port in function.ports.values().filter(|port| port.listed) {
                let key = (function.role, port.layer, card);
                cards.entry(key).or_insert((pci, 0)).1 += usize::from(port.healthy());
            }
        }
        let card = |((role, layer, _), (pci, active))| ComparedCard {
            pci,
            role,
            layer,
            active,
        };
        cards.into_iter().map(card).collect()
    }

    /// Whether a card has at least as many healthy ports as the mode of its group. There must be two
    /// cards or more, and the mode must be unique and above zero.
    #[must_use]
    pub fn meets_peers(&self, card: &ComparedCard) -> bool {
        meets(&self.cards(), card)
    }

    /// Whether a card meets its peers in one of its roles and falls behind them in none.
    #[must_use]
    pub fn is_card_healthy(&self, card: &ComparedCard) -> bool {
        let cards = self.cards();
        let is_of_it =
            |one: &&ComparedCard| one.pci.card() == card.pci.card() && one.layer == card.layer;
        let of_it = || cards.iter().filter(is_of_it);
        of_it().any(|card| meets(&cards, card)) && !of_it().any(|card| lags(&cards, card))
    }

    /// Whether a card has fewer healthy ports than the mode of its group, under the same conditions.
    #[must_use]
    pub fn falls_behind(&self, card: &ComparedCard) -> bool {
        lags(&self.cards(), card)
    }

    /// The compared cards that have fewer healthy ports than their peers, as [`NodeView::falls_behind`] tells.
    #[must_use]
    pub fn behind(&self) -> Vec<ComparedCard> {
        let cards = self.cards();
        let behind = cards.iter().filter(|card| lags(&cards, card));
        behind.cloned().collect()
    }
}

/// Whether a card has at least as many healthy ports as the mode of its group among these cards.
fn meets(cards: &[ComparedCard], card: &ComparedCard) -> bool {
    let (group, now, mode) = peers(cards, card);
    let enough = |(now, mode): (usize, usize)| mode > 0 && now >= mode;
    group >= 2 && now.zip(mode).is_some_and(enough)
}

/// Whether a card has fewer healthy ports than the mode of its group among these cards.
fn lags(cards: &[ComparedCard], card: &ComparedCard) -> bool {
    let (group, now, mode) = peers(cards, card);
    group >= 2 && now.zip(mode).is_some_and(|(now, mode)| now < mode)
}

/// The number of cards in a card's group, the healthy ports of the card, and the mode of the group.
fn peers(cards: &[ComparedCard], card: &ComparedCard) -> (usize, Option<usize>, Option<usize>) {
    let group = || {
        let same = |peer: &&ComparedCard| peer.role == card.role && peer.layer == card.layer;
        cards.iter().filter(same)
    };
    let now = group().find(|peer| peer.pci.card() == card.pci.card());
    let mode = mode_of(group().map(|peer| peer.active));
    (group().count(), now.map(|now| now.active), mode)
}

/// The most frequent value; `None` if two are equally frequent, or there is none.
fn mode_of(values: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let most = *counts.values().max()?;
    let mut modes = counts
        .iter()
        .filter(|(_, count)| **count == most)
        .map(|(value, _)| *value);
    let mode = modes.next();
    if modes.next().is_some() { None } else { mode }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: (PortState, PhysState) = (PortState::INIT, PhysState::LINK_UP);
    const ARMED: (PortState, PhysState) = (PortState::ARMED, PhysState::LINK_UP);
    const ACTIVE: (PortState, PhysState) = (PortState::ACTIVE, PhysState::LINK_UP);
    const DOWN: (PortState, PhysState) = (PortState::DOWN, PhysState::DISABLED);
    const POLLING: (PortState, PhysState) = (PortState::DOWN, PhysState::POLLING);
    const TRAINING: (PortState, PhysState) = (PortState::DOWN, PhysState::TRAINING);
    const SLEEPING: (PortState, PhysState) = (PortState::DOWN, PhysState::SLEEP);

    fn port((state, phys_state): (PortState, PhysState)) -> PortView {
        PortView {
            layer: LinkLayer::InfiniBand,
            state,
            phys_state,
            listed: true,
        }
    }

    /// A function in a slot of its own, with these ports.
    fn function(role: NicRole, ports: &[(PortState, PhysState)]) -> FunctionView {
        FunctionView {
            name: "mlx5_0".into(),
            listed: true,
            role,
            monitored: role != NicRole::Management,
            netdev: None,
            ports: (1..)
                .map(PortNumber)
                .zip(ports.iter().copied().map(port))
                .collect(),
            unreadable: BTreeSet::new(),
        }
    }

    fn pci(slot: &str) -> PciAddress {
        format!("0000:{slot}").parse().expect("an address")
    }

    fn views<const N: usize>(functions: [(&str, FunctionView); N]) -> NodeView {
        NodeView(functions.map(|(slot, view)| (pci(slot), view)).into())
    }

    /// Compute cards in slots of their own, each with so many of two ports healthy.
    fn cards_of(healthy: &[usize]) -> NodeView {
        let cards = (0x10..).zip(healthy).map(|(slot, healthy)| {
            let ports: Vec<_> = (0..2)
                .map(|nth| if nth < *healthy { ACTIVE } else { DOWN })
                .collect();
            (
                pci(&format!("{slot:02x}:00.0")),
                function(NicRole::Compute, &ports),
            )
        });
        NodeView(cards.collect())
    }

    #[track_caller]
    fn check_waiting(views: &NodeView, waits: bool) {
        assert_eq!(
            views.is_card_waiting(pci("10:00.0").card()),
            waits,
            "{views:?}"
        );
    }

    #[test]
    fn a_card_waits_while_a_port_of_it_is_on_its_way_up() {
        for (of, waits) in [
            (ACTIVE, false),
            (DOWN, false),
            (SLEEPING, false),
            (POLLING, true),
            (TRAINING, true),
            (INIT, true),
            (ARMED, true),
            ((PortState::INIT, PhysState::DISABLED), false),
            ((PortState::ACTIVE, PhysState::POLLING), false),
        ] {
            let one = |slot| views([(slot, function(NicRole::Compute, &[ACTIVE, of]))]);
            check_waiting(&one("10:00.0"), waits);
            check_waiting(&one("20:00.0"), false);
            let mut unlisted = function(NicRole::Compute, &[of]);
            unlisted
                .ports
                .values_mut()
                .for_each(|port| port.listed = false);
            check_waiting(&views([("10:00.0", unlisted)]), false);
            check_waiting(
                &views([("10:00.0", function(NicRole::Management, &[of]))]),
                false,
            );
        }
    }

    #[test]
    fn a_port_is_healthy_on_a_device_that_is_there() {
        let mut gone = function(NicRole::Compute, &[ACTIVE]);
        gone.listed = false;
        let mut unreadable = function(NicRole::Compute, &[ACTIVE]);
        unreadable
            .ports
            .values_mut()
            .for_each(|port| port.listed = false);
        let half_up = (PortState::ACTIVE, PhysState::POLLING);
        let all = views([
            (
                "10:00.0",
                function(NicRole::Compute, &[ACTIVE, INIT, half_up]),
            ),
            ("20:00.0", gone),
            ("30:00.0", unreadable),
            ("40:00.0", function(NicRole::Compute, &[])),
            ("50:00.0", function(NicRole::Management, &[ACTIVE])),
        ]);
        let healthy = |slot, port| all.healthy(pci(slot), PortNumber(port));
        assert_eq!(
            [1, 2, 3, 4].map(|port| healthy("10:00.0", port)),
            [true, false, false, false]
        );
        assert!(!healthy("20:00.0", 1) && !healthy("30:00.0", 1) && !healthy("60:00.0", 1));
        let slots = ["10:00.0", "20:00.0", "30:00.0", "40:00.0", "50:00.0"];
        assert_eq!(
            slots.map(|slot| all.is_whole(pci(slot))),
            [false, false, false, false, true]
        );
        let watched: Vec<_> = all.watched().map(|(pci, _)| pci).collect();
        assert_eq!(watched, ["10:00.0", "30:00.0", "40:00.0"].map(pci));
    }

    #[test]
    fn a_card_with_a_management_function_is_compared_with_none() {
        let mut gone = function(NicRole::Management, &[ACTIVE]);
        gone.listed = false;
        let all = views([
            (
                "10:00.0",
                function(NicRole::Compute, &[ACTIVE, ACTIVE, DOWN]),
            ),
            ("20:00.0", function(NicRole::Compute, &[ACTIVE])),
            ("20:00.1", function(NicRole::Management, &[ACTIVE])),
            ("30:00.0", function(NicRole::Compute, &[ACTIVE])),
            ("30:00.1", gone),
            ("40:00.0", function(NicRole::Storage, &[ACTIVE])),
        ]);
        let rendered: Vec<_> = all
            .cards()
            .iter()
            .map(|card| (card.pci, card.active))
            .collect();
        let mut wanted = vec![
            (pci("10:00.0"), 2),
            (pci("30:00.0"), 1),
            (pci("40:00.0"), 1),
        ];
        wanted.sort_by_key(|(pci, _)| all.0[pci].role);
        assert_eq!(rendered, wanted);
    }

    /// `lsd 4.3`: a card is held against the mode of its group.
    #[test]
    fn a_card_meets_its_peers_if_it_has_as_many_healthy_ports_as_most() {
        let meets = |healthy: &[usize]| {
            let all = cards_of(healthy);
            let cards = all.cards();
            cards
                .iter()
                .map(|card| all.meets_peers(card))
                .collect::<Vec<_>>()
        };
        assert_eq!(meets(&[1, 1, 1]), [true, true, true]);
        assert_eq!(meets(&[1, 1, 0]), [true, true, false]);
        assert_eq!(meets(&[1, 1, 2]), [true, true, true]);
        assert_eq!(meets(&[1]), [false], "one card has no peer");
        assert_eq!(
            meets(&[0, 0]),
            [false, false],
            "a group that is all dark tells nothing"
        );
        assert_eq!(meets(&[1, 2]), [false, false], "a tie tells nothing");
    }

    /// Cards of another role or another link layer are of another group.
    #[test]
    fn a_card_is_compared_within_its_role_and_its_link_layer() {
        let mut storage = function(NicRole::Storage, &[ACTIVE]);
        let mut all = cards_of(&[1]);
        all.0.insert(pci("20:00.0"), storage.clone());
        assert!(all.cards().iter().all(|card| !all.meets_peers(card)));
        storage.role = NicRole::Compute;
        all.0.insert(pci("20:00.0"), storage.clone());
        assert!(all.cards().iter().all(|card| all.meets_peers(card)));
        storage
            .ports
            .values_mut()
            .for_each(|port| port.layer = LinkLayer::Ethernet);
        all.0.insert(pci("20:00.0"), storage);
        assert!(all.cards().iter().all(|card| !all.meets_peers(card)));
    }

    /// A function of another role on the same board: one card, which a fault in either role makes unhealthy.
    #[test]
    fn a_card_of_two_roles_is_healthy_if_it_is_in_both() {
        let all = |storage: [(PortState, PhysState); 3]| {
            let [a, b, c] = storage;
            views([
                ("10:00.0", function(NicRole::Compute, &[ACTIVE])),
                ("10:00.1", function(NicRole::Storage, &[a])),
                ("20:00.0", function(NicRole::Compute, &[ACTIVE])),
                ("20:00.1", function(NicRole::Storage, &[b])),
                ("30:00.0", function(NicRole::Compute, &[ACTIVE])),
                ("30:00.1", function(NicRole::Storage, &[c])),
            ])
        };
        let healthy = |views: &NodeView| {
            let cards = views.cards();
            assert_eq!(cards.len(), 6, "each role of a card is compared");
            let compute = cards.iter().filter(|card| card.role == NicRole::Compute);
            let healthy = compute.map(|card| views.is_card_healthy(card));
            healthy.collect::<Vec<_>>()
        };
        assert_eq!(healthy(&all([ACTIVE; 3])), [true, true, true]);
        assert_eq!(healthy(&all([ACTIVE, ACTIVE, DOWN])), [true, true, false]);
        assert_eq!(
            healthy(&all([DOWN; 3])),
            [true, true, true],
            "no evidence is no fault"
        );
    }

    #[test]
    fn a_clock_reads_what_it_read_at_the_start_and_the_time_since() {
        let node = NodeName::from("node-a");
        let truth = NodeTruth {
            wall_at_start_ns: 5,
            views: Arc::default(),
            after: Arc::default(),
        };
        let mut tick = TickTruth {
            at: SimTime::from_ns(7),
            ..TickTruth::default()
        };
        tick.nodes.insert(node.clone(), truth);
        assert_eq!(tick.wall_ns(&node), Some(12));
        assert_eq!(tick.wall_ns(&NodeName::from("node-b")), None);
    }

    #[test]
    fn a_tie_has_no_mode() {
        assert_eq!(mode_of([1, 1, 0].into_iter()), Some(1));
        assert_eq!(mode_of([1, 0].into_iter()), None);
        assert_eq!(mode_of([].into_iter()), None);
    }
}
