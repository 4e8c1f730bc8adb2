//! Resolves workloads in a world: their nodes and ports. `storage_resolver` does so for LNet.

use files::Place;
use mpib::{HostPlan, JobPlan, JobTraffic, Pause, PerRail, Rail, RailPlan, SupBandwidth};
use platforms::{NodeName, PortRef};
use simfs::SimTime;

use super::{EdgesSpec, KindSpec, MpibSpec, Name, WorkloadSpec};
use crate::error::Unfit;
use crate::reader::Source;
use crate::resolve::known_node;
use crate::resolved_world::ResolvedWorld;
use crate::story::Plan;

/// Context for resolving a workload.
pub(super) struct WorkloadResolver<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) resolved: &'a ResolvedWorld,
    place: Place,
}

impl WorkloadSpec {
    /// The plan of this workload in this world.
    pub(crate) fn plan(
        &self,
        source: &Source<'_>,
        resolved: &ResolvedWorld,
    ) -> Result<Plan, Unfit> {
        let resolver = WorkloadResolver {
            source,
            resolved,
            place: self.place,
        };
        Ok(match &self.kind {
            KindSpec::Lnet(spec) => Plan::Storage(resolver.storage(spec)?),
            KindSpec::Mpib(spec) => Plan::Job(resolver.job(spec)?),
        })
    }
}

impl WorkloadResolver<'_> {
    pub(super) fn node(&self, (name, place): &Name) -> Result<NodeName, Unfit> {
        known_node(self.source, self.resolved, name, *place)?;
        Ok(NodeName::from(name.as_str()))
    }

    fn job(&self, spec: &MpibSpec) -> Result<JobPlan, Unfit> {
        let named: Vec<&Name> = match &spec.edges {
            EdgesSpec::Ring(names) | EdgesSpec::Mesh(names) => names.iter().collect(),
            EdgesSpec::Pairs(pairs) => pairs.iter().flat_map(|(from, to)| [from, to]).collect(),
        };
        let mut hosts: Vec<HostPlan> = Vec::new();
        for name in named {
            if !hosts.iter().any(|host| host.name.as_str() == name.0) {
                hosts.push(self.host(name, spec)?);
            }
        }
        let named = spec.environment_of.iter().map(|(name, _)| name);
        let named = named.chain(spec.gids.iter().map(|(name, _)| name));
        for (name, place) in named {
            if !hosts.iter().any(|host| host.name.as_str() == name) {
                let known = hosts.iter().map(|host| host.name.as_str());
                return Err(self
                    .source
                    .unknown(*place, "node of this job", name, known)
                    .into());
            }
        }
        let place = |name: &str| hosts.iter().position(|host| host.name.as_str() == name);
        let place = |name: &Name| place(&name.0).expect("every name became a host");
        let count = hosts.len();
        let edges = match &spec.edges {
            EdgesSpec::Ring(_) => (0..count).map(|at| (at, (at + 1) % count)).collect(),
            EdgesSpec::Mesh(_) => (0..count)
                .flat_map(|from| (from + 1..count).map(move |to| (from, to)))
                .collect(),
            EdgesSpec::Pairs(pairs) => pairs
                .iter()
                .map(|(from, to)| (place(from), place(to)))
                .collect(),
        };
        let pause = |(from, to): (SimTime, SimTime)| Pause { from, to };
        Ok(JobPlan {
            profile: spec.profile,
            edges,
            traffic: JobTraffic {
                size: spec.message,
                period: spec.every,
                pauses: spec.pause.map(pause).into_iter().collect(),
                in_flight: spec.in_flight,
                dependent: spec.dependent,
                ..JobTraffic::steady()
            },
            retries: spec.retries,
            timeout_exponent: spec.timeout_exponent,
            cts_queue_depth: spec.cts_queue,
            hosts,
        })
    }

    fn host(&self, name: &Name, spec: &MpibSpec) -> Result<HostPlan, Unfit> {
        let node = self.node(name)?;
        let own = spec.environment_of.iter();
        let own = own.filter(|((of, _), _)| *of == name.0);
        let own = own.flat_map(|(_, variables)| variables);
        Ok(HostPlan {
            rails: PerRail {
                sout: self.rail(&node, Rail::Sout)?,
                sup: self.rail(&node, Rail::Sup)?,
            },
            sout_gid: spec
                .gids
                .iter()
                .find(|((of, _), _)| *of == name.0)
                .map(|(_, gid)| *gid),
            name: node,
            environment: spec.environment.iter().chain(own).cloned().collect(),
            first_share: spec.agents.then_some(SupBandwidth::MAX),
        })
    }

    fn rail(&self, node: &NodeName, rail: Rail) -> Result<RailPlan, Unfit> {
        let ports = self.resolved.ports.iter().enumerate();
        let mut rails = ports.filter_map(|(at, port)| {
            let (its, address) = port.rail?;
            (its == rail && self.resolved.node_of(at) == node).then_some((at, address))
        });
        let Some((port, address)) = rails.next() else {
            let what = format!(
                "`{node}` has no rail {rail} in the world `{}`",
                self.resolved.world
            );
            return Err(self
                .source
                .wrong(self.place, what)
                .hint("the world's file says `rails: { sout: …, sup: … }`")
                .into());
        };
        let facts = &self.resolved.ports[port].facts;
        let machine = &self.resolved.nodes[self.resolved.ports[port].node].machine;
        let rate = machine.functions[&facts.pci]
            .rdma
            .as_ref()
            .and_then(|rdma| rdma.ports.get(&facts.port))
            .map_or(0, |port| port.rate.gbps());
        Ok(RailPlan {
            slot: self.resolved.slot(port),
            port: self.port_ref(port),
            address,
            layer: facts.layer,
            speed_mbps: rate.saturating_mul(1000),
        })
    }

    pub(super) fn port_ref(&self, port: usize) -> PortRef {
        let facts = &self.resolved.ports[port].facts;
        PortRef {
            node: self.resolved.node_of(port).clone(),
            device: facts.device.clone(),
            port: facts.port,
        }
    }
}
