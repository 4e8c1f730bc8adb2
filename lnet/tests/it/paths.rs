//! Paths: nets, routers, given interfaces, and invalid networks.

use lnet::{
    Ending, Lnet, LnetError, LnetProfile, MsgStatus, Notice, Pace, Param, PortEvent, Request,
    RouteSpec, Side, Timing, UlpEvent, UlpResult, Verb, What,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage;

/// The path of the first attempt of a PUT from A: the local and the remote interface.
fn way(
    lnet: &mut Lnet,
    source: Option<(&str, &str)>,
    to: (&str, &str),
) -> Option<(String, String)> {
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Put,
        source: source.map(|(address, net)| stage::nid(address, net)),
        destination: stage::nid(to.0, to.1),
        length: 1,
        portal: 12,
    };
    let id = lnet.send(request).unwrap();
    let happened = lnet.advance(lnet.now() + SimTime::from_ms(10));
    happened.into_iter().find_map(|entry| match entry.what {
        What::Sent {
            message,
            by,
            to,
            attempt: 1,
            ..
        } if message == id => Some((by.to_string(), to.to_string())),
        _ => None,
    })
}

fn two_nets(profile: LnetProfile) -> Lnet {
    stage::lnet(vec![
        stage::node("A", profile, &[("a1", "o2ib"), ("a2", "tcp")]),
        stage::node("B", profile, &[("b1", "o2ib"), ("b2", "tcp")]),
    ])
}

fn on(by: &str, to: &str) -> Option<(String, String)> {
    Some((by.to_owned(), to.to_owned()))
}

#[test]
fn a_net_whose_best_peer_interface_is_healthier_is_taken() {
    let mut lnet = two_nets(LnetProfile::V2_17);
    let a = stage::name("A");
    lnet.set_health(&a, Side::Peer, &stage::nid("b1", "o2ib"), 500)
        .unwrap();
    assert_eq!(way(&mut lnet, None, ("b1", "o2ib")), on("a2@tcp", "b2@tcp"));
}

#[test]
fn a_net_with_a_healthier_interface_of_ours_is_taken() {
    let mut lnet = two_nets(LnetProfile::V2_17);
    lnet.set_health(
        &stage::name("A"),
        Side::Local,
        &stage::nid("a1", "o2ib"),
        500,
    )
    .unwrap();
    assert_eq!(way(&mut lnet, None, ("b1", "o2ib")), on("a2@tcp", "b2@tcp"));
}

#[test]
fn of_a_peers_interfaces_that_of_the_lower_priority_value_is_taken() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    lnet.set_priority(&a, &b1, 1).unwrap();
    for _ in 0..4 {
        let (_, to) = way(&mut lnet, None, ("b1", "o2ib")).expect("a PUT is sent");
        assert_eq!(to, "b2@o2ib");
    }
}

#[test]
fn a_net_where_all_of_ours_are_fatal_comes_last() {
    let mut lnet = two_nets(LnetProfile::V2_17);
    let port = stage::port("A", "a1");
    lnet.notify(Notice::Port {
        port,
        event: PortEvent::Error,
    })
    .unwrap();
    lnet.set_health(&stage::name("A"), Side::Peer, &stage::nid("b2", "tcp"), 0)
        .unwrap();
    assert_eq!(way(&mut lnet, None, ("b1", "o2ib")), on("a2@tcp", "b2@tcp"));
}

#[test]
fn equal_nets_take_turns() {
    let mut lnet = two_nets(LnetProfile::V2_17);
    let first = way(&mut lnet, None, ("b1", "o2ib"));
    let second = way(&mut lnet, None, ("b1", "o2ib"));
    assert_eq!(
        (first, second),
        (on("a1@o2ib", "b1@o2ib"), on("a2@tcp", "b2@tcp"))
    );
}

#[test]
fn a_given_source_keeps_to_its_net() {
    let mut lnet = two_nets(LnetProfile::V2_17);
    assert_eq!(
        way(&mut lnet, Some(("a2", "tcp")), ("b1", "o2ib")),
        on("a2@tcp", "b2@tcp")
    );
}

#[test]
fn a_given_source_that_is_none_of_ours_sends_nothing() {
    let mut lnet = two_nets(LnetProfile::V2_17);
    assert_eq!(way(&mut lnet, Some(("a9", "tcp")), ("b1", "o2ib")), None);
    assert_eq!(lnet.node(&stage::name("A")).unwrap().statistics().errors, 1);
}

#[rstest]
#[case(LnetProfile::V2_17, true)]
#[case(LnetProfile::Hld, false)]
fn a_given_source_that_is_fatal_is_used_save_by_the_design(
    #[case] profile: LnetProfile,
    #[case] sent: bool,
) {
    let mut lnet = stage::lnet(stage::specs("mr", profile));
    let port = stage::port("A", "a1");
    lnet.notify(Notice::Port {
        port,
        event: PortEvent::Error,
    })
    .unwrap();
    let way = way(&mut lnet, Some(("a1", "o2ib")), ("b1", "o2ib"));
    assert_eq!(way.is_some(), sent);
}

#[rstest]
#[case(LnetProfile::V2_17, true)]
#[case(LnetProfile::Hld, false)]
fn when_all_are_fatal_only_the_design_sends_nothing(
    #[case] profile: LnetProfile,
    #[case] sent: bool,
) {
    let mut lnet = stage::lnet(stage::specs("mr", profile));
    for rail in ["a1", "a2"] {
        let port = stage::port("A", rail);
        lnet.notify(Notice::Port {
            port,
            event: PortEvent::Error,
        })
        .unwrap();
    }
    assert_eq!(way(&mut lnet, None, ("b1", "o2ib")).is_some(), sent);
}

/// In the HLD profile a message remembers the interfaces it used; in the releases it does not need
/// to.
#[test]
fn by_the_design_a_resend_passes_over_what_was_used() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    let a = stage::name("A");
    // Even at health 0 the second rail is preferred, because it was not used.
    lnet.set_health(&a, Side::Local, &stage::nid("a2", "o2ib"), 0)
        .unwrap();
    lnet.add_rule(&a, stage::simulate(Pace::OneIn(2), "local_dropped"))
        .unwrap();
    way(&mut lnet, None, ("b1", "o2ib"));
    let node = lnet.node(&a).unwrap();
    let dropped = "local_dropped".parse().unwrap();
    let used = node.nis().iter();
    let used = used.map(|ni| (ni.stats.failures(dropped), ni.stats.sent.total()));
    assert_eq!(used.collect::<Vec<_>>(), [(1, 0), (0, 1)]);
}

#[test]
fn a_shorter_numa_distance_is_taken_unless_the_range_covers_both() {
    for (range, expected) in [(0, "a2@o2ib"), (40, "a1@o2ib")] {
        let mut specs = stage::specs("mr", LnetProfile::V2_17);
        specs[0].nis[0].numa_distance = 32;
        specs[0].nis[1].numa_distance = 10;
        let mut lnet = stage::lnet(specs);
        lnet.set(&stage::name("A"), Param::NumaRange, range)
            .unwrap();
        assert_eq!(
            way(&mut lnet, None, ("b1", "o2ib")).unwrap().0,
            expected,
            "range {range}"
        );
    }
}

#[test]
fn a_devices_priority_comes_after_the_interfaces() {
    let mut specs = stage::specs("mr", LnetProfile::V2_17);
    specs[0].nis[0].device_priority = 1;
    let mut lnet = stage::lnet(specs);
    assert_eq!(way(&mut lnet, None, ("b1", "o2ib")).unwrap().0, "a2@o2ib");
    lnet.set_priority(&stage::name("A"), &stage::nid("a2", "o2ib"), 1)
        .unwrap();
    assert_eq!(way(&mut lnet, None, ("b1", "o2ib")).unwrap().0, "a1@o2ib");
}

#[test]
fn a_far_net_is_reached_through_the_gateway_and_answered_back() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    assert_eq!(
        way(&mut lnet, None, ("b1", "tcp")),
        on("a1@o2ib", "r1@o2ib")
    );
    let from_a1 = Some(("a1", "o2ib"));
    assert_eq!(
        way(&mut lnet, from_a1, ("b1", "tcp")),
        on("a1@o2ib", "r1@o2ib")
    );
    let get = Request {
        node: stage::name("A"),
        verb: Verb::Get,
        source: None,
        destination: stage::nid("b1", "tcp"),
        length: 512,
        portal: 12,
    };
    lnet.send(get).unwrap();
    let happened = lnet.advance(lnet.now() + SimTime::from_ms(10));
    let answered = happened.iter().any(|entry| {
        entry.node.as_str() == "A" && matches!(entry.what, What::Told { last: true, .. })
    });
    assert!(answered);
    let router = lnet.node(&stage::name("R")).unwrap().statistics();
    // Two PUTs of a byte, a GET, and its REPLY of 512.
    assert_eq!((router.route_count, router.route_length), (4, 514));
}

#[test]
fn without_a_route_that_is_up_nothing_is_sent() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    lnet.notify(Notice::Node {
        node: stage::name("R"),
        loaded: false,
    })
    .unwrap();
    lnet.advance(SimTime::from_secs(61));
    assert_eq!(way(&mut lnet, None, ("b1", "tcp")), None);
}

/// Two routers: a message through the one that is not on a route back is dropped if configured.
#[rstest]
#[case(0, true)]
#[case(1, false)]
fn a_message_by_an_asymmetric_route_is_dropped_if_asked(#[case] drop: i64, #[case] arrives: bool) {
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    let mut second = stage::node("S", LnetProfile::V2_17, &[("s1", "o2ib"), ("s2", "tcp")]);
    second.routing = true;
    specs.push(second);
    specs[2].routes = vec![RouteSpec {
        net: "o2ib".parse().unwrap(),
        gateway: stage::nid("s2", "tcp"),
        priority: 0,
        hops: 1,
    }];
    let mut lnet = stage::lnet(specs);
    lnet.set(&stage::name("B"), Param::DropAsymRoute, drop)
        .unwrap();
    way(&mut lnet, None, ("b1", "tcp"));
    let b = lnet.node(&stage::name("B")).unwrap().statistics();
    assert_eq!(
        (b.recv_count, b.drop_count),
        (u64::from(arrives), u64::from(!arrives))
    );
}

#[test]
fn a_network_that_cannot_be_is_refused_with_the_reason() {
    let build = |specs| Lnet::new(specs, Timing::default(), 0).unwrap_err();
    let node = |name: &str, nid: &str| stage::node(name, LnetProfile::V2_17, &[(nid, "o2ib")]);
    let twice = build(vec![node("A", "a1"), node("A", "a2")]);
    assert_eq!(twice, LnetError::NodeTwice(stage::name("A")));
    let twice = build(vec![node("A", "a1"), node("B", "a1")]);
    assert_eq!(twice, LnetError::NidTwice(stage::nid("a1", "o2ib")));
    let empty = build(vec![stage::node("A", LnetProfile::V2_17, &[])]);
    assert_eq!(empty, LnetError::NoInterface(stage::name("A")));
    let mut lost = stage::specs("routed", LnetProfile::V2_17);
    lost[1].routing = false;
    let refused = build(lost).to_string();
    assert_eq!(
        refused,
        "`r1@o2ib` is not a gateway of node `A`\nhint: a gateway routes, and is on a net of the node"
    );
}

/// With retries left: an unknown NID, one behind no router, and one of LNet's own nets that has no such address.
#[rstest]
#[case(("z1", "o2ib"))]
#[case(("b1", "tcp"))]
#[case(("a9", "o2ib"))]
fn what_goes_to_nobody_fails_at_once_and_is_not_sent_again(#[case] to: (&str, &str)) {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Get,
        source: None,
        destination: stage::nid(to.0, to.1),
        length: 512,
        portal: 12,
    };
    let id = lnet.send(request).unwrap();
    let happened = lnet.advance(lnet.now());
    let of_it = happened.iter().map(|entry| entry.what.clone());
    let seen: Vec<What> = of_it.collect();
    let status = MsgStatus::RemoteError;
    let ended = What::Ended {
        message: id,
        status,
        resends: 0,
        ending: Ending::Failure,
    };
    let told = What::Told {
        request: id,
        event: UlpEvent::Send,
        result: UlpResult::Failed(status),
        last: true,
    };
    assert_eq!(seen, [ended, told], "nothing was sent");
    assert!(lnet.advance(SimTime::from_secs(300)).is_empty());
}

#[test]
fn what_is_asked_of_nobody_is_refused_with_the_reason() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let (a, z, nid) = (stage::name("A"), stage::name("Z"), stage::nid("z1", "o2ib"));
    assert_eq!(
        lnet.set(&z, Param::RetryCount, 1),
        Err(LnetError::NoNode(z.clone()))
    );
    let refused = lnet.set_health(&a, Side::Local, &nid, 1).unwrap_err();
    assert_eq!(refused.to_string(), "node `A` knows no interface `z1@o2ib`");
    assert_eq!(refused.hint(), None);
    let own = stage::nid("a1", "o2ib");
    let refused = lnet.set_health(&a, Side::Local, &own, 1001).unwrap_err();
    assert_eq!(refused, LnetError::NoHealth(1001));
    let hint = refused.hint().expect("a value has a range");
    assert!(hint.contains("1000"), "{hint}");
    assert!(refused.to_string().ends_with(&format!("\nhint: {hint}")));
    assert_eq!(
        lnet.set_priority(&a, &nid, 1),
        Err(LnetError::NoNi {
            node: a.clone(),
            nid
        })
    );
    lnet.notify(Notice::Node {
        node: a.clone(),
        loaded: false,
    })
    .unwrap();
    assert_eq!(
        lnet.set(&a, Param::RetryCount, 1),
        Err(LnetError::NotLoaded(a))
    );
    assert_eq!(
        lnet.notify(Notice::Node {
            node: z.clone(),
            loaded: true
        }),
        Err(LnetError::NoNode(z))
    );
}
