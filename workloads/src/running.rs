//! Workloads that run in a world: each hears of its ports what the links do, as time passes.
//!
//! It leaves out how a workload behaves ([`Workload`]) and what anyone expects of it. Start at [`Running::start`].

use std::collections::{BTreeMap, BTreeSet};

use fabric::{CarriageChange, Fabric};
use platforms::{NodeName, SlotRef};
use simfs::SimTime;

use crate::WorkloadStats;

/// What runs over ports.
pub trait Workload {
    /// The ports that it uses.
    fn ports(&self) -> impl Iterator<Item = &SlotRef>;

    /// One of its ports began to carry something else. Instants do not decrease.
    fn port_changed(&mut self, slot: &SlotRef, change: CarriageChange);

    /// Runs to this instant, included.
    fn advance(&mut self, to: SimTime);

    /// A node goes down, with everything on it. It may be one that the workload does not use.
    fn node_goes(&mut self, node: &NodeName, at: SimTime);

    /// A node that went is back, with nothing remembered; its ports are as the fabric has them.
    fn node_returns(&mut self, node: &NodeName, fabric: &Fabric);

    /// How it fares.
    fn stats(&self) -> WorkloadStats;
}

/// The workloads of one kind in a world, by name.
#[derive(Clone, Debug)]
pub struct Running<W> {
    workloads: BTreeMap<String, Hearing<W>>,
    /// Nodes that went and are not back: their ports are not heard of.
    away: BTreeSet<NodeName>,
}

#[derive(Clone, Debug)]
struct Hearing<W> {
    workload: W,
    /// Its ports, and how many of their changes it has heard of.
    heard: BTreeMap<SlotRef, usize>,
}

impl<W> Default for Running<W> {
    fn default() -> Self {
        Self {
            workloads: BTreeMap::new(),
            away: BTreeSet::new(),
        }
    }
}

impl<W: Workload> Running<W> {
    /// Workloads that were begun at the fabric's present time.
    #[must_use]
    pub fn start(workloads: BTreeMap<String, W>, fabric: &Fabric) -> Self {
        let hearing = |workload: W| {
            let ports = workload.ports();
            let heard = ports.map(|slot| (slot.clone(), fabric.carriages(slot).len()));
            Hearing {
                heard: heard.collect(),
                workload,
            }
        };
        let workloads = workloads.into_iter();
        Self {
            workloads: workloads
                .map(|(name, workload)| (name, hearing(workload)))
                .collect(),
            away: BTreeSet::new(),
        }
    }

    /// Takes every workload to the fabric's present time. At equal instants a link's change comes before what a workload
    /// does.
    pub fn follow(&mut self, fabric: &Fabric) {
        for hearing in self.workloads.values_mut() {
            hearing.follow(fabric, &self.away);
        }
    }

    /// A node goes down with everything on it, at the fabric's present time.
    pub fn node_goes(&mut self, node: &NodeName, fabric: &Fabric) {
        self.follow(fabric);
        self.away.insert(node.clone());
        for hearing in self.workloads.values_mut() {
            hearing.workload.node_goes(node, fabric.now());
        }
    }

    /// It is back, with nothing remembered, and finds its ports as they are.
    pub fn node_returns(&mut self, node: &NodeName, fabric: &Fabric) {
        self.away.remove(node);
        for hearing in self.workloads.values_mut() {
            let ports = hearing.heard.iter_mut();
            for (slot, heard) in ports.filter(|(slot, _)| slot.node == *node) {
                *heard = fabric.carriages(slot).len();
            }
        }
        self.follow(fabric);
        for hearing in self.workloads.values_mut() {
            hearing.workload.node_returns(node, fabric);
        }
    }

    /// A workload as it last followed the fabric.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&W> {
        Some(&self.workloads.get(name)?.workload)
    }

    /// A workload at the fabric's present time, to act on.
    pub fn get_mut(&mut self, name: &str, fabric: &Fabric) -> Option<&mut W> {
        let hearing = self.workloads.get_mut(name)?;
        hearing.follow(fabric, &self.away);
        Some(&mut hearing.workload)
    }
}

impl<W: Workload> Hearing<W> {
    fn follow(&mut self, fabric: &Fabric, away: &BTreeSet<NodeName>) {
        let mut changes: Vec<(CarriageChange, &SlotRef)> = Vec::new();
        let present = self.heard.iter_mut();
        for (slot, heard) in present.filter(|(slot, _)| !away.contains(&slot.node)) {
            let all = fabric.carriages(slot);
            changes.extend(all[*heard..].iter().map(|change| (*change, slot)));
            *heard = all.len();
        }
        // A stable sort: changes of one instant in the order of their ports, those of one port in theirs.
        changes.sort_by_key(|(change, _)| change.at);
        for (change, slot) in changes {
            self.workload.port_changed(slot, change);
        }
        self.workload.advance(fabric.now());
    }
}
