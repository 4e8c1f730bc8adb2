//! Workloads `lnet` as they are resolved in a world: nets, routers, routes, discovery, and requests by hand.

use lnet::{NodePlan, Request, StoragePlan, Verb};
use platforms::Platforms;
use rstest::rstest;
use scenarios::{
    AtRest, Plan, ScenarioError, StepAction, Story, Unfit, WorkloadAction, World, read,
};

const ROUTED: &str = "client: client, server: server, routers: router-1..router-2";

/// A story with these keys of the workload `storage`, and one action and one expectation, in a shipped world.
fn text(world: &str, keys: &str, action: &str, expectation: &str) -> String {
    format!(
        "scenario: a\nwhy: b\nworld: {world}\nworkloads: {{ storage: {{ lnet: {{ {keys} }} }} }}\n\
         timeline:\n  - at: 5s\n    do: [ {action} ]\n    expect: [ {expectation} ]\n"
    )
}

fn resolve(text: &str) -> Result<Story, Unfit> {
    let scenario = read("lnet/try.yaml", text).map_err(Unfit::Wrong)?;
    let name = scenario.world().expect("it names a world");
    let read = |(file, text): (&str, &str)| World::read(file, text).expect("a shipped world");
    let mut worlds = suite::worlds().into_iter().map(read);
    let world = worlds.find(|world| world.name() == name);
    let world = world.unwrap_or_else(|| panic!("no world `{name}`"));
    let at_rest = AtRest::of_world(&world, &Platforms::shipped()).expect("a shipped world");
    scenario.at_rest(&at_rest)
}

const SAY: &str = "{ no_lnet_fault: storage, node: client }";

fn planned(world: &str, keys: &str) -> StoragePlan {
    let story = resolve(&text(world, keys, SAY, "nothing"));
    let mut story = story.unwrap_or_else(|error| panic!("{error}"));
    match story.workloads.remove("storage") {
        Some(Plan::Storage(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

/// Its interfaces, and whether it routes: `client 10.1.1.1@o2ib`.
fn rendered(node: &NodePlan) -> String {
    let nids: Vec<String> = node.nis.iter().map(|ni| ni.nid.to_string()).collect();
    let routes = if node.routing { " routes" } else { "" };
    format!("{} {}{routes}", node.name, nids.join(" "))
}

/// `client to o2ib1 by 10.1.3.1@o2ib, 0, 1`: priority and hop last.
fn routes(plan: &StoragePlan) -> Vec<String> {
    let of = |node: &NodePlan| {
        let name = node.name.clone();
        let routes = node.routes.iter();
        let line = move |route: &lnet::RouteSpec| {
            let lnet::RouteSpec {
                net,
                gateway,
                priority,
                hops,
            } = route;
            format!("{name} to {net} by {gateway}, {priority}, {hops}")
        };
        routes.map(line).collect::<Vec<_>>()
    };
    plan.nodes.iter().flat_map(of).collect()
}

#[rstest]
#[case::one_net("storage-pair", "client: client, server: server", &[
    "client 10.1.1.1@o2ib",
    "server 10.1.2.1@o2ib",
])]
#[case::tcp_beside_it("storage-pair", "client: client, server: server, nis: 2, tcp: 1", &[
    "client 10.1.1.1@o2ib 10.1.1.2@o2ib 10.1.1.3@tcp",
    "server 10.1.2.1@o2ib 10.1.2.2@o2ib 10.1.2.3@tcp",
])]
#[case::two_nets("storage-routed", ROUTED, &[
    "client 10.1.1.1@o2ib",
    "server 10.1.2.1@o2ib1",
    "router-1 10.1.3.1@o2ib 10.1.3.2@o2ib1 routes",
    "router-2 10.1.4.1@o2ib 10.1.4.2@o2ib1 routes",
])]
#[case::a_server_on_tcp("storage-routed", "client: client, server: server, nis: 2, routers: router-1, server_net: tcp", &[
    "client 10.1.1.1@o2ib 10.1.1.2@o2ib",
    "server 10.1.2.1@tcp 10.1.2.2@tcp",
    "router-1 10.1.3.1@o2ib 10.1.3.2@o2ib 10.1.3.3@tcp 10.1.3.4@tcp routes",
])]
fn every_node_has_an_interface_on_each_of_its_nets(
    #[case] world: &str,
    #[case] keys: &str,
    #[case] expected: &[&str],
) {
    let plan = planned(world, keys);
    let nodes: Vec<String> = plan.nodes.iter().map(rendered).collect();
    assert_eq!(nodes, expected);
}

#[rstest]
#[case::of_no_router("storage-pair", "client: client, server: server", &[])]
#[case::by_default("storage-routed", ROUTED, &[
    "client to o2ib1 by 10.1.3.1@o2ib, 0, 1",
    "client to o2ib1 by 10.1.4.1@o2ib, 0, 1",
    "server to o2ib by 10.1.3.2@o2ib1, 0, 1",
    "server to o2ib by 10.1.4.2@o2ib1, 0, 1",
])]
#[case::as_stated(
    "storage-routed",
    "client: client, server: server, routers: router-1..router-2, routes: \
     [ { node: client, gateway: router-2, priority: 3, hop: 2 }, { node: server, gateway: router-1 } ]",
    &[
        "client to o2ib1 by 10.1.4.1@o2ib, 3, 2",
        "server to o2ib by 10.1.3.2@o2ib1, 0, 1",
    ],
)]
#[case::of_one_side(
    "storage-routed",
    "client: client, server: server, routers: router-1, routes: { node: client, gateway: router-1 }",
    &["client to o2ib1 by 10.1.3.1@o2ib, 0, 1"],
)]
fn a_route_leads_to_the_net_of_the_other_side(
    #[case] world: &str,
    #[case] keys: &str,
    #[case] expected: &[&str],
) {
    assert_eq!(routes(&planned(world, keys)), expected);
}

#[rstest]
#[case("", &["client", "server", "router-1", "router-2"])]
#[case(", discovery: on", &["client", "server", "router-1", "router-2"])]
#[case(", discovery: off", &[])]
#[case(", discovery: { off: [ client, router-1..router-2 ] }", &["server"])]
fn a_node_discovers_unless_that_is_off(#[case] keys: &str, #[case] expected: &[&str]) {
    let plan = planned("storage-routed", &format!("{ROUTED}{keys}"));
    let nodes = plan.nodes.iter().filter(|node| node.discovery);
    let nodes: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    assert_eq!(nodes, expected);
}

/// The error of a text, which is wrong at the place marked `§`.
#[track_caller]
fn check_refused(marked: &str, says: &[&str]) {
    let (before, after) = marked.split_once('§').expect("the place is marked");
    let error: ScenarioError = match resolve(&format!("{before}{after}")) {
        Err(Unfit::Wrong(error)) => error,
        other => panic!("{other:?}"),
    };
    let error = error.to_string();
    let line = before.lines().count();
    let column = before.lines().last().unwrap_or_default().chars().count() + 1;
    let head = format!("lnet/try.yaml:{line}:{column}: ");
    assert!(error.starts_with(&head), "not at {line}:{column}:\n{error}");
    for part in says {
        assert!(error.contains(part), "does not say `{part}`:\n{error}");
    }
}

#[rstest]
#[case::net_without_routers("client: client, server: server, server_net: §tcp", &["`server_net` without `routers`", "router-1"])]
#[case::routes_without_routers("client: client, server: server, routes: §{ node: client, gateway: router-1 }", &["`routes` without `routers`"])]
#[case::net_of_the_clients("client: client, server: server, routers: router-1, server_net: §o2ib0", &["`o2ib` is the net of the clients", "`o2ib1`"])]
#[case::net_of_no_driver("client: client, server: server, routers: router-1, server_net: §gni", &["invalid net `gni`", "`o2ib` or `tcp` and a number"])]
#[case::no_net("client: client, server: server, routers: router-1, server_net: §O2IB", &["invalid net `O2IB`"])]
#[case::router_of_nowhere("client: client, server: server, routers: §router-9", &["`router-9`", "`router-1`"])]
#[case::client_as_router("client: client, server: server, routers: [ router-1, §client ]", &["`client` is a router and a client or the server"])]
#[case::server_as_router("client: client, server: server, routers: §server", &["`server` is a router"])]
#[case::tcp_past_the_routers("client: client, server: server, tcp: §1, routers: router-1", &["`tcp` beside `routers`", "leave it out"])]
#[case::gateway_that_does_not_route("client: client, server: server, routers: router-1, routes: { node: client, gateway: §router-2 }", &["unknown router `router-2`", "`router-1`"])]
#[case::server_as_its_own_client("client: client, server: §client", &["`client` cannot be its own client", "passes no port, so no fault reaches it"])]
#[case::route_of_a_router("client: client, server: server, routers: router-1, routes: { node: §router-1, gateway: router-1 }", &["`router-1` is a router and has no route", "a router is on both nets"])]
#[case::route_twice("client: client, server: server, routers: router-1, routes: [ { node: client, gateway: router-1 }, { node: client, gateway: §router-1, hop: 2 } ]", &["`client` has two routes by `router-1`"])]
#[case::no_hop("client: client, server: server, routers: router-1, routes: { node: client, gateway: router-1, hop: §0 }", &["out of range"])]
#[case::misspelt_key("client: client, server: server, routers: router-1, routes: { node: client, §gatewy: router-1 }", &["`gatewy`", "`gateway`"])]
#[case::neither_on_nor_off("client: client, server: server, discovery: §none", &["unknown word after `discovery` `none`", "`off`"])]
#[case::off_where_nobody_is("client: client, server: server, discovery: { off: §router-1 }", &["unknown node of this workload `router-1`", "`client`, `server`"])]
fn what_cannot_be_is_refused_where_it_stands(#[case] keys: &str, #[case] says: &[&str]) {
    check_refused(&text("storage-routed", keys, SAY, "nothing"), says);
}

/// A node needs a port for every interface.
#[test]
fn a_router_with_too_few_ports_is_said_to_lack_them() {
    let keys = format!("{ROUTED}, nis: 3");
    let Err(Unfit::NotApplicable { reason }) =
        resolve(&text("storage-routed", &keys, SAY, "nothing"))
    else {
        panic!("it was resolved");
    };
    assert_eq!(
        reason,
        "`router-1` needs 6 interfaces, and has 4 healthy ports of the role"
    );
}

#[rstest]
#[case::bare(
    "{ lnet_put: storage, node: client, to: 10.1.2.1@o2ib }",
    Verb::Put,
    None,
    0,
    0
)]
#[case::with_ack(
    "{ lnet_put: storage, node: client, to: 10.1.2.1@o2ib, from: 10.1.1.1@o2ib, bytes: 4096, portal: 8, ack: true }",
    Verb::PutAck,
    Some("10.1.1.1@o2ib"),
    4096,
    8
)]
#[case::get(
    "{ lnet_get: storage, node: client, to: 10.1.2.1@o2ib, bytes: 1048576 }",
    Verb::Get,
    None,
    1_048_576,
    0
)]
fn a_request_by_hand_is_what_the_line_says(
    #[case] action: &str,
    #[case] verb: Verb,
    #[case] source: Option<&str>,
    #[case] length: u64,
    #[case] portal: u32,
) {
    let keys = "client: client, server: server";
    let story = resolve(&text("storage-pair", keys, action, "nothing"));
    let story = story.unwrap_or_else(|error| panic!("{error}"));
    let request = Request {
        node: "client".into(),
        verb,
        source: source.map(|nid| nid.parse().expect("a NID")),
        destination: "10.1.2.1@o2ib".parse().expect("a NID"),
        length,
        portal,
    };
    match &story.steps[0].actions[..] {
        [
            StepAction::Load(WorkloadAction::LnetSend {
                workload,
                request: sent,
            }),
        ] => {
            assert_eq!((workload.as_str(), sent), ("storage", &request));
        }
        other => panic!("{other:?}"),
    }
}

#[rstest]
#[case::to_nobody("{ lnet_get: storage, node: client, to: §10.1.9.1@o2ib }", "nothing", &["unknown NID of `storage` `10.1.9.1@o2ib`", "`10.1.1.1@o2ib`"])]
#[case::from_another("{ lnet_get: storage, node: client, to: 10.1.2.1@o2ib, from: §10.1.2.1@o2ib }", "nothing", &["unknown NID of `client` `10.1.2.1@o2ib`", "`10.1.1.1@o2ib`"])]
#[case::fault_at_another_nodes("{ lnet_fault: storage, node: client, drop: true, ni: §10.1.2.1@o2ib }", "nothing", &["unknown NID of `client` `10.1.2.1@o2ib`", "allowed: `10.1.1.1@o2ib`"])]
#[case::fault_from_nobody("{ lnet_fault: storage, node: client, drop: true, from: §10.1.9.1@o2ib }", "nothing", &["unknown NID of `storage` `10.1.9.1@o2ib`", "`10.1.1.1@o2ib`, `10.1.2.1@o2ib`"])]
#[case::fault_on_both_at_ones("{ lnet_fault: storage, node: [ client, server ], drop: true, ni: §10.1.1.1@o2ib }", "nothing", &["unknown NID of `server` `10.1.1.1@o2ib`"])]
#[case::route_without_routers(SAY, "{ lnet_route: storage, node: client, gateway: §server, state: up }", &["`client` has no routes", "`routers`"])]
#[case::told_to_nobody(SAY, "§{ lnet_ulp: storage, event: SEND, status: ok, is: 0 }", &["the layer above LNet on which node?"])]
fn a_request_or_expectation_about_nobody_is_refused(
    #[case] action: &str,
    #[case] expectation: &str,
    #[case] says: &[&str],
) {
    let keys = "client: client, server: server";
    check_refused(&text("storage-pair", keys, action, expectation), says);
}

/// The world's file cables the port to a switch.
#[test]
fn a_switch_is_no_neighbour_that_reboots() {
    let keys = "client: client, server: server";
    let action = "{ neighbour_reboots: §victim, takes: 20s }";
    let victim = "let: { victim: { node: client, device: mlx5_7 } }\ntimeline:";
    let text = text("storage-pair", keys, action, "nothing").replace("timeline:", victim);
    let says = [
        "the neighbour of `client/mlx5_7` is the switch `leaf-1`",
        "hint: write `{ switch: leaf-1, power: lost }`",
    ];
    check_refused(&text, &says);
}

#[test]
fn a_route_by_a_router_that_is_no_gateway_of_the_node_is_refused() {
    let keys = "client: client, server: server, routers: router-1..router-2, routes: { node: client, gateway: router-2 }";
    let line = "{ lnet_route: storage, node: client, gateway: §router-1, state: up }";
    let says = ["unknown gateway of `client` `router-1`", "`router-2`"];
    check_refused(&text("storage-routed", keys, SAY, line), &says);
}
