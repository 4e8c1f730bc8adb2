//! The workloads of a drill: storage over LNet and jobs over MPIB, on the fabric's ports.
//!
//! `lnet` and `mpib` implement their behaviour, `workloads` the port changes that they receive.
//! [`RunningWorkloads::node_goes`] and [`RunningWorkloads::node_returns`] report a rebooting node. Start at
//! [`RunningWorkloads::start`].

use std::{borrow::Cow, collections::BTreeMap};

use fabric::Fabric;
use lnet::{Lnet, LnetError, NiView, StorageWorkload};
use mpib::{AgentError, Job, JobWorkload};
use platforms::{NodeName, SlotRef};
use scenarios::{CounterOf, NiChange, Plan, WorkloadAction, WorkloadCounter};
use workloads::{Running, Workload, WorkloadStats};

const NO_WORKLOAD_HINT: &str = "`workloads:` names them";
const OTHER_KIND_HINT: &str = "rules are for `lnet`, agents and hints for `mpib`";
const NO_SUCH_NODE_HINT: &str = "name one of its nodes";
const NO_HINT_HINT: &str = "hints are for pairs that are connected, and a dead agent writes none";

/// Why a workload cannot be started or changed.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// LNet rejects it.
    #[error(transparent)]
    Lnet(#[from] LnetError),
    /// There is no workload of this name.
    #[error("no workload `{0}` is running\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoWorkload(String),
    /// The action is for another kind of workload.
    #[error("workload `{0}` is not {1}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    OtherKind(String, &'static str),
    /// The workload does not use this node.
    #[error("`{0}` does not use the node `{1}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchNode(String, NodeName),
    /// The agent is dead, or has no such pair.
    #[error("the agent of `{0}` on `{1}` gives no hint for this pair\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoHint(String, NodeName),
}

impl WorkloadError {
    /// A hint; `None` if the error needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Lnet(error) => error.hint(),
            Self::NoWorkload(_) => Some(NO_WORKLOAD_HINT.into()),
            Self::OtherKind(..) => Some(OTHER_KIND_HINT.into()),
            Self::NoSuchNode(..) => Some(NO_SUCH_NODE_HINT.into()),
            Self::NoHint(..) => Some(NO_HINT_HINT.into()),
        }
    }
}

/// The workloads of a world, by name.
#[derive(Clone, Debug, Default)]
pub struct RunningWorkloads {
    storage: Running<StorageWorkload>,
    jobs: Running<JobWorkload>,
}

impl RunningWorkloads {
    /// Starts these workloads at the fabric's present time.
    ///
    /// # Errors
    /// [`WorkloadError::Lnet`] for a network that LNet rejects.
    pub fn start(plans: &BTreeMap<String, Plan>, fabric: &Fabric) -> Result<Self, WorkloadError> {
        let (mut storage, mut jobs) = (BTreeMap::new(), BTreeMap::new());
        for (name, plan) in plans {
            let name = name.clone();
            match plan {
                Plan::Storage(plan) => {
                    storage.insert(name, StorageWorkload::start(plan, fabric)?);
                }
                Plan::Job(plan) => {
                    jobs.insert(name, JobWorkload::start(plan, fabric));
                }
            }
        }
        Ok(Self {
            storage: Running::start(storage, fabric),
            jobs: Running::start(jobs, fabric),
        })
    }

    /// Advances every workload to the fabric's present time.
    pub fn follow(&mut self, fabric: &Fabric) {
        self.storage.follow(fabric);
        self.jobs.follow(fabric);
    }

    /// The bytes that each port of a job has sent and received so far.
    #[must_use]
    pub fn carried(&self) -> BTreeMap<SlotRef, [u64; 2]> {
        let mut all: BTreeMap<SlotRef, [u64; 2]> = BTreeMap::new();
        for (slot, bytes) in self.jobs.all().flat_map(JobWorkload::carried) {
            let [sent, received] = all.entry(slot.clone()).or_default();
            *sent += bytes.sent.get();
            *received += bytes.received.get();
        }
        all
    }

    /// A node goes down with everything on it, at the fabric's present time.
    pub fn node_goes(&mut self, node: &NodeName, fabric: &Fabric) {
        self.storage.node_goes(node, fabric);
        self.jobs.node_goes(node, fabric);
    }

    /// A node is back, with no state kept.
    pub fn node_returns(&mut self, node: &NodeName, fabric: &Fabric) {
        self.storage.node_returns(node, fabric);
        self.jobs.node_returns(node, fabric);
    }

    /// Performs an action on a workload, at the fabric's present time.
    ///
    /// # Errors
    /// [`WorkloadError`] if it is impossible; then nothing has changed.
    pub fn act(&mut self, action: &WorkloadAction, fabric: &Fabric) -> Result<(), WorkloadError> {
        let name = action.workload();
        match action {
            WorkloadAction::Rule { node, rule, .. } => {
                let lnet = self.lnet_mut(name, node, fabric)?;
                Ok(lnet.add_rule(node, (**rule).clone())?)
            }
            WorkloadAction::NoRules { node, .. } => {
                Ok(self.lnet_mut(name, node, fabric)?.clear_rules(node)?)
            }
            WorkloadAction::LnetParam {
                node, param, value, ..
            } => {
                let lnet = self.lnet_mut(name, node, fabric)?;
                Ok(lnet.set(node, *param, *value)?)
            }
            WorkloadAction::LnetNi {
                node,
                side,
                nid,
                change,
                ..
            } => {
                let lnet = self.lnet_mut(name, node, fabric)?;
                let changed = match change {
                    NiChange::Health(value) => lnet.set_health(node, *side, nid, *value),
                    NiChange::Priority(value) => lnet.set_priority(node, nid, *value),
                };
                Ok(changed?)
            }
            WorkloadAction::LnetSend { request, .. } => {
                let lnet = self.lnet_mut(name, &request.node, fabric)?;
                lnet.send(request.clone())?;
                Ok(())
            }
            WorkloadAction::Agent { node, action, .. } => {
                let Some(job) = self.jobs.get_mut(name, fabric) else {
                    return Err(self.no_such(name, "job"));
                };
                job.agent(node, action).map_err(|error| match error {
                    AgentError::NoSuchHost(node) => {
                        WorkloadError::NoSuchNode(name.to_owned(), node)
                    }
                    AgentError::NoHint => WorkloadError::NoHint(name.to_owned(), node.clone()),
                })
            }
        }
    }

    /// The statistics of a workload; `None` if there is none of this name.
    #[must_use]
    pub fn stats(&self, name: &str) -> Option<WorkloadStats> {
        let storage = self.storage.get(name).map(Workload::stats);
        storage.or_else(|| self.jobs.get(name).map(Workload::stats))
    }

    /// The interface on a port as its own node sees it, or as the peer `seen_from` sees it. `None` if the workload is
    /// not storage, or does not use the port.
    #[must_use]
    pub fn ni(&self, name: &str, seen_from: &NodeName, slot: &SlotRef) -> Option<NiView> {
        self.storage.get(name)?.ni(seen_from, slot)
    }

    /// The value of a counter; `None` if there is no such workload or interface, or LNet is not loaded on the node.
    #[must_use]
    pub fn count(&self, counter: &WorkloadCounter) -> Option<u64> {
        let WorkloadCounter { workload, node, of } = counter;
        match of {
            CounterOf::Lnet(name) => {
                let node = self.lnet(workload)?.node(node)?;
                let rows = node.statistics().rows();
                let row = rows.into_iter().find(|row| row.0 == name)?;
                node.is_loaded().then_some(row.1)
            }
            CounterOf::LnetNi(slot, name) => {
                let rows = self.storage.get(workload)?.ni_stats(node, slot)?.rows();
                let row = rows.into_iter().find(|row| row.0 == *name)?;
                Some(row.1)
            }
            CounterOf::LnetUlp(event, result) => {
                let lnet = self.lnet(workload)?;
                lnet.node(node)?;
                Some(lnet.told(node, *event, *result))
            }
            CounterOf::LnetRoute(gateway) => {
                let node = self.lnet(workload)?.node(node)?;
                let mut routes = node.routes().iter();
                let route = routes.find(|route| route.spec.gateway == *gateway)?;
                let up = node.is_route_up(route);
                node.is_loaded().then_some(u64::from(up))
            }
            CounterOf::Mpib(counter, to) => {
                let job = self.job(workload)?;
                let host = |node: &NodeName| job.net().host_named(node.as_str());
                let to = to.as_ref().map(host);
                Some(job.count(host(node)?, to.flatten(), *counter))
            }
            CounterOf::MpibLog(text) => {
                let job = self.job(workload)?;
                Some(job.logged(job.net().host_named(node.as_str())?, text))
            }
        }
    }

    /// The LNet of a storage workload.
    #[must_use]
    pub fn lnet(&self, name: &str) -> Option<&Lnet> {
        Some(self.storage.get(name)?.lnet())
    }

    /// The job of a workload over MPIB.
    #[must_use]
    pub fn job(&self, name: &str) -> Option<&Job> {
        Some(self.jobs.get(name)?.job())
    }

    fn lnet_mut(
        &mut self,
        name: &str,
        node: &NodeName,
        fabric: &Fabric,
    ) -> Result<&mut Lnet, WorkloadError> {
        if self.storage.get(name).is_none() {
            return Err(self.no_such(name, "storage"));
        }
        let storage = self
            .storage
            .get_mut(name, fabric)
            .expect("it was just found");
        match storage.lnet().node(node) {
            Some(_) => Ok(storage.lnet_mut()),
            None => Err(WorkloadError::NoSuchNode(name.to_owned(), node.clone())),
        }
    }

    /// The error for a workload that does not exist or is of another kind.
    fn no_such(&self, name: &str, kind: &'static str) -> WorkloadError {
        if self.stats(name).is_some() {
            WorkloadError::OtherKind(name.to_owned(), kind)
        } else {
            WorkloadError::NoWorkload(name.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an error says behind `hint:` is its hint.
    #[test]
    fn an_error_ends_with_its_hint() {
        let name = || "storage".to_owned();
        let errors = [
            WorkloadError::NoWorkload(name()),
            WorkloadError::OtherKind(name(), "job"),
            WorkloadError::NoSuchNode(name(), NodeName::from("vm9")),
            WorkloadError::NoHint(name(), NodeName::from("vm1")),
        ];
        for error in errors {
            let text = error.to_string();
            let hint = text.split_once("\nhint: ").map(|(_, hint)| hint);
            assert_eq!(error.hint().as_deref(), hint, "{text}");
        }
    }
}
