//! Resolves a workload `lnet` in a world: its nodes, their interfaces, and the routes between them.

use lnet::{NetName, NiPlan, Nid, NodePlan, Patience, RouteSpec, StoragePlan};
use platforms::NodeName;

use super::Name;
use super::routing::{NEAR, RouteLine};
use super::storage::{DiscoverySpec, LnetSpec};
use super::workload_resolver::WorkloadResolver;
use crate::error::Unfit;

/// The net of the interfaces that are asked for by `tcp`.
const TCP: &str = "tcp";

/// A node of the workload, with the nets that it is on.
struct Member<'a> {
    node: &'a NodeName,
    /// The net of each of its interfaces, in order.
    nets: Vec<NetName>,
    routing: bool,
}

impl WorkloadResolver<'_> {
    pub(super) fn storage(&self, spec: &LnetSpec) -> Result<StoragePlan, Unfit> {
        let clients = spec.clients.iter().map(|name| self.node(name));
        let clients: Vec<NodeName> = clients.collect::<Result<_, _>>()?;
        let server = self.node(&spec.server)?;
        if clients.contains(&server) {
            let what = format!("`{server}` cannot be its own client");
            let hint = "what a node sends to itself passes no port, so no fault reaches it; `lnet_get` to one of its own NIDs sends one such message";
            return Err(self.source.wrong(spec.server.1, what).hint(hint).into());
        }
        let routers = self.routers(spec, &clients, &server)?;
        let (near, far) = sides(spec);
        let rails = |net: &NetName| vec![net.clone(); spec.nis as usize];
        let tcp = || vec![net(TCP); spec.tcp.0 as usize];
        let end = |node, side: &NetName| Member {
            node,
            nets: [rails(side), tcp()].concat(),
            routing: false,
        };
        let writers = clients.iter().map(|node| end(node, &near));
        let router = |node| Member {
            node,
            nets: [rails(&near), rails(&far)].concat(),
            routing: true,
        };
        let members = writers
            .chain([end(&server, &far)])
            .chain(routers.iter().map(router));
        let nodes = members.enumerate();
        let nodes = nodes.map(|(number, member)| self.lnet_node(number, &member, spec));
        let mut nodes: Vec<NodePlan> = nodes.collect::<Result<_, _>>()?;
        self.add_routes(spec, &mut nodes)?;
        self.set_discovery(spec, &mut nodes)?;
        Ok(StoragePlan {
            profile: spec.profile,
            nodes,
            clients,
            server,
            patience: Patience {
                write_interval: spec.write_interval,
                ..Patience::default()
            },
            traced: false,
        })
    }

    /// The routers, none of which is a client or the server.
    fn routers(
        &self,
        spec: &LnetSpec,
        clients: &[NodeName],
        server: &NodeName,
    ) -> Result<Vec<NodeName>, Unfit> {
        let named = &spec.routing.routers;
        if !named.is_empty() && spec.tcp.0 > 0 {
            let wrong = self.source.wrong(spec.tcp.1, "`tcp` beside `routers`");
            let hint = "`tcp` joins clients and server on a net of their own, past the routers: leave it out, or the routers";
            return Err(wrong.hint(hint).into());
        }
        let router = |name: &Name| {
            let node = self.node(name)?;
            if node == *server || clients.contains(&node) {
                let what = format!("`{node}` is a router and a client or the server");
                return Err(self.source.wrong(name.1, what).into());
            }
            Ok(node)
        };
        named.iter().map(router).collect()
    }

    /// A node's first ports of the role that are in use at rest, as interfaces.
    fn lnet_node(
        &self,
        number: usize,
        member: &Member<'_>,
        spec: &LnetSpec,
    ) -> Result<NodePlan, Unfit> {
        let Member { node, nets, .. } = member;
        let ports = (0..self.resolved.ports.len()).filter(|port| {
            self.resolved.node_of(*port) == *node && self.resolved.ports[*port].has(spec.role)
        });
        let ports: Vec<usize> = ports.take(nets.len()).collect();
        if ports.len() < nets.len() {
            return Err(Unfit::lacks(format!(
                "`{node}` needs {} interfaces, and has {} healthy ports of the role",
                nets.len(),
                ports.len()
            )));
        }
        // Chosen: 250 nodes fill an octet, and an interface is the last one.
        let (high, low) = (1 + number / 250, 1 + number % 250);
        let ni = |(nth, (port, net)): (usize, (usize, &NetName))| NiPlan {
            slot: self.resolved.slot(port),
            port: self.port_ref(port),
            nid: format!("10.{high}.{low}.{}@{net}", nth + 1)
                .parse()
                .expect("a dotted address and a net are a NID"),
            interface: self.resolved.ports[port].field_text("netdev"),
        };
        Ok(NodePlan {
            name: (*node).clone(),
            nis: ports.into_iter().zip(nets).enumerate().map(ni).collect(),
            routing: member.routing,
            discovery: true,
            routes: Vec::new(),
        })
    }

    /// The stated routes, or one by each router at each other node.
    fn add_routes(&self, spec: &LnetSpec, nodes: &mut [NodePlan]) -> Result<(), Unfit> {
        let by_default = || {
            let ends = spec.clients.iter().chain([&spec.server]);
            let route = |gateway: &Name| RouteLine {
                nodes: ends.clone().cloned().collect(),
                gateway: gateway.clone(),
                priority: 0,
                hops: 1,
            };
            spec.routing.routers.iter().map(route).collect()
        };
        let lines = spec.routing.routes.clone().unwrap_or_else(by_default);
        let (near, far) = sides(spec);
        for line in &lines {
            let routers = nodes.iter().filter(|node| node.routing);
            let names = routers.clone().map(|node| node.name.as_str());
            let Some(router) = routers
                .clone()
                .find(|node| node.name.as_str() == line.gateway.0)
            else {
                let (name, place) = &line.gateway;
                return Err(self.source.unknown(*place, "router", name, names).into());
            };
            let nids: Vec<Nid> = router.nis.iter().map(|ni| ni.nid.clone()).collect();
            for (name, place) in &line.nodes {
                let ends = nodes.iter_mut().filter(|node| !node.routing);
                let Some(end) = ends.into_iter().find(|node| node.name.as_str() == name) else {
                    if spec
                        .routing
                        .routers
                        .iter()
                        .any(|(router, _)| router == name)
                    {
                        let what = format!("`{name}` is a router and has no route");
                        let hint = "a router is on both nets, so it needs none, and what two routers would send each other in a circle cannot be stated";
                        return Err(self.source.wrong(*place, what).hint(hint).into());
                    }
                    let ends = spec.clients.iter().chain([&spec.server]);
                    let ends = ends.map(|(name, _)| name.as_str());
                    let what = "client or server";
                    return Err(self.source.unknown(*place, what, name, ends).into());
                };
                let (own, other) = if *name == spec.server.0 {
                    (&far, &near)
                } else {
                    (&near, &far)
                };
                let gateway = nids.iter().find(|nid| nid.net() == own);
                let gateway = gateway.expect("a router is on both nets").clone();
                if end.routes.iter().any(|route| route.gateway == gateway) {
                    let what = format!("`{name}` has two routes by `{}`", line.gateway.0);
                    return Err(self.source.wrong(line.gateway.1, what).into());
                }
                end.routes.push(RouteSpec {
                    net: other.clone(),
                    gateway,
                    priority: line.priority,
                    hops: line.hops,
                });
            }
        }
        Ok(())
    }

    fn set_discovery(&self, spec: &LnetSpec, nodes: &mut [NodePlan]) -> Result<(), Unfit> {
        match &spec.discovery {
            DiscoverySpec::On => {}
            DiscoverySpec::Off => {
                for node in nodes {
                    node.discovery = false;
                }
            }
            DiscoverySpec::OffOn(names) => {
                for (name, place) in names {
                    let known: Vec<String> = nodes.iter().map(|it| it.name.to_string()).collect();
                    let Some(node) = nodes.iter_mut().find(|node| node.name.as_str() == name)
                    else {
                        let known = known.iter().map(String::as_str);
                        let what = "node of this workload";
                        return Err(self.source.unknown(*place, what, name, known).into());
                    };
                    node.discovery = false;
                }
            }
        }
        Ok(())
    }
}

/// The nets of the clients and of the server: one, unless there are routers.
fn sides(spec: &LnetSpec) -> (NetName, NetName) {
    let near = net(NEAR);
    let far = if spec.routing.routers.is_empty() {
        near.clone()
    } else {
        spec.routing.far.clone()
    };
    (near, far)
}

fn net(name: &str) -> NetName {
    name.parse().expect("it is the name of a net")
}
