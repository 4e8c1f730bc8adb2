//! The worlds of the cases, by name.

use lnet::{
    FaultEffect, FaultRule, Lnet, LnetProfile, NiSpec, Nid, NidPattern, NodeSpec, Notice, Pace,
    RouteSpec, Timing, Wire,
};
use platforms::{DeviceName, NodeName, PortNumber, PortRef};

/// A node's name.
pub(crate) fn name(text: &str) -> NodeName {
    text.into()
}

/// The NID of a short name such as `a1` on a net.
pub(crate) fn nid(address: &str, net: &str) -> Nid {
    format!("{address}@{net}").parse().unwrap()
}

/// The port of an interface: the device `mlx5_<address>` of its node.
pub(crate) fn port(node: &str, address: &str) -> PortRef {
    PortRef {
        node: name(node),
        device: DeviceName(format!("mlx5_{address}")),
        port: PortNumber(1),
    }
}

/// A node with interfaces that are given as `(address, net)`.
pub(crate) fn node(node: &str, profile: LnetProfile, nis: &[(&str, &str)]) -> NodeSpec {
    let nis = nis.iter().map(|(address, net)| {
        let interface = if net.starts_with("tcp") {
            "eth0"
        } else {
            "ib0"
        };
        NiSpec::new(nid(address, net), port(node, address), interface)
    });
    NodeSpec {
        name: name(node),
        profile,
        routing: false,
        discovery: true,
        nis: nis.collect(),
        routes: Vec::new(),
    }
}

fn route(net: &str, gateway: Nid) -> RouteSpec {
    RouteSpec {
        net: net.parse().unwrap(),
        gateway,
        priority: 0,
        hops: 1,
    }
}

/// `sr` and `mr` (one and two interfaces at both ends), `mr-tcp`, `routed` (A, a router R, B on
/// another net) and `routed-mr` (A with two interfaces).
pub(crate) fn specs(world: &str, profile: LnetProfile) -> Vec<NodeSpec> {
    let with_router = |near: &[(&str, &str)]| {
        let mut a = node("A", profile, near);
        a.routes.push(route("tcp", nid("r1", "o2ib")));
        let mut r = node("R", profile, &[("r1", "o2ib"), ("r2", "tcp")]);
        r.routing = true;
        let mut b = node("B", profile, &[("b1", "tcp")]);
        b.routes.push(route("o2ib", nid("r2", "tcp")));
        vec![a, r, b]
    };
    let pair = |net: &str, rails: &[&str]| {
        let nis = |end: &str| -> Vec<(String, String)> {
            rails
                .iter()
                .map(|rail| (format!("{end}{rail}"), net.to_owned()))
                .collect()
        };
        let side = |end: &str| {
            let nis = nis(&end.to_lowercase());
            let nis: Vec<(&str, &str)> =
                nis.iter().map(|(a, n)| (a.as_str(), n.as_str())).collect();
            node(end, profile, &nis)
        };
        vec![side("A"), side("B")]
    };
    match world {
        "sr" => pair("o2ib", &["1"]),
        "mr" => pair("o2ib", &["1", "2"]),
        "mr-tcp" => pair("tcp", &["1", "2"]),
        "routed" => with_router(&[("a1", "o2ib")]),
        "routed-mr" => with_router(&[("a1", "o2ib"), ("a2", "o2ib")]),
        other => panic!("`{other}` is not a world"),
    }
}

/// A network of these nodes with the default timing.
pub(crate) fn lnet(specs: Vec<NodeSpec>) -> Lnet {
    Lnet::new(specs, Timing::default(), 7).unwrap()
}

/// How the wire between the ports of two interfaces carries from now on.
pub(crate) fn wire(lnet: &mut Lnet, from: &str, to: &str, wire: Wire) {
    let port = |nid: &str| port(&nid[..1].to_uppercase(), nid);
    let (from, to) = (port(from), port(to));
    lnet.notify(Notice::Wire { from, to, wire }).unwrap();
}

/// A rule for every message.
pub(crate) fn rule(pace: Pace, effect: FaultEffect) -> FaultRule {
    FaultRule {
        source: NidPattern::Any,
        destination: NidPattern::Any,
        kinds: [].into(),
        portal: None,
        via: None,
        pace,
        effect,
    }
}

/// A rule that gives messages this status.
pub(crate) fn simulate(pace: Pace, status: &str) -> FaultRule {
    rule(pace, FaultEffect::Simulate(vec![status.parse().unwrap()]))
}
