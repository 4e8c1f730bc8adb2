//! Resolves workloads in a world: their nodes and ports.

use lnet::{NiPlan, NodePlan, Patience, StoragePlan};
use mpib::{HostPlan, JobPlan, Pause, PerRail, Rail, RailPlan, SupBandwidth, Traffic};
use platforms::yaml::Place;
use platforms::{NodeName, PortRef};
use simfs::SimTime;

use super::{EdgesSpec, KindSpec, LnetSpec, MpibSpec, Name, WorkloadSpec};
use crate::error::Unfit;
use crate::reader::Source;
use crate::resolve::known_node;
use crate::resolved_world::ResolvedWorld;
use crate::story::Plan;

/// Context for resolving a workload.
struct WorkloadResolver<'a> {
    source: &'a Source<'a>,
    resolved: &'a ResolvedWorld,
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
    fn node(&self, (name, place): &Name) -> Result<NodeName, Unfit> {
        known_node(self.source, self.resolved, name, *place)?;
        Ok(NodeName::from(name.as_str()))
    }

    fn storage(&self, spec: &LnetSpec) -> Result<StoragePlan, Unfit> {
        let clients = spec.clients.iter().map(|name| self.node(name));
        let clients: Vec<NodeName> = clients.collect::<Result<_, _>>()?;
        let server = self.node(&spec.server)?;
        if clients.contains(&server) {
            let what = format!("`{server}` cannot be its own client");
            return Err(self.source.wrong(spec.server.1, what).into());
        }
        let nodes = clients.iter().chain([&server]).enumerate();
        let nodes = nodes.map(|(number, node)| self.lnet_node(number, node, spec));
        Ok(StoragePlan {
            profile: spec.profile,
            nodes: nodes.collect::<Result<_, _>>()?,
            clients,
            server,
            patience: Patience {
                write_interval: spec.write_interval,
                ..Patience::default()
            },
            traced: false,
        })
    }

    /// A node's first ports of the role that are in use at rest, as interfaces.
    fn lnet_node(
        &self,
        number: usize,
        node: &NodeName,
        spec: &LnetSpec,
    ) -> Result<NodePlan, Unfit> {
        let ports = (0..self.resolved.ports.len()).filter(|port| {
            self.resolved.node_of(*port) == node && self.resolved.ports[*port].has(spec.role)
        });
        let ports: Vec<usize> = ports.take(spec.nis as usize).collect();
        if ports.len() < spec.nis as usize {
            return Err(Unfit::lacks(format!(
                "`nis: {}` is asked for, `{node}` has {} healthy ports of the role",
                spec.nis,
                ports.len()
            )));
        }
        // Chosen: 250 nodes fill an octet, and an interface is the last one.
        let (high, low) = (1 + number / 250, 1 + number % 250);
        let ni = |(nth, port): (usize, usize)| NiPlan {
            slot: self.resolved.slot(port),
            port: self.port_ref(port),
            nid: format!("10.{high}.{low}.{}@o2ib", nth + 1)
                .parse()
                .expect("a dotted address and a net are a NID"),
            interface: self.resolved.ports[port].field_text("netdev"),
        };
        Ok(NodePlan {
            name: node.clone(),
            nis: ports.into_iter().enumerate().map(ni).collect(),
        })
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
            traffic: Traffic {
                size: spec.message,
                period: spec.every,
                pauses: spec.pause.map(pause).into_iter().collect(),
                ..Traffic::steady()
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

    fn port_ref(&self, port: usize) -> PortRef {
        let facts = &self.resolved.ports[port].facts;
        PortRef {
            node: self.resolved.node_of(port).clone(),
            device: facts.device.clone(),
            port: facts.port,
        }
    }
}
