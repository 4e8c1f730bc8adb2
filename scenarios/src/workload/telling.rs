//! Telling workloads: their nodes and ports are found in a world.

use lnet::{NiPlan, NodePlan, Patience, StoragePlan};
use mpib::{HostPlan, JobPlan, Pause, PerRail, Rail, RailPlan, SupBandwidth, Traffic};
use platforms::yaml::Place;
use platforms::{NodeName, PortRef};
use simfs::SimTime;

use super::{EdgesSaid, KindSaid, LnetSaid, MpibSaid, Name, WorkloadSaid};
use crate::error::Unfit;
use crate::ground::Ground;
use crate::reader::Source;
use crate::story::Plan;
use crate::telling::known_node;

/// What telling a workload needs to know.
struct Telling<'a> {
    source: &'a Source<'a>,
    ground: &'a Ground,
    place: Place,
}

impl WorkloadSaid {
    /// What is to run in this world.
    pub(crate) fn plan(&self, source: &Source<'_>, ground: &Ground) -> Result<Plan, Unfit> {
        let telling = Telling {
            source,
            ground,
            place: self.place,
        };
        Ok(match &self.kind {
            KindSaid::Lnet(said) => Plan::Storage(telling.storage(said)?),
            KindSaid::Mpib(said) => Plan::Job(telling.job(said)?),
        })
    }
}

impl Telling<'_> {
    fn node(&self, (name, place): &Name) -> Result<NodeName, Unfit> {
        known_node(self.source, self.ground, name, *place)?;
        Ok(NodeName::from(name.as_str()))
    }

    fn storage(&self, said: &LnetSaid) -> Result<StoragePlan, Unfit> {
        let clients = said.clients.iter().map(|name| self.node(name));
        let clients: Vec<NodeName> = clients.collect::<Result<_, _>>()?;
        let server = self.node(&said.server)?;
        if clients.contains(&server) {
            let what = format!("`{server}` cannot be its own client");
            return Err(self.source.wrong(said.server.1, what).into());
        }
        let nodes = clients.iter().chain([&server]).enumerate();
        let nodes = nodes.map(|(number, node)| self.lnet_node(number, node, said));
        Ok(StoragePlan {
            profile: said.profile,
            nodes: nodes.collect::<Result<_, _>>()?,
            clients,
            server,
            patience: Patience {
                write_interval: said.write_interval,
                ..Patience::default()
            },
        })
    }

    /// A node's first so many ports of the role that are in use at rest.
    fn lnet_node(
        &self,
        number: usize,
        node: &NodeName,
        said: &LnetSaid,
    ) -> Result<NodePlan, Unfit> {
        let ports = (0..self.ground.ports.len()).filter(|port| {
            self.ground.node_of(*port) == node && self.ground.ports[*port].has(said.role)
        });
        let ports: Vec<usize> = ports.take(said.nis as usize).collect();
        if ports.len() < said.nis as usize {
            return Err(Unfit::lacks(format!(
                "`nis: {}` is asked for, `{node}` has {} healthy ports of the role",
                said.nis,
                ports.len()
            )));
        }
        // Chosen: 250 nodes fill an octet, and an interface is the last one.
        let (high, low) = (1 + number / 250, 1 + number % 250);
        let ni = |(nth, port): (usize, usize)| NiPlan {
            slot: self.ground.slot(port),
            port: self.port_ref(port),
            nid: format!("10.{high}.{low}.{}@o2ib", nth + 1)
                .parse()
                .expect("a dotted address and a net are a NID"),
            interface: self.ground.ports[port].told("netdev"),
        };
        Ok(NodePlan {
            name: node.clone(),
            nis: ports.into_iter().enumerate().map(ni).collect(),
        })
    }

    fn job(&self, said: &MpibSaid) -> Result<JobPlan, Unfit> {
        let named: Vec<&Name> = match &said.edges {
            EdgesSaid::Ring(names) | EdgesSaid::Mesh(names) => names.iter().collect(),
            EdgesSaid::Pairs(pairs) => pairs.iter().flat_map(|(from, to)| [from, to]).collect(),
        };
        let mut hosts: Vec<HostPlan> = Vec::new();
        for name in named {
            if !hosts.iter().any(|host| host.name.as_str() == name.0) {
                hosts.push(self.host(name, said.agents)?);
            }
        }
        let place = |name: &str| hosts.iter().position(|host| host.name.as_str() == name);
        let place = |name: &Name| place(&name.0).expect("every name became a host");
        let count = hosts.len();
        let edges = match &said.edges {
            EdgesSaid::Ring(_) => (0..count).map(|at| (at, (at + 1) % count)).collect(),
            EdgesSaid::Mesh(_) => (0..count)
                .flat_map(|from| (from + 1..count).map(move |to| (from, to)))
                .collect(),
            EdgesSaid::Pairs(pairs) => pairs
                .iter()
                .map(|(from, to)| (place(from), place(to)))
                .collect(),
        };
        let pause = |(from, to): (SimTime, SimTime)| Pause { from, to };
        Ok(JobPlan {
            profile: said.profile,
            edges,
            traffic: Traffic {
                size: said.message,
                period: said.every,
                pauses: said.pause.map(pause).into_iter().collect(),
                ..Traffic::steady()
            },
            retries: said.retries,
            hosts,
        })
    }

    fn host(&self, name: &Name, agent: bool) -> Result<HostPlan, Unfit> {
        let node = self.node(name)?;
        Ok(HostPlan {
            rails: PerRail {
                sout: self.rail(&node, Rail::Sout)?,
                sup: self.rail(&node, Rail::Sup)?,
            },
            name: node,
            first_share: agent.then_some(SupBandwidth::MAX),
        })
    }

    fn rail(&self, node: &NodeName, rail: Rail) -> Result<RailPlan, Unfit> {
        let ports = self.ground.ports.iter().enumerate();
        let mut rails = ports.filter_map(|(at, port)| {
            let (its, address) = port.rail?;
            (its == rail && self.ground.node_of(at) == node).then_some((at, address))
        });
        let Some((port, address)) = rails.next() else {
            let what = format!(
                "`{node}` has no rail {rail} in the world `{}`",
                self.ground.world
            );
            return Err(self
                .source
                .wrong(self.place, what)
                .hint("the world's file says `rails: { sout: …, sup: … }`")
                .into());
        };
        let facts = &self.ground.ports[port].facts;
        let machine = &self.ground.nodes[self.ground.ports[port].node].machine;
        let rate = machine.functions[&facts.pci]
            .rdma
            .as_ref()
            .and_then(|rdma| rdma.ports.get(&facts.port))
            .map_or(0, |port| port.rate.gbps());
        Ok(RailPlan {
            slot: self.ground.slot(port),
            port: self.port_ref(port),
            address,
            layer: facts.layer,
            speed_mbps: rate.saturating_mul(1000),
        })
    }

    fn port_ref(&self, port: usize) -> PortRef {
        let facts = &self.ground.ports[port].facts;
        PortRef {
            node: self.ground.node_of(port).clone(),
            device: facts.device.clone(),
            port: facts.port,
        }
    }
}
