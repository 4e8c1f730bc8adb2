//! Running workloads: passes the changes of a world's links to the workloads that use them.
//!
//! [`Workload`] is implemented elsewhere. Start at [`Running::start`].

use std::collections::{BTreeMap, BTreeSet};

use fabric::{CarriageChange, Fabric};
use platforms::{NodeName, SlotRef};
use simfs::SimTime;

use crate::WorkloadStats;

/// A user of ports.
pub trait Workload {
    /// The ports that it uses.
    fn ports(&self) -> impl Iterator<Item = &SlotRef>;

    /// What one of its ports carries changed. Calls come in order of time.
    fn port_changed(&mut self, slot: &SlotRef, change: CarriageChange);

    /// Runs up to and including this instant.
    fn advance(&mut self, to: SimTime);

    /// A node goes down with everything on it. The workload may not use this node.
    fn node_goes(&mut self, node: &NodeName, at: SimTime);

    /// A node that went down is back, without any state; its ports are as the fabric has them.
    fn node_returns(&mut self, node: &NodeName, fabric: &Fabric);

    /// Its statistics.
    fn stats(&self) -> WorkloadStats;
}

/// The workloads of one kind in a world, by name.
#[derive(Clone, Debug)]
pub struct Running<W> {
    workloads: BTreeMap<String, Hearing<W>>,
    /// Nodes that are down: changes of their ports are not passed on.
    away: BTreeSet<NodeName>,
}

#[derive(Clone, Debug)]
struct Hearing<W> {
    workload: W,
    started: SimTime,
    /// Its ports, and how many changes of each were passed on.
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
    /// Workloads that start at the fabric's present time.
    #[must_use]
    pub fn start(workloads: BTreeMap<String, W>, fabric: &Fabric) -> Self {
        let hearing = |workload: W| {
            let ports = workload.ports();
            let heard = ports.map(|slot| (slot.clone(), fabric.carriages(slot).len()));
            Hearing {
                heard: heard.collect(),
                started: fabric.now(),
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

    /// Advances every workload to the fabric's present time. At equal instants, changes of links come before actions of
    /// workloads.
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

    /// A node is back without any state, and gets the present state of its ports.
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

    /// A workload as of the last [`Running::follow`].
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&W> {
        Some(&self.workloads.get(name)?.workload)
    }

    /// Every workload as of the last [`Running::follow`].
    pub fn all(&self) -> impl Iterator<Item = &W> {
        self.workloads.values().map(|hearing| &hearing.workload)
    }

    /// A workload, advanced to the fabric's present time. At the time of its start it has not acted yet: what is done to
    /// it then applies to its first actions.
    pub fn get_mut(&mut self, name: &str, fabric: &Fabric) -> Option<&mut W> {
        let hearing = self.workloads.get_mut(name)?;
        if fabric.now() > hearing.started {
            hearing.follow(fabric, &self.away);
        }
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
        // The sort is stable: changes of one instant are in the order of their ports, those of one port in their own.
        changes.sort_by_key(|(change, _)| change.at);
        for (change, slot) in changes {
            self.workload.port_changed(slot, change);
        }
        self.workload.advance(fabric.now());
    }
}
