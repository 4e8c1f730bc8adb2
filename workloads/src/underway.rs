//! Workloads under way in a world: each hears of its ports what the links do, as time passes.
//!
//! [`Underway::follow`] takes every workload to the fabric's present time and tells it, at the
//! instant at which it happened, of each port that began to carry something else; at equal times the
//! links come first. A node that is away (it reboots) is told of by its own calls, for a fabric's
//! reboot takes no time.
//!
//! It leaves out how a workload behaves ([`crate::lnet`], [`crate::mpib`]) and what anyone expects of
//! it. Start at [`Underway::start`].

mod fared;
mod job;
mod plan;
mod storage;

use std::collections::{BTreeMap, BTreeSet};

use fabric::{Carriage, CarriageChange, Fabric};
use platforms::{NodeName, SlotRef};

pub use fared::{Cause, Fared, NiFared};
pub use plan::{
    AgentDeed, HostPlan, JobPlan, LoadDeed, NiPlan, NodePlan, Plan, RailPlan, StoragePlan,
};

use self::{job::JobLoad, storage::StorageLoad};
use crate::lnet;

/// Why a workload cannot be begun, or cannot have something done to it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// LNet refuses.
    #[error(transparent)]
    Lnet(#[from] lnet::LnetError),
    /// Nothing of this name is under way.
    #[error("no workload `{0}` is under way\nhint: `workloads:` names them")]
    NoWorkload(String),
    /// What is to be done is of another kind of workload.
    #[error("`{0}` is no {1}\nhint: rules are for `lnet`, agents and hints for `mpib`")]
    OtherKind(String, &'static str),
    /// The workload does not use this node.
    #[error("`{0}` does not use the node `{1}`\nhint: name one of its nodes")]
    NoSuchNode(String, NodeName),
    /// The agent is dead, or knows no such pair.
    #[error(
        "the agent of `{0}` on `{1}` gives no hint for this pair\nhint: hints are for pairs that are connected, and a dead agent writes none"
    )]
    NoHint(String, NodeName),
}

/// The workloads of a world.
#[derive(Clone, Debug, Default)]
pub struct Underway {
    loads: BTreeMap<String, Load>,
    /// Nodes that went and are not back.
    away: BTreeSet<NodeName>,
}

#[derive(Clone, Debug)]
struct Load {
    kind: Kind,
    /// The ports that it uses, and how many of their changes it has heard of.
    heard: BTreeMap<SlotRef, usize>,
}

#[derive(Clone, Debug)]
enum Kind {
    Storage(Box<StorageLoad>),
    Job(Box<JobLoad>),
}

impl Underway {
    /// Begins these workloads, by name, at the fabric's present time.
    ///
    /// # Errors
    /// [`LoadError::Lnet`] for a network that LNet refuses.
    pub fn start(plans: &BTreeMap<String, Plan>, fabric: &Fabric) -> Result<Self, LoadError> {
        let mut loads = BTreeMap::new();
        for (name, plan) in plans {
            let heard = plan.slots().into_iter();
            let heard = heard
                .map(|slot| (slot.clone(), fabric.carriages(slot).len()))
                .collect();
            let kind = match plan {
                Plan::Storage(plan) => Kind::Storage(Box::new(StorageLoad::start(plan, fabric)?)),
                Plan::Job(plan) => Kind::Job(Box::new(JobLoad::start(plan, fabric))),
            };
            loads.insert(name.clone(), Load { kind, heard });
        }
        Ok(Self {
            loads,
            away: BTreeSet::new(),
        })
    }

    /// Takes every workload to the fabric's present time.
    pub fn follow(&mut self, fabric: &Fabric) {
        for load in self.loads.values_mut() {
            load.follow(fabric, &self.away);
        }
    }

    /// A node goes down with everything on it.
    ///
    /// # Errors
    /// None of a workload that was begun; [`LoadError::Lnet`] is LNet's own.
    pub fn node_goes(&mut self, node: &NodeName, fabric: &Fabric) -> Result<(), LoadError> {
        self.follow(fabric);
        self.away.insert(node.clone());
        for load in self.loads.values_mut() {
            match &mut load.kind {
                Kind::Storage(storage) => storage.node_goes(node)?,
                Kind::Job(job) => job.node_goes(node, fabric.now()),
            }
        }
        Ok(())
    }

    /// It is back, with nothing remembered.
    ///
    /// # Errors
    /// As [`Underway::node_goes`].
    pub fn node_returns(&mut self, node: &NodeName, fabric: &Fabric) -> Result<(), LoadError> {
        self.away.remove(node);
        for load in self.loads.values_mut() {
            // What happened to its ports while it was away is what it finds.
            for (slot, heard) in load.heard.iter_mut().filter(|(slot, _)| slot.node == *node) {
                *heard = fabric.carriages(slot).len();
            }
        }
        self.follow(fabric);
        for load in self.loads.values_mut() {
            match &mut load.kind {
                Kind::Storage(storage) => storage.node_returns(node, fabric)?,
                // It ended with its rank, and what its rails carry matters to nobody any more.
                Kind::Job(_) => {}
            }
        }
        Ok(())
    }

    /// Does something to a workload, at the fabric's present time.
    ///
    /// # Errors
    /// [`LoadError`] if it is impossible; then nothing has changed.
    pub fn act(&mut self, deed: &LoadDeed, fabric: &Fabric) -> Result<(), LoadError> {
        let name = deed.workload();
        let load = self.loads.get_mut(name);
        let load = load.ok_or_else(|| LoadError::NoWorkload(name.to_owned()))?;
        load.follow(fabric, &self.away);
        match (&mut load.kind, deed) {
            (Kind::Storage(storage), LoadDeed::Rule { node, rule, .. }) => {
                storage.rule(name, node, rule)
            }
            (Kind::Storage(storage), LoadDeed::NoRules { node, .. }) => {
                storage.no_rules(name, node)
            }
            (Kind::Job(job), LoadDeed::Agent { node, deed, .. }) => job.agent(name, node, deed),
            (Kind::Job(_), _) => Err(LoadError::OtherKind(name.to_owned(), "storage")),
            (Kind::Storage(_), _) => Err(LoadError::OtherKind(name.to_owned(), "job")),
        }
    }

    /// How a workload fares.
    #[must_use]
    pub fn fared(&self, name: &str) -> Option<Fared> {
        Some(match &self.loads.get(name)?.kind {
            Kind::Storage(storage) => storage.fared(),
            Kind::Job(job) => job.fared(),
        })
    }

    /// How an interface on a port stands: as its own node sees it, or as `seen_from` sees it of its
    /// peer. `None` if the workload is no storage, or does not use the port.
    #[must_use]
    pub fn ni(&self, name: &str, seen_from: &NodeName, slot: &SlotRef) -> Option<NiFared> {
        match &self.loads.get(name)?.kind {
            Kind::Storage(storage) => storage.ni(seen_from, slot),
            Kind::Job(_) => None,
        }
    }

    /// The LNet under a storage workload.
    #[must_use]
    pub fn lnet(&self, name: &str) -> Option<&lnet::Lnet> {
        match &self.loads.get(name)?.kind {
            Kind::Storage(storage) => Some(storage.lnet()),
            Kind::Job(_) => None,
        }
    }
}

impl Load {
    fn follow(&mut self, fabric: &Fabric, away: &BTreeSet<NodeName>) {
        let mut changes: Vec<(CarriageChange, &SlotRef)> = Vec::new();
        let present = self.heard.iter_mut();
        for (slot, heard) in present.filter(|(slot, _)| !away.contains(&slot.node)) {
            let all = fabric.carriages(slot);
            changes.extend(all[*heard..].iter().map(|change| (*change, slot)));
            *heard = all.len();
        }
        // A stable sort: changes of one instant in the order of their ports, those of one port in
        // theirs.
        changes.sort_by_key(|(change, _)| change.at);
        for (change, slot) in changes {
            match &mut self.kind {
                Kind::Storage(storage) => storage.hear(slot, change),
                Kind::Job(job) => job.hear(slot, change),
            }
        }
        match &mut self.kind {
            Kind::Storage(storage) => storage.advance(fabric.now()),
            Kind::Job(job) => job.advance(fabric.now()),
        }
    }
}

/// What a port carries at the start; one that does not exist carries nothing.
fn carriage(fabric: &Fabric, slot: &SlotRef) -> Carriage {
    fabric.carriage(slot).unwrap_or(Carriage::Gone)
}
