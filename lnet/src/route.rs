//! Routes to nets that a node is not on, and when they are up.

use super::{
    message::NiWord,
    nid::{NetName, Nid},
    node::Node,
    params::Param,
    peer::Peer,
    trace::Traced,
    workload_event::Log,
};

/// The configuration of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteSpec {
    /// The remote net.
    pub net: NetName,
    /// The router, by its NID on a net that the node is on.
    pub gateway: Nid,
    /// A lower value is preferred.
    pub priority: u32,
    /// Number of routers on the way; fewer are preferred.
    pub hops: u32,
}

/// A route, and how often it was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its configuration.
    pub spec: RouteSpec,
    /// How often it was selected.
    pub sequence: u64,
    /// Whether it was up when the trace last told of it.
    told_up: bool,
}

impl Route {
    pub(crate) fn new(spec: RouteSpec) -> Self {
        Self {
            spec,
            sequence: 0,
            told_up: true,
        }
    }
}

impl Node {
    /// Whether a route is up. The gateway must have answered its last ping. If both discover, it
    /// must also have an interface on one of the node's nets that it has not reported down and,
    /// unless `avoid_asym_router_failure` is 0, one on the far net of a single hop. A peer's health
    /// has no effect here.
    #[must_use]
    pub fn is_route_up(&self, route: &Route) -> bool {
        let Some(gateway) = self.peer(&route.spec.gateway) else {
            return false;
        };
        if !gateway.alive {
            return false;
        }
        if !gateway.multi_rail || !self.discovers() {
            return true;
        }
        let near = gateway
            .nis
            .iter()
            .any(|ni| !ni.reported_down && self.nets.contains_key(ni.nid.net()));
        let asked = self.params.get(Param::AvoidAsymRouterFailure) == 1 && route.spec.hops <= 1;
        near && (!asked || far_side_is_up(gateway, &route.spec.net))
    }

    /// Adds to the trace which routes went up or down since the last call.
    pub(crate) fn trace_routes(&mut self, log: &mut Log) {
        for at in 0..self.routes.len() {
            let up = self.is_route_up(&self.routes[at]);
            let route = &mut self.routes[at];
            if up != std::mem::replace(&mut route.told_up, up) {
                let (net, gateway) = (route.spec.net.clone(), route.spec.gateway.clone());
                log.note(&self.name, || Traced::Route { net, gateway, up });
            }
        }
    }

    /// Records the status of a peer's interfaces; returns those reported down, which the caller
    /// blames.
    pub(crate) fn note_ping_buffer(&mut self, words: &[NiWord]) -> Vec<Nid> {
        let mut down = Vec::new();
        for word in words {
            if let Some(ni) = self.peer_ni_mut(&word.nid) {
                ni.reported_down = !word.up;
                if !word.up {
                    down.push(word.nid.clone());
                }
            }
        }
        down
    }
}

fn far_side_is_up(gateway: &Peer, net: &NetName) -> bool {
    gateway
        .nis
        .iter()
        .any(|ni| ni.nid.net() == net && !ni.reported_down)
}
