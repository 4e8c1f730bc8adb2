//! A collective job as a [`Workload`], on the ports of its rails.

use std::collections::BTreeMap;

use fabric::{Carriage, CarriageChange, Fabric};
use platforms::{NodeName, SlotRef};
use simfs::SimTime;

use workloads::{Workload, WorkloadCause, WorkloadStats};

use super::{
    Agent, AgentAction, Death, Edge, FailureCause, Gid, Host, HostId, HostPlan, Job, JobPlan, Net,
    NicBytes, PerRail, Rail, RailChange, RailState, Settings, ack_timeout,
};

/// Why an agent's action is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// The job has no host of this name.
    #[error("the job has no host `{0}`")]
    NoSuchHost(NodeName),
    /// The agent is dead, or has no such pair.
    #[error("the agent gives no hint for this pair")]
    NoHint,
}

/// A job on a fabric's ports.
#[derive(Clone, Debug)]
pub struct JobWorkload {
    job: Job,
    ports: BTreeMap<SlotRef, (HostId, Rail)>,
    hosts: BTreeMap<NodeName, HostId>,
}

impl JobWorkload {
    /// Starts at the fabric's present time.
    #[must_use]
    pub fn start(plan: &JobPlan, fabric: &Fabric) -> Self {
        let settings = Settings {
            retries: plan.retries,
            ack_timeout: ack_timeout(plan.timeout_exponent),
            cts_queue_depth: plan.cts_queue_depth,
            keeps_posts: false,
            ..Settings::new(plan.profile)
        };
        let mut net = Net::new(plan.hosts.iter().map(host).collect(), settings);
        let mut ports = BTreeMap::new();
        let mut hosts = BTreeMap::new();
        for (id, host) in (0..).map(HostId::new).zip(&plan.hosts) {
            hosts.insert(host.name.clone(), id);
            for rail in Rail::BOTH {
                ports.insert(host.rails[rail].slot.clone(), (id, rail));
            }
        }
        net.advance(fabric.now());
        for (slot, (host, rail)) in &ports {
            let state = state(fabric.carriage(slot).unwrap_or(Carriage::Gone));
            if state != RailState::Up {
                net.notify(RailChange {
                    at: fabric.now(),
                    host: *host,
                    rail: *rail,
                    state,
                });
            }
        }
        let ids: Vec<HostId> = hosts_in_order(plan.hosts.len());
        let edges = plan.edges.iter().map(|(from, to)| Edge {
            from: ids[*from],
            to: ids[*to],
        });
        let edges: Vec<Edge> = edges.collect();
        Self {
            job: Job::start(net, &edges, plan.traffic.clone()),
            ports,
            hosts,
        }
    }

    /// The job.
    #[must_use]
    pub const fn job(&self) -> &Job {
        &self.job
    }

    /// The bytes that each of its ports has sent and received so far.
    pub fn carried(&self) -> impl Iterator<Item = (&SlotRef, NicBytes)> {
        let ports = self.ports.iter();
        ports.map(|(slot, (host, rail))| (slot, self.job.net().nic(*host, *rail)))
    }

    /// Performs an action of a host's agent.
    ///
    /// # Errors
    /// [`AgentError`] if it is impossible; then nothing has changed.
    pub fn agent(&mut self, node: &NodeName, action: &AgentAction) -> Result<(), AgentError> {
        let host = |node: &NodeName| {
            let host = self.hosts.get(node).copied();
            host.ok_or_else(|| AgentError::NoSuchHost(node.clone()))
        };
        let from = host(node)?;
        let action = match action {
            AgentAction::Hint { to, share } => AgentAction::Hint {
                to: host(to)?,
                share: *share,
            },
            AgentAction::DiesWhileWriting { to } => AgentAction::DiesWhileWriting { to: host(to)? },
            AgentAction::Dies => AgentAction::Dies,
        };
        let done = self.job.agent(from, action);
        if done {
            Ok(())
        } else {
            Err(AgentError::NoHint)
        }
    }
}

impl Workload for JobWorkload {
    fn ports(&self) -> impl Iterator<Item = &SlotRef> {
        self.ports.keys()
    }

    fn advance(&mut self, to: SimTime) {
        self.job.advance(to);
    }

    fn port_changed(&mut self, slot: &SlotRef, change: CarriageChange) {
        let (host, rail) = self.ports[slot];
        self.job.notify(RailChange {
            at: change.at,
            host,
            rail,
            state: state(change.carriage),
        });
    }

    fn node_goes(&mut self, node: &NodeName, at: SimTime) {
        let Some(host) = self.hosts.get(node) else {
            return;
        };
        if self.job.ranks().any(|rank| rank == *host) {
            self.job.lose_rank(*host, at);
        }
    }

    /// The job ended with its rank, so its rails do not matter any more.
    fn node_returns(&mut self, _: &NodeName, _: &Fabric) {}

    fn stats(&self) -> WorkloadStats {
        let failure = self.job.failure();
        WorkloadStats {
            outcome: self.job.outcome(),
            failed_at: failure.map(|failure| failure.at),
            cause: failure.map(|failure| cause(failure.cause)),
            errors: u64::from(failure.is_some()),
            retries: self.job.stalls().count() as u64,
            done: self.job.edges().map(|(.., messages)| messages).sum(),
        }
    }
}

fn hosts_in_order(count: usize) -> Vec<HostId> {
    (0..).map(HostId::new).take(count).collect()
}

fn host(plan: &HostPlan) -> Host {
    let addresses = PerRail {
        sout: plan.rails.sout.address,
        sup: plan.rails.sup.address,
    };
    let mut host = Host::new(plan.name.as_str(), addresses.sout, addresses.sup);
    let mut environment = host.environment.clone();
    for (name, value) in &plan.environment {
        environment = environment.with(name, value);
    }
    for (rail, variable) in [(Rail::Sout, "MPIB_HCA_SOUT"), (Rail::Sup, "MPIB_HCA_SUP")] {
        let port = &plan.rails[rail];
        let nic = &mut host.nics[rail];
        nic.device = port.port.device.clone();
        nic.gid = Gid::of_ipv4(port.address);
        nic.link_layer = port.layer;
        nic.speed_mbps = port.speed_mbps;
        environment = environment.with(variable, port.port.device.as_str());
    }
    if let Some(gid) = plan.sout_gid {
        host.nics.sout.gid = gid;
    }
    host.environment = environment;
    host.agent = plan.first_share.map_or_else(Agent::missing, Agent::running);
    host
}

fn state(carriage: Carriage) -> RailState {
    match carriage {
        Carriage::Data => RailState::Up,
        Carriage::Nothing => RailState::Down,
        Carriage::Gone => RailState::Gone,
    }
}

fn cause(cause: FailureCause) -> WorkloadCause {
    match cause {
        FailureCause::Connect(_) => WorkloadCause::NoConnection,
        FailureCause::Network(Death::RetryExceeded { .. }) => WorkloadCause::RetryExceeded,
        FailureCause::Network(Death::QueueFull { .. }) => WorkloadCause::QueueFull,
        FailureCause::Network(Death::DeviceGone { .. }) => WorkloadCause::DeviceGone,
        FailureCause::RankLost(_) => WorkloadCause::RankLost,
        FailureCause::Hung => WorkloadCause::Hung,
    }
}
