//! Periodic and requested actions of a node: recovery pings, console lines, notifications of peers,
//! routes back through routers, and counters.

use lnet::{
    Errand, FaultEffect, FaultRule, Lnet, LnetProfile, MessageKind, MsgStatus, NidPattern,
    NodeSpec, Notice, Pace, Param, PortEvent, Request, RouteSpec, Side, Trouble, Verb, What, Wire,
    WorkloadEvent,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage;

fn send(lnet: &mut Lnet, verb: Verb, to: (&str, &str)) {
    let request = Request {
        node: stage::name("A"),
        verb,
        source: None,
        destination: stage::nid(to.0, to.1),
        length: 4096,
        portal: 12,
    };
    lnet.send(request).unwrap();
}

fn error(lnet: &mut Lnet, node: &str, nid: &str) {
    let (port, event) = (stage::port(node, nid), PortEvent::Error);
    lnet.notify(Notice::Port { port, event }).unwrap();
}

/// A counter of a node, by its name in `lnetctl stats show`.
fn count(lnet: &Lnet, node: &str, name: &str) -> u64 {
    let rows = lnet.node(&stage::name(node)).unwrap().statistics().rows();
    rows.into_iter().find(|row| row.0 == name).unwrap().1
}

/// The health of a peer's interface in a node's view.
fn seen(lnet: &Lnet, node: &str, nid: (&str, &str)) -> u16 {
    let node = lnet.node(&stage::name(node)).unwrap();
    let ni = node.peer_ni(&stage::nid(nid.0, nid.1)).unwrap();
    ni.health.value()
}

fn lines(happened: &[WorkloadEvent]) -> Vec<(u64, &str)> {
    let lines = happened.iter().filter_map(|entry| match &entry.what {
        What::Console(line) => Some((entry.at.as_ms() / 1000, line.as_str())),
        _ => None,
    });
    lines.collect()
}

#[rstest]
fn turning_health_off_ends_all_recovery_and_nothing_else_does(#[values("sr", "mr")] world: &str) {
    let mut lnet = stage::lnet(stage::specs(world, LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.set_health(&a, Side::Local, &stage::nid("a1", "o2ib"), 500)
        .unwrap();
    lnet.set_health(&a, Side::Peer, &stage::nid("b1", "o2ib"), 500)
        .unwrap();
    let queued = |lnet: &Lnet| {
        let node = lnet.node(&a).unwrap();
        let own = node.ni(&stage::nid("a1", "o2ib")).unwrap().recovery.queued;
        let peers = node.peer_ni(&stage::nid("b1", "o2ib")).unwrap();
        let queues = [node.local_queue().len(), node.peer_queue().len()];
        (queues, own, peers.recovery.queued)
    };
    lnet.set(&a, Param::RetryCount, 1).unwrap();
    assert_eq!(queued(&lnet), ([1, 1], true, true));
    lnet.set(&a, Param::HealthSensitivity, 0).unwrap();
    assert_eq!(queued(&lnet), ([0, 0], false, false));
}

#[test]
fn a_recovery_ping_goes_where_it_is_sent_and_never_twice() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.add_rule(&a, stage::simulate(Pace::Every, "remote_dropped"))
        .unwrap();
    let b1 = stage::nid("b1", "o2ib");
    lnet.set_health(&a, Side::Peer, &b1, 900).unwrap();
    let happened = lnet.advance(SimTime::from_ms(7_500));
    let pings = happened.iter().filter_map(|entry| match &entry.what {
        What::Sent {
            errand: Errand::RecoverPeer,
            to,
            attempt,
            ..
        } => Some((entry.at.as_ms(), to.clone(), *attempt)),
        _ => None,
    });
    let expected = [1_000, 3_000, 7_000].map(|at_ms| (at_ms, b1.clone(), 1));
    assert_eq!(pings.collect::<Vec<_>>(), expected);
    assert_eq!(seen(&lnet, "A", ("b1", "o2ib")), 600);
}

#[test]
fn every_change_of_a_peers_health_is_written_down_and_nothing_else() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let a = stage::name("A");
    let b1 = stage::nid("b1", "o2ib");
    for value in [900, 900, 1000, 1000] {
        lnet.set_health(&a, Side::Peer, &b1, value).unwrap();
    }
    let happened = lnet.advance(SimTime::from_ms(1));
    let values = happened.iter().filter_map(|entry| match &entry.what {
        What::Health {
            ni,
            side: Side::Peer,
            before,
            after,
            ..
        } => Some((ni.clone(), before.value(), after.value())),
        _ => None,
    });
    let expected = [(b1.clone(), 1000, 900), (b1, 900, 1000)];
    assert_eq!(values.collect::<Vec<_>>(), expected);
}

/// The deadline of a message over `o2ib` is 151 s; one nanosecond later it is over.
#[rstest]
#[case(150_999, 0)]
#[case(151_000, 1)]
fn a_message_may_come_at_its_deadline_and_not_after(#[case] delay_ms: u64, #[case] drops: u64) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.notify(Notice::Wire {
        from: stage::port("A", "a1"),
        to: stage::port("B", "b1"),
        wire: Wire::Delays(SimTime::from_ms(delay_ms)),
    })
    .unwrap();
    // One millisecond of every path is the wire's latency.
    send(&mut lnet, Verb::Put, ("b1", "o2ib"));
    lnet.advance(SimTime::from_secs(160));
    assert_eq!(count(&lnet, "B", "drop_count"), drops);
    assert_eq!(count(&lnet, "B", "recv_count"), 1 - drops);
    assert_eq!(count(&lnet, "B", "recv_length"), 4096 * (1 - drops));
}

#[test]
fn a_line_about_recovery_comes_once_a_minute_and_names_ten_at_most() {
    let names: Vec<String> = (1..=12).map(|number| format!("a{number}")).collect();
    let nis: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "o2ib")).collect();
    let mut lnet = stage::lnet(vec![stage::node("A", LnetProfile::V2_17, &nis)]);
    let a = stage::name("A");
    lnet.add_rule(&a, stage::simulate(Pace::Every, "local_error"))
        .unwrap();
    for (address, net) in &nis {
        lnet.set_health(&a, Side::Local, &stage::nid(address, net), 0)
            .unwrap();
    }
    let happened = lnet.advance(SimTime::from_secs(150));
    let named: Vec<String> = names[..10]
        .iter()
        .map(|name| format!("{name}@o2ib"))
        .collect();
    let line = format!(
        "12 local NIs in recovery (showing 10): {}",
        named.join(", ")
    );
    let expected = [1, 61, 121].map(|at_s| (at_s, line.as_str()));
    assert_eq!(lines(&happened), expected);
}

/// Only nodes with discovery, and only in the releases' profiles, notify their peers that an interface
/// went down.
#[rstest]
#[case(LnetProfile::V2_17, true, 900)]
#[case(LnetProfile::V2_15, true, 900)]
#[case(LnetProfile::V2_17, false, 1000)]
#[case(LnetProfile::Hld, true, 1000)]
fn an_interface_that_goes_down_is_told_to_multi_rail_peers(
    #[case] profile: LnetProfile,
    #[case] discovers: bool,
    #[case] health: u16,
) {
    let mut specs = stage::specs("mr", profile);
    specs[0].discovery = discovers;
    let mut lnet = stage::lnet(specs);
    error(&mut lnet, "A", "a1");
    let happened = lnet.advance(SimTime::from_ms(1_500));
    let pushes = happened.iter().filter(|entry| {
        let push = matches!(
            entry.what,
            What::Sent {
                errand: Errand::Push,
                ..
            }
        );
        push && entry.node.as_str() == "A"
    });
    assert_eq!(pushes.count(), usize::from(health < 1000));
    assert_eq!(seen(&lnet, "B", ("a1", "o2ib")), health);
    // The notification is sent once.
    let again = lnet.advance(SimTime::from_ms(5_500));
    let push = again.iter().any(|entry| {
        let what = &entry.what;
        matches!(
            what,
            What::Sent {
                errand: Errand::Push,
                ..
            }
        )
    });
    assert!(!push);
}

#[test]
fn a_rule_that_simulates_concerns_what_is_sent_and_no_arrival() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let b = stage::name("B");
    lnet.add_rule(&b, stage::simulate(Pace::Every, "local_error"))
        .unwrap();
    send(&mut lnet, Verb::Put, ("b1", "o2ib"));
    lnet.advance(SimTime::from_ms(10));
    assert_eq!(count(&lnet, "B", "recv_count"), 1);
    assert_eq!(lnet.node(&b).unwrap().rules()[0].matched, 0);
}

#[test]
fn two_rules_draw_their_places_apart() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let b = stage::name("B");
    for source in ["a1", "a2"] {
        let mut spec = stage::rule(Pace::OneIn(9), FaultEffect::Drop);
        spec.source = NidPattern::One(stage::nid(source, "o2ib"));
        lnet.add_rule(&b, spec).unwrap();
    }
    let mut hits = [Vec::new(), Vec::new()];
    for number in 0..90_u32 {
        for (rail, source) in ["a1", "a2"].into_iter().enumerate() {
            let before = lnet.node(&b).unwrap().rules()[rail].hits;
            let request = Request {
                node: stage::name("A"),
                verb: Verb::Put,
                source: Some(stage::nid(source, "o2ib")),
                destination: stage::nid("b1", "o2ib"),
                length: 1,
                portal: 12,
            };
            lnet.send(request).unwrap();
            lnet.advance(lnet.now() + SimTime::from_ms(2));
            if lnet.node(&b).unwrap().rules()[rail].hits > before {
                hits[rail].push(number);
            }
        }
    }
    assert_eq!([hits[0].len(), hits[1].len()], [10, 10]);
    assert_ne!(hits[0], hits[1]);
}

/// A GET and its REPLY are counted together: one step for each interface.
#[test]
fn a_get_that_is_answered_is_worth_one_step() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let b = stage::name("B");
    lnet.set_health(&b, Side::Local, &stage::nid("b1", "o2ib"), 500)
        .unwrap();
    lnet.set_health(&b, Side::Peer, &stage::nid("a1", "o2ib"), 500)
        .unwrap();
    send(&mut lnet, Verb::Get, ("b1", "o2ib"));
    lnet.advance(SimTime::from_ms(10));
    let own = lnet.node(&b).unwrap().nis()[0].health.value();
    assert_eq!((own, seen(&lnet, "B", ("a1", "o2ib"))), (600, 600));
}

#[test]
fn without_sensitivity_a_router_regains_nothing() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    let a = stage::name("A");
    let r1 = stage::nid("r1", "o2ib");
    lnet.set(&a, Param::HealthSensitivity, 0).unwrap();
    lnet.set_health(&a, Side::Peer, &r1, 300).unwrap();
    send(&mut lnet, Verb::PutAck, ("b1", "tcp"));
    lnet.advance(SimTime::from_ms(10));
    assert_eq!(count(&lnet, "A", "recv_count"), 1);
    assert_eq!(seen(&lnet, "A", ("r1", "o2ib")), 300);
}

/// B drops messages on a route that does not lead back; `nets` are B's interfaces, `routes` its routes.
fn arrives(world: impl FnOnce() -> Vec<NodeSpec>, to: (&str, &str)) -> (u64, u64) {
    let mut lnet = stage::lnet(world());
    lnet.set(&stage::name("B"), Param::DropAsymRoute, 1)
        .unwrap();
    send(&mut lnet, Verb::Put, to);
    lnet.advance(SimTime::from_ms(10));
    let of = |name| count(&lnet, "B", name);
    (of("recv_count"), of("drop_count"))
}

#[test]
fn a_neighbour_always_has_a_way_back() {
    let world = || stage::specs("sr", LnetProfile::V2_17);
    assert_eq!(arrives(world, ("b1", "o2ib")), (1, 0));
}

#[test]
fn what_comes_through_the_router_of_the_way_back_is_taken() {
    let world = || stage::specs("routed", LnetProfile::V2_17);
    assert_eq!(arrives(world, ("b1", "tcp")), (1, 0));
}

#[test]
fn a_route_through_that_router_to_another_net_is_no_way_back() {
    let world = || {
        let mut specs = stage::specs("routed", LnetProfile::V2_17);
        specs[2].routes = vec![RouteSpec {
            net: "o2ib9".parse().unwrap(),
            gateway: stage::nid("r2", "tcp"),
            priority: 0,
            hops: 1,
        }];
        specs
    };
    assert_eq!(arrives(world, ("b1", "tcp")), (0, 1));
}

#[test]
fn a_node_on_the_senders_net_needs_no_route_back() {
    let world = || {
        let mut specs = stage::specs("routed", LnetProfile::V2_17);
        specs[2] = stage::node("B", LnetProfile::V2_17, &[("b1", "tcp"), ("b2", "o2ib")]);
        // Without discovery each of its interfaces is a peer of its own.
        specs[0].discovery = false;
        specs
    };
    assert_eq!(arrives(world, ("b1", "tcp")), (1, 0));
}

/// A router that knows that the next hop is dead drops messages, and counts their bytes
/// ("lustre/tests/sanity-lnet.sh", 227).
#[test]
fn a_router_counts_what_it_drops_and_what_it_passes_on() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    for verb in [Verb::Put, Verb::PutAck] {
        send(&mut lnet, verb, ("b1", "tcp"));
        lnet.advance(lnet.now() + SimTime::from_ms(10));
    }
    let of = |lnet: &Lnet, name| count(lnet, "R", name);
    // Two PUTs and an ACK, which carries no bytes.
    assert_eq!(of(&lnet, "route_count"), 3);
    assert_eq!(of(&lnet, "route_length"), 8192);
    assert_eq!(of(&lnet, "rst_alloc"), 0);
    assert_eq!(of(&lnet, "msgs_alloc"), 0);
    lnet.notify(Notice::Wire {
        from: stage::port("R", "r2"),
        to: stage::port("B", "b1"),
        wire: Wire::Fails(Trouble::ConnectRefused),
    })
    .unwrap();
    // The first fails to reach the node; the others are not sent.
    for _ in 0..3 {
        send(&mut lnet, Verb::Put, ("b1", "tcp"));
        lnet.advance(lnet.now() + SimTime::from_ms(10));
    }
    assert_eq!(of(&lnet, "route_count"), 3);
    assert_eq!(of(&lnet, "drop_count"), 2);
    assert_eq!(of(&lnet, "drop_length"), 8192);
    assert_eq!(of(&lnet, "errors"), 3);
}

/// In the releases' profiles, a peer with one interface is not blamed, except by a router
/// ("lnet/lnet/lib-msg.c", `lnet_health_check`).
#[rstest]
#[case("sr", "A", ("b1", "o2ib"), 1000)]
#[case("routed", "R", ("b1", "tcp"), 900)]
fn only_a_router_blames_a_peer_of_one_interface(
    #[case] world: &str,
    #[case] from: &str,
    #[case] to: (&str, &str),
    #[case] health: u16,
) {
    let mut lnet = stage::lnet(stage::specs(world, LnetProfile::V2_17));
    let node = stage::name(from);
    lnet.add_rule(&node, stage::simulate(Pace::Every, "remote_error"))
        .unwrap();
    let request = Request {
        node,
        verb: Verb::Put,
        source: None,
        destination: stage::nid(to.0, to.1),
        length: 1,
        portal: 12,
    };
    lnet.send(request).unwrap();
    lnet.advance(SimTime::from_ms(10));
    assert_eq!(seen(&lnet, from, to), health);
}

#[test]
fn a_node_that_is_loaded_already_stays_so() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let (node, loaded) = (stage::name("A"), true);
    lnet.notify(Notice::Node { node, loaded }).unwrap();
    let are_loaded: Vec<bool> = lnet.nodes().map(|node| node.is_loaded()).collect();
    assert_eq!(are_loaded, [true, true]);
}

/// The ping at 60 s was sent; the missing answer is detected at its timeout.
#[test]
fn a_router_that_was_pinged_is_alive_until_its_answer_is_overdue() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    let a = stage::name("A");
    let replies = FaultRule {
        kinds: [MessageKind::Reply].into(),
        ..stage::rule(Pace::Every, FaultEffect::Drop)
    };
    lnet.add_rule(&a, replies).unwrap();
    let is_up = |lnet: &Lnet| {
        let node = lnet.node(&a).unwrap();
        node.is_route_up(&node.routes()[0])
    };
    lnet.advance(SimTime::from_secs(62));
    assert!(is_up(&lnet), "the answer may come yet");
    lnet.advance(SimTime::from_secs(400));
    assert!(!is_up(&lnet), "it never came");
}

/// The interfaces that a node used for messages of the layer above.
fn sent_by(happened: &[WorkloadEvent]) -> Vec<String> {
    let sent = happened.iter().filter_map(|entry| match &entry.what {
        What::Sent {
            errand: Errand::Ulp,
            by,
            ..
        } => Some(by.to_string()),
        _ => None,
    });
    sent.collect()
}

/// A peer that is not multi-rail sees one local interface: the first that the layer above used. LNet's
/// own messages do not set it.
#[test]
fn a_peer_sees_the_interface_that_the_layer_above_used_first() {
    let mut specs = stage::specs("routed-mr", LnetProfile::V2_17);
    specs[0].discovery = false;
    specs[1].discovery = false;
    let mut lnet = stage::lnet(specs);
    let pinged = lnet.advance(SimTime::from_secs(61));
    let by_ping = pinged.iter().find_map(|entry| match &entry.what {
        What::Sent {
            errand: Errand::RouterPing,
            by,
            ..
        } => Some(by.to_string()),
        _ => None,
    });
    let by_ping = by_ping.expect("a router is pinged every 60 s");
    for _ in 0..3 {
        send(&mut lnet, Verb::Put, ("r1", "o2ib"));
    }
    let by = sent_by(&lnet.advance(SimTime::from_secs(62)));
    let other = if by_ping == "a1@o2ib" {
        "a2@o2ib"
    } else {
        "a1@o2ib"
    };
    assert_eq!(by, [other; 3], "the other one was used less by then");
}

/// "LNet Health": a message is not resent to a peer's only interface if that has health 0.
#[rstest]
#[case::it_has_some_left(1000, 100, 3)]
#[case::it_lost_all(1000, 1000, 1)]
#[case::it_had_none(0, 100, 1)]
fn by_the_design_nothing_is_sent_again_to_a_peer_without_health(
    #[case] health: u16,
    #[case] sensitivity: i64,
    #[case] tries: usize,
) {
    let mut specs = stage::specs("sr", LnetProfile::Hld);
    specs.iter_mut().for_each(|spec| spec.discovery = false);
    let mut lnet = stage::lnet(specs);
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    lnet.set(&a, Param::HealthSensitivity, sensitivity).unwrap();
    lnet.set_health(&a, Side::Peer, &b1, health).unwrap();
    lnet.add_rule(&a, stage::simulate(Pace::Every, "remote_dropped"))
        .unwrap();
    send(&mut lnet, Verb::Put, ("b1", "o2ib"));
    assert_eq!(sent_by(&lnet.advance(SimTime::from_secs(1))).len(), tries);
}

/// The ping count of an interface is reset too, also if it was healthy in between.
#[test]
fn turning_health_off_forgets_how_often_a_peer_was_pinged() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    let (from, to) = (stage::port("A", "a1"), stage::port("B", "b1"));
    let wire = Wire::Fails(Trouble::ConnectRefused);
    lnet.notify(Notice::Wire { from, to, wire }).unwrap();
    let pings = |lnet: &Lnet| {
        let ni = lnet.node(&a).unwrap().peer_ni(&b1).unwrap();
        (ni.recovery.ping_count > 0, ni.recovery.queued)
    };
    lnet.set_health(&a, Side::Peer, &b1, 500).unwrap();
    lnet.advance(SimTime::from_secs(4));
    assert_eq!(pings(&lnet), (true, true));
    lnet.set_health(&a, Side::Peer, &b1, 1000).unwrap();
    lnet.advance(SimTime::from_secs(6));
    assert_eq!(pings(&lnet), (true, false));
    lnet.set(&a, Param::HealthSensitivity, 0).unwrap();
    assert_eq!(pings(&lnet), (false, false));
}

#[test]
fn a_sensitivity_that_is_not_zero_leaves_the_retries() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.set(&a, Param::RetryCount, 3).unwrap();
    lnet.set(&a, Param::HealthSensitivity, 50).unwrap();
    let params = lnet.node(&a).unwrap().params();
    assert_eq!(params.get(Param::RetryCount), 3);
}

/// If all else is equal, the less used one is selected: the net by the peer's share of it, then by all
/// peers', then the interfaces of both ends.
#[test]
fn what_is_equal_is_used_in_turn() {
    let nis = |node: &str| {
        let rails = [("1", "o2ib"), ("2", "o2ib"), ("3", "tcp")];
        rails.map(|(rail, net)| (format!("{}{rail}", node.to_lowercase()), net))
    };
    let specs = ["A", "B", "C"].map(|name| {
        let nis = nis(name);
        let nis: Vec<_> = nis.iter().map(|(nid, net)| (nid.as_str(), *net)).collect();
        stage::node(name, LnetProfile::V2_17, &nis)
    });
    let mut lnet = stage::lnet(specs.to_vec());
    let mut ways = Vec::new();
    for to in ["b1", "c1", "b1", "b1", "b1"] {
        send(&mut lnet, Verb::Put, (to, "o2ib"));
        let next = SimTime::from_ms(ways.len() as u64 * 10 + 10);
        let happened = lnet.advance(next);
        ways.extend(happened.iter().filter_map(|entry| match &entry.what {
            What::Sent { by, to, .. } => Some(format!("{by} {to}")),
            _ => None,
        }));
    }
    let expected = [
        "a1@o2ib b1@o2ib",
        "a3@tcp c3@tcp",
        "a3@tcp b3@tcp",
        "a2@o2ib b2@o2ib",
        "a3@tcp b3@tcp",
    ];
    assert_eq!(ways, expected);
}

/// "LNet Health": a resend uses other interfaces at both ends, if there are any.
#[test]
fn by_the_design_what_is_sent_again_goes_another_way() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    let a = stage::name("A");
    lnet.add_rule(&a, stage::simulate(Pace::Every, "local_dropped"))
        .unwrap();
    send(&mut lnet, Verb::Put, ("b1", "o2ib"));
    let happened = lnet.advance(SimTime::from_secs(10));
    let ways = happened.iter().filter_map(|entry| match &entry.what {
        What::Sent {
            errand: Errand::Ulp,
            by,
            to,
            attempt,
            ..
        } => Some(format!("{attempt}: {by} {to}")),
        _ => None,
    });
    let ways: Vec<String> = ways.take(2).collect();
    assert_eq!(ways, ["1: a1@o2ib b1@o2ib", "2: a2@o2ib b2@o2ib"]);
}

/// A request of A and its answer, at the only interface of A and at that of B in A's view; then a request that is
/// dropped locally.
#[test]
fn an_interface_counts_by_kind_and_by_status() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    send(&mut lnet, Verb::Get, ("b1", "o2ib"));
    lnet.advance(SimTime::from_ms(10));
    let (a, own) = (stage::name("A"), stage::nid("a1", "o2ib"));
    let effect = FaultEffect::Simulate(vec![MsgStatus::LocalDropped]);
    lnet.add_rule(&a, stage::rule(Pace::Every, effect)).unwrap();
    send(&mut lnet, Verb::Get, ("b1", "o2ib"));
    lnet.advance(SimTime::from_ms(20));
    let node = lnet.node(&a).unwrap();
    let peer = node.peer_ni(&stage::nid("b1", "o2ib")).unwrap();
    for (stats, seen) in [
        (
            &node.ni(&own).unwrap().stats,
            [
                "send_count 1",
                "recv_count 1",
                "sent_get 1",
                "received_reply 1",
                "local_dropped 1",
            ]
            .as_slice(),
        ),
        (
            &peer.stats,
            &[
                "send_count 1",
                "recv_count 1",
                "sent_get 1",
                "received_reply 1",
            ],
        ),
    ] {
        let rows = stats.rows();
        assert_eq!(rows.len(), 3 + 3 * 5 + 10, "totals, kinds and statuses");
        let counted = rows.iter().filter(|row| row.1 > 0);
        let counted: Vec<String> = counted
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        assert_eq!(counted, seen);
    }
}
