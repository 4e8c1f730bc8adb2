//! The true state of a drill's world, tick by tick: names, layers, roles and port views, for the judge.
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
    DeviceName, LinkLayer, NodeName, PciAddress, PhysState, PortNumber, PortState, Role, Shared,
    SlotRef,
};
use scenarios::LnetIs;
use simfs::SimTime;
use workloads::WorkloadStats;

/// The true state over one drill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// One entry per tick, from tick 0.
    pub ticks: Vec<TickTruth>,
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
    pub role: Role,
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
    pub role: Role,
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
    pub fn is_card_waiting(&self, card: &str) -> bool {
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
        let mut management: Vec<String> = Vec::new();
        for (pci, function) in &self.0 {
            if function.listed && function.role == Role::Management {
                management.push(pci.card());
            }
        }
        let mut cards: BTreeMap<(Role, LinkLayer, String), (PciAddress, usize)> = BTreeMap::new();
        for (pci, function) in self.watched() {
            let card = pci.card();
            if management.contains(&card) {
                continue;
            }
            for port in function.ports.values().filter(|port| port.listed) {
                let key = (function.role, port.layer, card.clone());
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
        let cards = self.cards();
        let group: Vec<&ComparedCard> = cards
            .iter()
            .filter(|peer| peer.role == card.role && peer.layer == card.layer)
            .collect();
        let Some(mode) = mode_of(group.iter().map(|peer| peer.active)) else {
            return false;
        };
        let now = group.iter().find(|peer| peer.pci.card() == card.pci.card());
        group.len() >= 2 && mode > 0 && now.is_some_and(|now| now.active >= mode)
    }
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

    #[test]
    fn a_tie_has_no_mode() {
        assert_eq!(mode_of([1, 1, 0].into_iter()), Some(1));
        assert_eq!(mode_of([1, 0].into_iter()), None);
        assert_eq!(mode_of([].into_iter()), None);
    }
}
