//! Routers of a workload `lnet`, and the routes of its other nodes through them.
//!
//! A route is stated as `lnetctl route add` takes it: gateway, hop and priority. Its net is the one at the other side of
//! the routers.

use lnet::{Lnd, NetName};

use super::{NAMES, Name};
use crate::keys::{Keys, Literal, maybe, need, or, together};
use crate::kind::{Many, Placed, Plain, count, number, plain, string_form};
use crate::map::MapOf;
use crate::values::NODE_NAME;

/// The net of the clients, and of the server unless there are routers.
pub(super) const NEAR: &str = "o2ib";

/// The default net of a server behind routers.
pub(super) const FAR: &str = "o2ib1";

/// How the two sides of a workload are connected; without routers both are on one net.
#[derive(Clone, Debug)]
pub(super) struct RoutingSpec {
    pub(super) routers: Vec<Name>,
    /// The net of the server behind them.
    pub(super) far: NetName,
    /// The routes; `None` for one by each router at every other node.
    pub(super) routes: Option<Vec<RouteLine>>,
}

/// A route of some nodes.
#[derive(Clone, Debug)]
pub(super) struct RouteLine {
    pub(super) nodes: Vec<Name>,
    pub(super) gateway: Name,
    pub(super) priority: u32,
    pub(super) hops: u32,
}

/// The keys of a workload that has routers.
pub(super) fn routing_keys() -> impl Keys<Value = RoutingSpec> {
    together(
        (
            maybe(
                "routers",
                NAMES,
                "Nodes that forward between the net of the clients, `o2ib`, and that of the server. Each has `nis` interfaces on either net, the clients' first.",
            ),
            maybe(
                "server_net",
                Placed(NET),
                "With `routers`: the net of the server, such as `o2ib1`, the default, or `tcp`.",
            ),
            maybe(
                "routes",
                Placed(Many("routes", MapOf("a route", route_keys()))),
                "With `routers`: the routes to the net of the other side, as `lnetctl route add` has them. By default the clients and the server have one by each router.",
            ),
        ),
        |context, _, (routers, net, routes)| {
            let source = &context.source;
            let places = [
                ("server_net", net.as_ref().map(|it| it.1)),
                ("routes", routes.as_ref().map(|it| it.1)),
            ];
            for (key, place) in places {
                if let (None, Some(place)) = (&routers, place) {
                    let wrong = source.wrong(place, format!("`{key}` without `routers`"));
                    return Err(wrong.hint(
                        "name the nodes that forward, as in `routers: [ router-1, router-2 ]`",
                    ));
                }
            }
            let far = || FAR.parse().expect("it is a net");
            Ok(RoutingSpec {
                routers: routers.unwrap_or_default(),
                far: net.map_or_else(far, |(net, _)| net),
                routes: routes.map(|(routes, _)| routes),
            })
        },
    )
}

/// A net behind routers, of a driver whose behaviour is modelled.
const NET: Plain<NetName> = plain("a net", string_form, |context, node| {
    let source = &context.source;
    let text = source.text(node, "a net")?;
    let net: NetName = match text.parse::<NetName>() {
        Ok(net) if net.lnd() != Lnd::Other => net,
        _ => {
            let wrong = source.wrong(node.place, format!("invalid net `{text}`"));
            return Err(wrong.hint("write `o2ib` or `tcp` and a number, such as `o2ib1` or `tcp`"));
        }
    };
    if net.to_string() == NEAR {
        let wrong = source.wrong(node.place, format!("`{net}` is the net of the clients"));
        return Err(wrong.hint("routers are for a server on another net, such as `o2ib1` or `tcp`"));
    }
    Ok(net)
});

fn route_keys() -> impl Keys<Value = RouteLine> {
    together(
        (
            need(
                "node",
                NAMES,
                "The nodes that have it: clients, or the server.",
            ),
            need("gateway", Placed(NODE_NAME), "The router."),
            or(
                "priority",
                Literal::Whole(0),
                count(0),
                "A lower one is preferred.",
            ),
            or(
                "hop",
                Literal::Whole(1),
                number(1, 255),
                "Number of routers on the way. Fewer are preferred, at the same priority.",
            ),
        ),
        |_, _, (nodes, gateway, priority, hops)| {
            Ok(RouteLine {
                nodes,
                gateway,
                priority,
                hops,
            })
        },
    )
}
