//! The trace of a request: which timer ran out, who was blamed, why no other path was tried.

use lnet::{
    FaultEffect, FaultRule, Lnet, LnetProfile, MessageId, MessageKind, NiSpec, Nid, Notice, Pace,
    Param, PortEvent, Request, RouteSpec, Side, Traces, Trouble, Verb, Wire,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage::{self, rule, simulate};

/// The trace of a GET by A to B's first interface, under faults that `arrange` sets up, after 200 s.
fn check(world: &str, profile: LnetProfile, arrange: impl FnOnce(&mut Lnet)) -> String {
    let mut lnet = stage::lnet(stage::specs(world, profile));
    lnet.record();
    arrange(&mut lnet);
    let id = lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_secs(200));
    why(&lnet, id)
}

/// The trace of the request of a message, up to now.
fn why(lnet: &Lnet, message: MessageId) -> String {
    let number = message.to_string().parse().unwrap();
    Traces(lnet.trace(), lnet.now()).why(number).unwrap()
}

/// Each part is on the page.
#[track_caller]
fn tells(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_lost_get_is_overdue_after_the_transaction_timeout_and_never_resent() {
    let page = check("mr", LnetProfile::V2_15, |lnet| {
        let lost = rule(Pace::Every, FaultEffect::Drop);
        lnet.add_rule(&stage::name("B"), lost).unwrap();
    });
    tells(
        &page,
        &[
            "first timer to run out: transaction_timeout of the response, at 50s; found by the monitor thread at 50s\n",
            "LNet never resends for want of a response\n",
            "  lost: message 1 on B: a fault rule of this node drops it on arrival\n",
            "a fault rule of this node drops it on arrival\n",
            "UNLINK, timed out (-ETIMEDOUT), nothing follows\n",
        ],
    );
}

/// The peer's port is dark: the first try connects until lnd_timeout, which LNet never resends after.
#[rstest]
#[case(LnetProfile::V2_15, "lnd_timeout, at 16s")]
#[case(LnetProfile::V2_17, "lnd_timeout, at 49s")]
fn a_connection_that_never_comes_runs_into_the_lnd_timeout(
    #[case] profile: LnetProfile,
    #[case] timer: &str,
) {
    let page = check("sr", profile, |lnet| {
        let (port, event) = (stage::port("B", "b1"), PortEvent::Error);
        lnet.notify(Notice::Port { port, event }).unwrap();
    });
    tells(
        &page,
        &[
            &format!("first timer to run out: {timer}\n"),
            "  no other path: message 1: LNet never resends after network_timeout\n",
        ],
    );
}

#[test]
fn a_local_failure_costs_a_hundred_and_is_resent_by_the_other_interface() {
    let page = check("mr", LnetProfile::V2_17, |lnet| {
        let once = simulate(Pace::OneIn(2), "local_dropped");
        lnet.add_rule(&stage::name("A"), once).unwrap();
    });
    tells(
        &page,
        &[
            "blamed: at 0s, its own NI a1@o2ib on A: health 1000 to 900\n",
            "local_dropped, and it is resent\n",
            "passed over, lower health\n",
            "  sent again: message 1, try 2 by a2@o2ib to b2@o2ib\n",
            "REPLY, success, nothing follows\n",
        ],
    );
}

#[test]
fn after_retry_count_resends_the_message_fails() {
    let page = check("mr", LnetProfile::V2_17, |lnet| {
        let all = simulate(Pace::Every, "local_dropped");
        lnet.add_rule(&stage::name("A"), all).unwrap();
    });
    tells(
        &page,
        &[
            ": try 3 by ",
            "  no other path: message 1: all of its retry_count 2 resends are used\n",
        ],
    );
    assert!(!page.contains(": try 4 by "), "{page}");
}

#[test]
fn a_fatal_interface_is_passed_over_whatever_its_health() {
    let page = check("mr", LnetProfile::V2_17, |lnet| {
        let (port, event) = (stage::port("A", "a1"), PortEvent::Error);
        lnet.notify(Notice::Port { port, event }).unwrap();
    });
    tells(
        &page,
        &[
            "fatal: passed over, its fatal flag is set\n",
            "first timer to run out: none\n",
            "blamed: no interface\n",
        ],
    );
}

/// A GET by A to B's first interface.
fn get() -> Request {
    Request {
        node: stage::name("A"),
        verb: Verb::Get,
        source: None,
        destination: stage::nid("b1", "o2ib"),
        length: 100,
        portal: 8,
    }
}

/// The monitor thread of 2.17 looks every 75 s: at 150 s, and not again before 225 s.
#[rstest]
#[case(150, "first timer to run out: none\n")]
#[case(
    151,
    "first timer to run out: transaction_timeout of the response, at 151s; the monitor thread has not found it yet\n"
)]
#[case(
    225,
    "first timer to run out: transaction_timeout of the response, at 151s; found by the monitor thread at 225s\n"
)]
fn a_timer_has_run_out_before_it_is_found(#[case] until: u64, #[case] timer: &str) {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.record();
    let lost = rule(Pace::Every, FaultEffect::Drop);
    lnet.add_rule(&stage::name("B"), lost).unwrap();
    lnet.advance(SimTime::from_secs(1));
    let id = lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_secs(until));
    tells(&why(&lnet, id), &[timer]);
}

#[test]
fn an_interface_without_health_is_named_although_it_loses_none() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.record();
    let a = stage::name("A");
    lnet.set(&a, Param::HealthSensitivity, 1000).unwrap();
    let well = lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_ms(10));
    let all = simulate(Pace::Every, "local_dropped");
    lnet.add_rule(&a, all).unwrap();
    let mut pages = Vec::new();
    for _ in 0..2 {
        let id = lnet.send(get()).unwrap();
        lnet.advance(lnet.now() + SimTime::from_ms(10));
        pages.push(why(&lnet, id));
    }
    tells(&why(&lnet, well), &["  blamed: no interface\n"]);
    tells(
        &pages[0],
        &["blamed: at 0.01s, its own NI a1@o2ib on A: health 1000 to 0\n"],
    );
    tells(
        &pages[1],
        &["blamed: no interface, a1@o2ib has no health to lose\n"],
    );
}

/// Both were sent at full health, and fail at one time: the first takes all.
#[test]
fn an_interface_whose_health_was_taken_meanwhile_is_named_too() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.record();
    let a = stage::name("A");
    lnet.set(&a, Param::HealthSensitivity, 1000).unwrap();
    stage::wire(&mut lnet, "a1", "b1", Wire::Fails(Trouble::StillQueued));
    let ids = [(); 2].map(|()| lnet.send(get()).unwrap());
    lnet.advance(SimTime::from_secs(60));
    let [first, second] = ids.map(|id| why(&lnet, id));
    tells(
        &first,
        &["  blamed: at 49s, its own NI a1@o2ib on A: health 1000 to 0\n"],
    );
    tells(
        &second,
        &["  blamed: no interface, a1@o2ib has no health to lose\n"],
    );
}

/// A try that went well blames nobody, whatever the health of its interface.
#[test]
fn an_interface_without_health_that_carries_well_is_not_named() {
    let page = check("sr", LnetProfile::V2_17, |lnet| {
        let (a, a1) = (stage::name("A"), stage::nid("a1", "o2ib"));
        lnet.set_health(&a, Side::Local, &a1, 0).unwrap();
    });
    tells(&page, &["health    0,", "  blamed: no interface\n"]);
}

/// Every way in which a driver fails a try, with the timer that ends it, if there is one.
#[rstest]
#[case(
    Trouble::CompletionFailed,
    "posted, its completion will fail; the retries of the reliable connection, due at 4s",
    "the retries of the reliable connection, at 4s"
)]
#[case(
    Trouble::AwaitingResponse,
    "sent, the driver's answer will not come; lnd_timeout, due at 49s",
    "lnd_timeout, at 49s"
)]
#[case(
    Trouble::StillSending,
    "still being sent at the timeout; lnd_timeout, due at 49s",
    "lnd_timeout, at 49s"
)]
#[case(
    Trouble::StillQueued,
    "still queued at the timeout; lnd_timeout, due at 49s",
    "lnd_timeout, at 49s"
)]
#[case(
    Trouble::ConnectTimedOut,
    "connecting takes too long; lnd_timeout, due at 49s",
    "lnd_timeout, at 49s"
)]
#[case(
    Trouble::ConnectUnreachable,
    "connecting finds no host; no timer, the driver knows at once, due at 0s",
    "none"
)]
#[case(
    Trouble::ConnectRefused,
    "connecting is refused; no timer, the driver knows at once, due at 0s",
    "none"
)]
#[case(
    Trouble::ConnectFailed,
    "connecting fails; no timer, the driver knows at once, due at 0s",
    "none"
)]
#[case(
    Trouble::Nak,
    "the other side answers with an error; no timer, the driver knows at once, due at 0s",
    "none"
)]
#[case(
    Trouble::NoResources,
    "no descriptor to send it with; no timer, the driver knows at once, due at 0s",
    "none"
)]
fn a_try_that_the_driver_fails_is_told_with_its_timer(
    #[case] trouble: Trouble,
    #[case] prospect: &str,
    #[case] timer: &str,
) {
    let page = check("sr", LnetProfile::V2_17, |lnet| {
        stage::wire(lnet, "a1", "b1", Wire::Fails(trouble));
    });
    tells(
        &page,
        &[
            &format!("0s A: {prospect}\n"),
            &format!("  first timer to run out: {timer}\n"),
        ],
    );
}

/// The first try is refused at once, the second is never answered.
#[test]
fn the_first_timer_can_be_that_of_a_resend() {
    let page = check("mr", LnetProfile::V2_17, |lnet| {
        for (to, trouble) in [
            ("b1", Trouble::ConnectRefused),
            ("b2", Trouble::AwaitingResponse),
        ] {
            for from in ["a1", "a2"] {
                stage::wire(lnet, from, to, Wire::Fails(trouble));
            }
        }
    });
    tells(&page, &["  first timer to run out: lnd_timeout, at 49s\n"]);
}

/// In the document's LNet the monitor thread ends what is still under way at its deadline.
#[test]
fn what_is_under_way_at_its_deadline_is_ended_by_it() {
    let page = check("sr", LnetProfile::Hld, |lnet| {
        let late = Wire::Delays(SimTime::from_secs(160));
        stage::wire(lnet, "a1", "b1", late);
    });
    tells(
        &page,
        &["  first timer to run out: the message's deadline, at 150s\n"],
    );
}

/// Two tries, the second of which is lost on arrival; nothing else is sent within half a second.
#[test]
fn the_list_of_all_messages_has_tries_losses_and_ends() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.record();
    let once = simulate(Pace::OneIn(2), "local_dropped");
    lnet.add_rule(&stage::name("A"), once).unwrap();
    let lost = rule(Pace::Every, FaultEffect::Drop);
    lnet.add_rule(&stage::name("B"), lost).unwrap();
    lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_ms(500));
    assert_eq!(
        Traces(lnet.trace(), lnet.now()).all(),
        "0s A: message 1 (request 1, of the layer above), GET of 100 bytes, portal 8: try 1 by a1@o2ib to b1@o2ib
0s A: the try of message 1 ends: local_dropped, and it is resent
0s A: its own NI a1@o2ib on A: health 1000 to 900
0s A: message 1 (request 1, of the layer above), GET of 100 bytes, portal 8: try 2 by a2@o2ib to b2@o2ib
0.001s A: the try of message 1 ends: ok
0.001s A: message 1 is finalised: sent, ok, 1 resend
0.001s A: the layer above is told of 1: SEND, success
0.001s B: message 1 is lost: a fault rule of this node drops it on arrival
"
    );
    lnet.advance(SimTime::from_secs(150));
    let all = Traces(lnet.trace(), lnet.now()).all();
    tells(&all, &["\n150s A: the response to 1 is overdue\n"]);
}

#[test]
fn a_message_that_was_not_sent_has_no_trace() {
    let error = Traces(&[], SimTime::ZERO).why(7).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no message 7 was sent\nhint: nothing was sent up to this time"
    );
}

/// The numbers of the requests that met trouble, of two GETs of which `arrange` troubles the second.
fn troubled(arrange: impl FnOnce(&mut Lnet)) -> Vec<u64> {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.record();
    let first = lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_secs(1));
    arrange(&mut lnet);
    let second = lnet.send(get()).unwrap();
    assert_eq!(
        (first.to_string(), second.to_string()),
        ("1".to_owned(), "3".to_owned())
    );
    lnet.advance(SimTime::from_secs(300));
    Traces(lnet.trace(), lnet.now()).troubled()
}

/// What is tried for its own sake, such as a recovery ping, is no request of the layer above.
#[test]
fn the_requests_that_met_trouble_are_those_that_failed_were_lost_or_had_no_path() {
    assert!(troubled(|_| {}).is_empty());
    let drop = |lnet: &mut Lnet, node: &str| {
        let spec = FaultRule {
            kinds: [MessageKind::Get, MessageKind::Reply].into(),
            ..rule(Pace::Every, FaultEffect::Drop)
        };
        lnet.add_rule(&stage::name(node), spec).unwrap();
    };
    assert_eq!(troubled(|lnet| drop(lnet, "B")), [3]);
    assert_eq!(troubled(|lnet| drop(lnet, "A")), [3], "an answer is lost");
    let resent = |lnet: &mut Lnet| {
        let spec = simulate(Pace::OneIn(2), "local_dropped");
        lnet.add_rule(&stage::name("A"), spec).unwrap();
    };
    assert_eq!(troubled(resent), [3]);
    let by_router = |lnet: &mut Lnet| {
        let destination = stage::nid("z1", "tcp");
        lnet.send(Request {
            destination,
            ..get()
        })
        .unwrap();
    };
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    lnet.record();
    by_router(&mut lnet);
    assert_eq!(Traces(lnet.trace(), lnet.now()).troubled(), [1], "no path");
}

/// Without a request for it, nothing is recorded.
#[test]
fn a_network_records_on_request_only() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.advance(SimTime::from_secs(100));
    assert_eq!(lnet.trace(), []);
}

/// Both interfaces of each side stand below a try, each with what it lost by; an answer goes to where it was asked from.
#[test]
fn every_interface_of_both_sides_is_told_with_what_it_lost_by() {
    let page = check("mr", LnetProfile::V2_17, |_| {});
    let told = |side: &str, nid: &str| -> Vec<String> {
        let lines = page.lines().map(str::trim);
        let of_it = lines.filter(|line| line.starts_with(side) && line.contains(nid));
        let ends = of_it.map(|line| line.rsplit(": ").next().unwrap_or_default().to_owned());
        ends.collect()
    };
    let (chosen, fixed) = ("chosen", "passed over, the message goes to a fixed NID");
    let last = "passed over, later in the configuration";
    assert_eq!(told("source", "a1@o2ib"), [chosen], "{page}");
    assert_eq!(told("source", "a2@o2ib"), [last], "{page}");
    assert_eq!(told("destination", "b1@o2ib"), [chosen], "{page}");
    assert_eq!(told("destination", "b2@o2ib"), [last], "{page}");
    assert_eq!(told("source", "b1@o2ib"), [chosen], "{page}");
    assert_eq!(
        told("source", "b2@o2ib"),
        ["passed over, the source is given"],
        "{page}"
    );
    assert_eq!(told("destination", "a1@o2ib"), [chosen], "{page}");
    assert_eq!(told("destination", "a2@o2ib"), [fixed], "{page}");
}

/// The document passes over what was used; the releases do not.
#[rstest]
#[case(LnetProfile::Hld, true)]
#[case(LnetProfile::V2_17, false)]
fn a_resend_passes_over_what_was_used_by_the_document_alone(
    #[case] profile: LnetProfile,
    #[case] passes_over: bool,
) {
    let page = check("mr", profile, |lnet| {
        let once = simulate(Pace::OneIn(2), "local_dropped");
        lnet.add_rule(&stage::name("A"), once).unwrap();
    });
    let used = "passed over, an earlier try used it\n";
    assert_eq!(page.contains(used), passes_over, "{page}");
}

/// If all are fatal the first is used; the second loses neither by its flag nor by a comparison.
#[test]
fn of_fatal_interfaces_the_first_is_told_as_the_first() {
    let page = check("mr", LnetProfile::V2_17, |lnet| {
        for nid in ["a1", "a2"] {
            let (port, event) = (stage::port("A", nid), PortEvent::Error);
            lnet.notify(Notice::Port { port, event }).unwrap();
        }
    });
    tells(
        &page,
        &[
            "fatal: chosen\n",
            "fatal: passed over, all are fatal, and the first is used\n",
        ],
    );
    assert!(!page.contains("its fatal flag is set"), "{page}");
}

/// A peer that is not multi-rail keeps seeing the interface of the first message.
#[test]
fn a_peer_without_discovery_keeps_one_source() {
    let mut specs = stage::specs("mr", LnetProfile::V2_17);
    for spec in specs.iter_mut().filter(|spec| spec.name.as_str() == "B") {
        spec.discovery = false;
    }
    let mut lnet = stage::lnet(specs);
    lnet.record();
    let mut pages = Vec::new();
    for _ in 0..2 {
        let request = Request {
            node: stage::name("A"),
            verb: Verb::Put,
            source: None,
            destination: stage::nid("b1", "o2ib"),
            length: 100,
            portal: 8,
        };
        let id = lnet.send(request).unwrap();
        lnet.advance(lnet.now() + SimTime::from_ms(10));
        pages.push(why(&lnet, id));
    }
    let kept = "passed over, the peer keeps seeing one NI\n";
    assert!(!pages[0].contains(kept), "{}", pages[0]);
    tells(&pages[1], &[kept]);
}

/// A network in which A reaches B by two routers, R and S; A's route by S has this priority.
fn two_routers(priority: u32) -> Lnet {
    routers(|route| route.priority = priority)
}

/// The same, with A's route by S as `arrange` changes it.
fn routers(arrange: impl FnOnce(&mut RouteSpec)) -> Lnet {
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    let nis = [("s1", "o2ib"), ("s2", "tcp")];
    let mut second = stage::node("S", LnetProfile::V2_17, &nis);
    second.routing = true;
    let mut route = specs[0].routes[0].clone();
    route.gateway = stage::nid("s1", "o2ib");
    arrange(&mut route);
    specs[0].routes.push(route);
    specs.push(second);
    let mut lnet = stage::lnet(specs);
    lnet.record();
    lnet
}

/// The gateways below the tries of a GET by A to B, each with its verdict.
fn gateways(lnet: &mut Lnet, source: Option<Nid>) -> Vec<String> {
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Get,
        source,
        destination: stage::nid("b1", "tcp"),
        length: 100,
        portal: 8,
    };
    let id = lnet.send(request).unwrap();
    lnet.advance(lnet.now() + SimTime::from_ms(10));
    let page = why(lnet, id);
    let own = page
        .lines()
        .skip_while(|line| !line.contains(" A: message"));
    let own = own.skip(1).take_while(|line| line.starts_with("  "));
    let rows = own.filter(|line| line.trim().starts_with("gateway"));
    let row = |line: &str| {
        let nid = line.split_whitespace().nth(1).unwrap_or_default();
        format!("{nid}{}", &line[line.find(", selected").unwrap()..])
    };
    rows.map(row).collect()
}

#[test]
fn the_gateways_of_a_try_are_told_with_what_each_lost_by() {
    assert_eq!(
        gateways(&mut two_routers(1), None),
        [
            "r1@o2ib, selected 0 times: chosen",
            "s1@o2ib, selected 0 times: passed over, priority"
        ]
    );
    let mut in_turn = two_routers(0);
    gateways(&mut in_turn, None);
    assert_eq!(
        gateways(&mut in_turn, None),
        [
            "r1@o2ib, selected 1 time: passed over, selected more often",
            "s1@o2ib, selected 0 times: chosen"
        ]
    );
}

#[test]
fn the_route_of_fewer_hops_is_taken() {
    let mut lnet = routers(|route| route.hops = 2);
    for _ in 0..2 {
        let told = gateways(&mut lnet, None);
        assert!(
            told[0].starts_with("r1@o2ib") && told[0].ends_with(": chosen"),
            "{told:?}"
        );
        assert!(told[1].ends_with(": passed over, more hops"), "{told:?}");
    }
}

/// S has carried more; but what goes by R is still under way.
#[test]
fn the_gateway_with_fewer_bytes_under_way_is_taken_although_it_was_selected_more_often() {
    let mut lnet = two_routers(0);
    let (a, r1) = (stage::name("A"), stage::nid("r1", "o2ib"));
    lnet.set_health(&a, Side::Peer, &r1, 500).unwrap();
    for _ in 0..6 {
        gateways(&mut lnet, None);
    }
    lnet.set_health(&a, Side::Peer, &r1, 1000).unwrap();
    let under_way = Request {
        verb: Verb::Put,
        destination: stage::nid("b1", "tcp"),
        ..get()
    };
    lnet.send(under_way).unwrap();
    let told = gateways(&mut lnet, None);
    let ends = ["passed over, more bytes in flight to it", "chosen"];
    for (row, end) in told.iter().zip(ends) {
        assert!(row.ends_with(&format!(": {end}")), "{told:?}");
    }
}

/// The router of the better priority refuses its ping, which is sent three times, and the recovery pings 1, 3 and 7 s later.
#[test]
fn a_gateway_whose_route_is_down_is_told_as_such() {
    let mut lnet = two_routers(1);
    let (node, loaded) = (stage::name("R"), false);
    lnet.notify(Notice::Node { node, loaded }).unwrap();
    lnet.advance(SimTime::from_secs(70));
    assert_eq!(
        gateways(&mut lnet, None),
        [
            "r1@o2ib, selected 6 times, its route is down: passed over, the route is down",
            "s1@o2ib, selected 1 time: chosen"
        ]
    );
}

/// The second router has the better priority, on another net than the given source.
#[test]
fn a_gateway_on_another_net_than_the_given_source_is_told_as_such() {
    let near = [("a1", "o2ib"), ("a2", "o2ib1")];
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    let route = specs[0].routes.remove(0);
    specs[0] = stage::node("A", LnetProfile::V2_17, &near);
    let nis = [("s1", "o2ib1"), ("s2", "tcp")];
    let mut second = stage::node("S", LnetProfile::V2_17, &nis);
    second.routing = true;
    specs.push(second);
    let gateway = stage::nid("s1", "o2ib1");
    let behind = RouteSpec {
        priority: 1,
        ..route.clone()
    };
    specs[0].routes = vec![behind, RouteSpec { gateway, ..route }];
    let mut lnet = stage::lnet(specs);
    lnet.record();
    assert_eq!(
        gateways(&mut lnet, Some(stage::nid("a1", "o2ib"))),
        [
            "r1@o2ib, selected 0 times: chosen",
            "s1@o2ib1, selected 0 times: passed over, it is not on the net of the given source"
        ]
    );
}

/// The router dies, and its pings fail from then on; when it is back, the next one is answered.
#[test]
fn a_route_that_goes_down_or_up_has_a_line_in_the_list() {
    let mut lnet = two_routers(1);
    for (until_s, loaded) in [(70, false), (150, true)] {
        let node = stage::name("R");
        lnet.notify(Notice::Node { node, loaded }).unwrap();
        lnet.advance(SimTime::from_secs(until_s));
    }
    let all = Traces(lnet.trace(), lnet.now()).all();
    let lines = all.lines().filter(|line| line.contains(" the route to "));
    let told: Vec<&str> = lines.map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(
        told,
        [
            "A: the route to tcp by r1@o2ib goes down",
            "B: the route to o2ib by r2@tcp goes down",
            "A: the route to tcp by r1@o2ib goes up",
            "B: the route to o2ib by r2@tcp goes up"
        ]
    );
}

/// A node that asks itself has no next hop to blame.
#[test]
fn a_message_of_a_node_to_itself_has_no_next_hop() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.record();
    let lost = rule(Pace::Every, FaultEffect::Drop);
    lnet.add_rule(&stage::name("A"), lost).unwrap();
    let destination = stage::nid("a1", "o2ib");
    let id = lnet
        .send(Request {
            destination,
            ..get()
        })
        .unwrap();
    lnet.advance(SimTime::from_secs(200));
    let page = why(&lnet, id);
    tells(&page, &["finds the response overdue since 150s\n"]);
}

/// A given source sends to the given destination on its net, whatever the health of both; the better siblings were not
/// compared.
#[test]
fn given_ends_are_told_as_given_although_others_are_better() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.record();
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    lnet.set_health(&a, Side::Peer, &b1, 500).unwrap();
    let given = Request {
        source: Some(stage::nid("a1", "o2ib")),
        ..get()
    };
    let id = lnet.send(given).unwrap();
    let page = why(&lnet, id);
    let told = |nid: &str| {
        let line = page
            .lines()
            .find(|line| line.contains(nid) && line.starts_with("  "));
        line.unwrap_or_default()
            .rsplit(": ")
            .next()
            .unwrap_or_default()
    };
    assert_eq!(told("b1@o2ib "), "chosen", "{page}");
    assert_eq!(
        told("b2@o2ib "),
        "passed over, the source is given and the destination on its net",
        "{page}"
    );
    assert_eq!(
        told("a2@o2ib "),
        "passed over, the source is given",
        "{page}"
    );
}

/// The driver holds the message for 199 s, a third of 599; the message has 3 tries of 50 s and a second.
#[rstest]
#[case(150, "none")]
#[case(
    180,
    "the message's deadline, at 151s; its driver has not found it yet"
)]
#[case(200, "the message's deadline, at 151s; found at 199s")]
fn a_deadline_runs_out_before_its_driver_looks(#[case] until_s: u64, #[case] timer: &str) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.record();
    let (port, event) = (stage::port("B", "b1"), PortEvent::Error);
    lnet.notify(Notice::Port { port, event }).unwrap();
    lnet.set(&stage::name("A"), Param::TransactionTimeout, 600)
        .unwrap();
    let id = lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_secs(until_s));
    let timer = format!("  first timer to run out: {timer}\n");
    tells(&why(&lnet, id), &[&timer]);
}

/// A failed try costs 100; the answer to the next request gives them back.
#[test]
fn health_that_rises_is_in_the_list_of_all_messages_with_what_raised_it() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.record();
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    lnet.set_health(&a, Side::Peer, &b1, 900).unwrap();
    lnet.send(get()).unwrap();
    lnet.advance(SimTime::from_ms(500));
    let all = Traces(lnet.trace(), lnet.now()).all();
    tells(
        &all,
        &[
            "0s A: the peer NI b1@o2ib on A: health 1000 to 900, set\n",
            "A: the peer NI b1@o2ib on A: health 900 to 1000, by a message that arrived\n",
        ],
    );
}

/// A message on a net of both ends has no gateway.
#[test]
fn a_message_that_stays_on_its_net_has_no_gateway() {
    let page = check("mr", LnetProfile::V2_17, |_| {});
    assert!(!page.contains("gateway"), "{page}");
}

/// Sends a request of A, and checks that the first lines of its page say that it was never sent, and why.
#[track_caller]
fn has_no_path(mut lnet: Lnet, source: Option<Nid>, destination: Nid, why_not: &str) {
    lnet.record();
    let to = destination.to_string();
    let request = Request {
        source,
        destination,
        ..get()
    };
    let id = lnet.send(request).unwrap();
    lnet.advance(lnet.now() + SimTime::from_secs(200));
    let head = format!(
        "request {id}
  first timer to run out: none, message {id} was not sent
  blamed: no interface, message {id} was not sent
  no other path: message {id}, try 1 to {to}: {why_not}, and LNet does not resend what has no path
"
    );
    let page = why(&lnet, id);
    assert!(page.starts_with(&head), "{head}: {page}");
    tells(&page, &[&format!(": try 1 no path to {to}: {why_not} (")]);
}

/// There is no route, or no such node behind it; all are down; or none is near the given source.
#[test]
fn a_request_that_no_route_carries_says_so_first() {
    let b1 = || stage::nid("b1", "tcp");
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    specs[0].routes.clear();
    has_no_path(
        stage::lnet(specs),
        None,
        b1(),
        "the node has no route to its net",
    );
    let specs = stage::specs("routed", LnetProfile::V2_17);
    has_no_path(
        stage::lnet(specs),
        None,
        stage::nid("z1", "tcp"),
        "the node knows no such peer",
    );
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    let (port, event) = (stage::port("R", "r1"), PortEvent::Error);
    lnet.notify(Notice::Port { port, event }).unwrap();
    lnet.advance(SimTime::from_secs(200));
    has_no_path(lnet, None, b1(), "every route to its net is down");
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    let (a2, port) = (stage::nid("a2", "o2ib1"), stage::port("A", "a2"));
    specs[0].nis.push(NiSpec::new(a2.clone(), port, "ib1"));
    has_no_path(
        stage::lnet(specs),
        Some(a2),
        b1(),
        "no route to its net that is up starts on the net of the given source",
    );
}

/// In the document's LNet an interface with its fatal flag set carries nothing; the releases use it if there is no other.
#[test]
fn a_request_that_no_interface_carries_says_so_first() {
    let b1 = || stage::nid("b1", "o2ib");
    let dark = |world: &str, nids: &[&str]| {
        let mut lnet = stage::lnet(stage::specs(world, LnetProfile::Hld));
        for nid in nids {
            let (port, event) = (stage::port("A", nid), PortEvent::Error);
            lnet.notify(Notice::Port { port, event }).unwrap();
        }
        lnet
    };
    let given = |nid: &str| Some(stage::nid(nid, "o2ib"));
    has_no_path(
        dark("mr", &["a1", "a2"]),
        None,
        b1(),
        "every NI of the node on that net has its fatal flag set",
    );
    has_no_path(
        dark("mr", &["a1"]),
        given("a1"),
        b1(),
        "the given source has its fatal flag set",
    );
    has_no_path(
        dark("mr", &[]),
        given("x1"),
        b1(),
        "the given source is no NI of the node",
    );
}
