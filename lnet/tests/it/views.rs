//! The views of a node, by name: their content, nodes without one, and a network with several nets,
//! routers and peers without discovery.

use lnet::{Lnet, LnetError, LnetProfile, Notice, Pace, Request, Trouble, Verb, View, Wire};
use rstest::rstest;
use simfs::SimTime;

use crate::stage;

fn put(lnet: &mut Lnet, node: &str, to: (&str, &str)) {
    let request = Request {
        node: stage::name(node),
        verb: Verb::Put,
        source: None,
        destination: stage::nid(to.0, to.1),
        length: 4096,
        portal: 12,
    };
    lnet.send(request).unwrap();
}

/// The lines of a view that begin with one of these keys, without indentation.
fn check(lnet: &Lnet, node: &str, view: View, keys: &[&str]) -> Vec<String> {
    let text = lnet.show(&stage::name(node), view).unwrap();
    let lines = text.lines().map(str::trim);
    let rendered = lines.filter(|line| {
        let key = line.trim_start_matches("- ").split(':').next();
        keys.contains(&key.unwrap())
    });
    rendered.map(str::to_owned).collect()
}

#[rstest]
#[case("net", View::Net, "lnetctl net show -v 2", "net:")]
#[case("peer", View::Peer, "lnetctl peer show -v 2", "peer:")]
#[case("route", View::Route, "lnetctl route show -v", "route:")]
#[case("stats", View::Stats, "lnetctl stats show", "statistics:")]
#[case("global", View::Global, "lnetctl global show", "global:")]
#[case(
    "local-recovery",
    View::LocalRecovery,
    "lnetctl debug recovery -l",
    "local NI recovery:"
)]
#[case(
    "peer-recovery",
    View::PeerRecovery,
    "lnetctl debug recovery -p",
    "peer NI recovery:"
)]
fn a_view_is_asked_for_by_name_and_tells_its_command(
    #[case] name: &str,
    #[case] view: View,
    #[case] command: &str,
    #[case] first: &str,
) {
    assert_eq!(name.parse(), Ok(view));
    assert_eq!(view.to_string(), name);
    assert_eq!(view.command(), command);
    let lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let text = lnet.show(&stage::name("A"), view).unwrap();
    assert_eq!(text.lines().next(), Some(first));
}

#[test]
fn a_view_that_is_none_is_refused_with_those_there_are() {
    let refused = "nets".parse::<View>().unwrap_err().to_string();
    let hint = View::ALL.map(|view| format!("`{view}`"));
    let (last, others) = hint.split_last().unwrap();
    let expected = format!(
        "`nets` is not a view of LNet\nhint: {} or {last}",
        others.join(", ")
    );
    assert_eq!(refused, expected);
}

#[test]
fn of_no_node_and_of_one_without_lnet_there_is_no_view() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let (a, z) = (stage::name("A"), stage::name("Z"));
    let none = lnet.show(&z, View::Net);
    assert_eq!(none, Err(LnetError::NoNode(z)));
    let (node, loaded) = (a.clone(), false);
    lnet.notify(Notice::Node { node, loaded }).unwrap();
    let none = lnet.show(&a, View::Stats);
    assert_eq!(none, Err(LnetError::NotLoaded(a)));
}

#[test]
fn interfaces_stand_under_their_net_and_nets_in_the_order_of_their_first() {
    let nis = [("a1", "o2ib"), ("a2", "tcp"), ("a3", "o2ib")];
    let lnet = stage::lnet(vec![stage::node("A", LnetProfile::V2_17, &nis)]);
    let rendered = check(&lnet, "A", View::Net, &["net type", "nid", "0"]);
    let expected = [
        "- net type: lo",
        "- nid: 0@lo",
        "- net type: o2ib",
        "- nid: a1@o2ib",
        "0: ib0",
        "- nid: a3@o2ib",
        "0: ib0",
        "- net type: tcp",
        "- nid: a2@tcp",
        "0: eth0",
    ];
    assert_eq!(rendered, expected);
}

/// Whether a peer is alive is only checked if one of the two routes.
#[test]
fn only_routers_are_called_up_or_down_and_only_who_discovers_is_multi_rail() {
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    specs[2].discovery = false;
    let mut lnet = stage::lnet(specs);
    let rule = stage::simulate(Pace::Every, "remote_error");
    lnet.add_rule(&stage::name("A"), rule).unwrap();
    put(&mut lnet, "A", ("r1", "o2ib"));
    lnet.advance(SimTime::from_ms(500));
    let keys = ["primary nid", "Multi-Rail", "nid", "state"];
    // The interface of the router that A tried is down in its view, here the one that it can reach.
    let of_a = [
        "- primary nid: r1@o2ib",
        "Multi-Rail: True",
        "- nid: r1@o2ib",
        "state: down",
        "- nid: r2@tcp",
        "state: up",
        "- primary nid: b1@tcp",
        "Multi-Rail: False",
        "- nid: b1@tcp",
        "state: NA",
    ];
    assert_eq!(check(&lnet, "A", View::Peer, &keys), of_a);
    let of_r = [
        "- primary nid: a1@o2ib",
        "Multi-Rail: True",
        "- nid: a1@o2ib",
        "state: up",
        "- primary nid: b1@tcp",
        "Multi-Rail: False",
        "- nid: b1@tcp",
        "state: up",
    ];
    assert_eq!(check(&lnet, "R", View::Peer, &keys), of_r);
}

#[test]
fn what_is_under_way_is_missing_from_the_credits_and_shown_in_bytes() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.notify(Notice::Wire {
        from: stage::port("A", "a1"),
        to: stage::port("B", "b1"),
        wire: Wire::Fails(Trouble::AwaitingResponse),
    })
    .unwrap();
    put(&mut lnet, "A", ("b1", "o2ib"));
    put(&mut lnet, "A", ("b1", "o2ib"));
    let keys = [
        "available_tx_credits",
        "tx_q_num_of_buf",
        "max_ni_tx_credits",
    ];
    lnet.advance(SimTime::from_secs(1));
    assert_eq!(
        check(&lnet, "A", View::Peer, &keys),
        [
            "max_ni_tx_credits: 8",
            "available_tx_credits: 6",
            "tx_q_num_of_buf: 8192"
        ]
    );
    let own = lnet.node(&stage::name("A")).unwrap().nis()[0].tx_credits;
    assert_eq!(own, 254);
    // The driver's 49 seconds are over.
    lnet.advance(SimTime::from_secs(50));
    assert_eq!(
        check(&lnet, "A", View::Peer, &keys),
        [
            "max_ni_tx_credits: 8",
            "available_tx_credits: 8",
            "tx_q_num_of_buf: 0"
        ]
    );
    let own = lnet.node(&stage::name("A")).unwrap().nis()[0].tx_credits;
    assert_eq!(own, 256);
}

/// The route of A by R, which is up until R does not answer its ping. A gateway that is not discovered is known by one
/// interface, and its route by its hops.
#[rstest]
#[case(true, 1, "single-hop")]
#[case(true, 2, "single-hop")]
#[case(false, 1, "single-hop")]
#[case(false, 2, "multi-hop")]
fn a_route_is_shown_with_its_state(
    #[case] discovery: bool,
    #[case] hops: u32,
    #[case] of_type: &str,
) {
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    specs[0].routes[0].hops = hops;
    specs[0].routes[0].priority = 3;
    specs[0].discovery = discovery;
    let mut lnet = stage::lnet(specs);
    let shown = |lnet: &Lnet, state: &str| {
        let expected = format!(
            "route:\n    - net: tcp\n      gateway: r1@o2ib\n      hop: {hops}\n      priority: 3\n      \
             state: {state}\n      type: {of_type}\n"
        );
        assert_eq!(lnet.show(&stage::name("A"), View::Route), Ok(expected));
    };
    shown(&lnet, "up");
    assert_eq!(
        lnet.show(&stage::name("R"), View::Route),
        Ok("route:\n".to_owned())
    );
    let (node, loaded) = (stage::name("R"), false);
    lnet.notify(Notice::Node { node, loaded }).unwrap();
    lnet.advance(SimTime::from_secs(70));
    shown(&lnet, "down");
}
