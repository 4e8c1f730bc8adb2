//! `nicdrill lnet import`: what `lnetctl export` wrote becomes a scenario that passes, or is refused with the place.

use std::ops::RangeInclusive;

use rstest::rstest;

use crate::scratch::Scratch;

/// A node with two interfaces on `o2ib`, and these further sections.
fn exported(sections: &str) -> String {
    format!(
        "net:\n    - net type: lo\n      local NI(s):\n        - nid: 0@lo\n    - net type: o2ib\n      local NI(s):\n\
         \x20       - nid: 10.0.1.1@o2ib\n          interfaces:\n              0: ib0\n        - nid: 10.0.1.2@o2ib\n\
         {sections}"
    )
}

const ROUTES: &str = "route:\n    - net: tcp\n      gateway: 10.0.1.101@o2ib\n      hop: -1\n      priority: 0\n    \
                      - net: tcp\n      gateway: 10.0.1.102@o2ib\n      hop: 2\n      priority: 1\n";
const TCP: &str = "    - net type: tcp\n      local NI(s):\n        - nid: 192.168.0.1@tcp\n";

#[rstest]
#[case::interfaces("", &["world: storage-pair\n", "      nis: 2\n"], &["tcp", "routers", "given", "discovery"])]
#[case::all_ports_of_the_world("        - nid: 10.0.1.3@o2ib\n        - nid: 10.0.1.4@o2ib\n", &["      nis: 4\n"], &["# "])]
#[case::tcp(TCP, &["      nis: 2\n      tcp: 1\n"], &["routers"])]
#[case::routes(ROUTES, &[
    "world: storage-routed\n",
    "      routers: [ router-1, router-2 ]\n      server_net: tcp\n      routes:\n",
    "        - { node: [ client, server ], gateway: router-1, priority: 0, hop: 1 }  # 10.0.1.101@o2ib\n",
    "        - { node: [ client, server ], gateway: router-2, priority: 1, hop: 2 }  # 10.0.1.102@o2ib\n",
], &["tcp: "])]
#[case::parameters("global:\n    numa_range: 0\n    discovery: 0\n    retry_count: 3\n    transaction_timeout: 10\n    lnd_timeout: 3\n", &[
    "      discovery: { off: [ client ] }\ngiven:\n",
    "  - { lnet_set: storage, node: client, param: retry_count, to: 3 }\n",
    "  - { lnet_set: storage, node: client, param: transaction_timeout, to: 10 }\n",
], &["numa_range", "lnd_timeout"])]
fn an_export_becomes_a_scenario_that_passes(
    #[case] sections: &str,
    #[case] has: &[&str],
    #[case] lacks: &[&str],
) {
    let scratch = Scratch::new();
    scratch.file("export.yaml", &exported(sections));
    let printed = scratch.run(&["lnet", "import", "export.yaml"]);
    assert_eq!(printed.code, 0, "{printed}");
    for part in has {
        assert!(printed.out.contains(part), "{part}: {printed}");
    }
    for part in lacks {
        assert!(!printed.out.contains(part), "{part}: {printed}");
    }
    scratch.file("story.yaml", &printed.out);
    let ran = scratch.run(&["run", "story.yaml", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
}

/// Older releases write -1 as an unsigned number.
#[test]
fn a_hop_that_was_not_stated_is_one() {
    let scratch = Scratch::new();
    let route = "route:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n      hop: 4294967295\n";
    scratch.file("export.yaml", &exported(route));
    let printed = scratch.run(&["lnet", "import", "export.yaml"]);
    assert!(printed.out.contains("priority: 0, hop: 1 }"), "{printed}");
}

/// A router is on both nets, with as many interfaces on each.
#[rstest]
#[case::of_a_pair(3..=5, "", "# A node of `storage-pair` has 4 ports of the role `storage`: name a world of your own with 5.\n")]
#[case::of_a_router(3..=3, ROUTES, "# A node of `storage-routed` has 4 ports of the role `storage`: name a world of your own with 6.\n")]
fn more_interfaces_than_the_world_has_are_told(
    #[case] further: RangeInclusive<u8>,
    #[case] routes: &str,
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    let further = further.map(|nth| format!("        - nid: 10.0.1.{nth}@o2ib\n"));
    let sections = further.collect::<String>() + routes;
    scratch.file("export.yaml", &exported(&sections));
    let printed = scratch.run(&["lnet", "import", "export.yaml"]);
    assert!(printed.out.contains(told), "{printed}");
}

#[rstest]
#[case::no_export("node: 1\n", "export.yaml:1:1", "no interface on `o2ib`")]
#[case::another_driver(
    "net:\n    - net type: gni\n",
    "export.yaml:2:17",
    "a net of the type `gni`"
)]
#[case::two_of_a_driver(
    "net:\n    - net type: o2ib\n    - net type: o2ib1\n",
    "export.yaml:3:17",
    "two nets of the driver of `o2ib`"
)]
fn what_no_workload_can_have_is_refused_where_it_stands(
    #[case] text: &str,
    #[case] place: &str,
    #[case] says: &str,
) {
    check_refused(text, place, says);
}

#[rstest]
#[case::routes_past_tcp(&[TCP, &ROUTES.replace("net: tcp", "net: o2ib1")].concat(), "export.yaml:15:7", "routes on a node that is on `tcp` and on `o2ib`")]
#[case::two_far_nets(
    "route:\n    - net: o2ib1\n      gateway: 10.0.1.9@o2ib\n    - net: o2ib2\n      gateway: 10.0.1.9@o2ib\n",
    "export.yaml:14:7",
    "routes to two nets, `o2ib1` and `o2ib2`"
)]
#[case::other_own_net(&[TCP, ROUTES].concat(), "export.yaml:15:7", "a route to `tcp`, which the node is on")]
#[case::own_net(
    "route:\n    - net: o2ib\n      gateway: 10.0.1.9@o2ib\n",
    "export.yaml:12:7",
    "a route to `o2ib`, which the node is on"
)]
#[case::gateway_on_another_net(
    "route:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib7\n",
    "export.yaml:12:7",
    "the gateway `10.0.1.9@o2ib7`"
)]
#[case::gateway_of_the_node(
    "route:\n    - net: tcp\n      gateway: 10.0.1.2@o2ib\n",
    "export.yaml:12:7",
    "the gateway `10.0.1.2@o2ib`"
)]
#[case::one_gateway_twice(
    "route:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n",
    "export.yaml:14:7",
    "a second route by `10.0.1.9@o2ib`"
)]
#[case::too_many_hops(
    "route:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n      hop: 300\n",
    "export.yaml:14:12",
    "`hop` cannot be 300"
)]
#[case::a_negative_priority(
    "route:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n      priority: -3\n",
    "export.yaml:14:17",
    "`priority` cannot be -3"
)]
#[case::a_nid_of_another_net(
    "        - nid: 10.0.1.3@tcp\n",
    "export.yaml:11:16",
    "the NID `10.0.1.3@tcp` below the net `o2ib`"
)]
#[case::a_nid_twice(
    "        - nid: 10.0.1.2@o2ib\n",
    "export.yaml:11:11",
    "the interface `10.0.1.2@o2ib` a second time"
)]
#[case::no_nid(
    "        - status: up\n",
    "export.yaml:11:11",
    "an interface without a NID"
)]
#[case::no_such_nid("        - nid: there\n", "export.yaml:11:16", "invalid NID `there`")]
#[case::a_byte_too_large(
    "        - nid: 300.1.1.1@o2ib\n",
    "export.yaml:11:16",
    "invalid NID `300.1.1.1@o2ib`"
)]
#[case::no_address(
    "        - nid: foo@o2ib\n",
    "export.yaml:11:16",
    "invalid NID `foo@o2ib`"
)]
#[case::three_bytes(
    "        - nid: 10.0.0@o2ib\n",
    "export.yaml:11:16",
    "invalid NID `10.0.0@o2ib`"
)]
#[case::no_address_of_one_host(
    "        - nid: 224.0.0.1@o2ib\n",
    "export.yaml:11:16",
    "invalid NID `224.0.0.1@o2ib`"
)]
#[case::a_gateway_without_a_net(
    "route:\n    - net: tcp\n      gateway: 10.0.0.999\n",
    "export.yaml:13:16",
    "invalid gateway `10.0.0.999`"
)]
#[case::a_gateway_with_a_byte_too_large(
    "route:\n    - net: tcp\n      gateway: 10.0.0.999@o2ib\n",
    "export.yaml:13:16",
    "invalid gateway `10.0.0.999@o2ib`"
)]
#[case::no_such_net(
    "route:\n    - net: tcp70000\n      gateway: 10.0.0.9@o2ib\n",
    "export.yaml:12:12",
    "invalid net `tcp70000`"
)]
#[case::a_misspelt_parameter(
    "global:\n    retry_cuont: 3\n",
    "export.yaml:12:5",
    "unknown key `retry_cuont` of `global`"
)]
#[case::no_parameter(
    "global:\n    colour: 3\n",
    "export.yaml:12:5",
    "unknown key `colour` of `global`"
)]
#[case::discovery_is_on_or_off(
    "global:\n    discovery: 7\n",
    "export.yaml:12:16",
    "`discovery` cannot be 7"
)]
#[case::parameters_of_no_name("global: 7\n", "export.yaml:11:9", "`global` is a whole number")]
#[case::a_misspelt_section(
    "routes:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n",
    "export.yaml:11:1",
    "unknown key `routes` of the file"
)]
#[case::a_misspelt_hop(
    "route:\n    - net: tcp\n      gateway: 10.0.1.9@o2ib\n      hops: 2\n",
    "export.yaml:14:7",
    "unknown key `hops` of a route"
)]
#[case::routes_that_are_no_list("route: tcp\n", "export.yaml:11:8", "`route` is a text")]
#[case::no_gateway(
    "route:\n    - net: o2ib1\n",
    "export.yaml:12:7",
    "a route without a gateway"
)]
#[case::out_of_range(
    "global:\n    health_sensitivity: 2000\n",
    "export.yaml:12:25",
    "`health_sensitivity` cannot be 2000"
)]
#[case::no_number(
    "global:\n    retry_count: many\n",
    "export.yaml:12:18",
    "`retry_count` is a text"
)]
fn a_section_that_no_workload_can_have_is_refused_where_it_stands(
    #[case] sections: &str,
    #[case] place: &str,
    #[case] says: &str,
) {
    check_refused(&exported(sections), place, says);
}

#[track_caller]
fn check_refused(text: &str, place: &str, says: &str) {
    let scratch = Scratch::new();
    scratch.file("export.yaml", text);
    let refused = scratch.run(&["lnet", "import", "export.yaml"]);
    assert_eq!(refused.code, 2, "{refused}");
    for part in [place, says, "hint: "] {
        assert!(refused.err.contains(part), "{part}: {refused}");
    }
}
