//! The results of requests and their times: response tracking, late and unknown answers, deadlines,
//! and the effect of unloading LNet ("lnet/lnet/lib-move.c", "lnet/lnet/lib-msg.c").

use std::collections::BTreeSet;

use lnet::{
    Ending, Errand, Lnet, LnetProfile, MessageId, Notice, Pace, Param, Request, Side, Trouble,
    UlpEvent, UlpResult, Verb, What, Wire, WorkloadEvent,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage;

fn send(lnet: &mut Lnet, verb: Verb) -> MessageId {
    let request = Request {
        node: stage::name("A"),
        verb,
        source: None,
        destination: stage::nid("b1", "o2ib"),
        length: 4096,
        portal: 12,
    };
    lnet.send(request).unwrap()
}

fn load(lnet: &mut Lnet, node: &str, loaded: bool) {
    let node = stage::name(node);
    lnet.notify(Notice::Node { node, loaded }).unwrap();
}

/// The events for the layer above: second, request, event, result, and whether it was the last one.
fn rendered(happened: &[WorkloadEvent]) -> Vec<(u64, MessageId, UlpEvent, UlpResult, bool)> {
    let rendered = happened.iter().filter_map(|entry| match entry.what {
        What::Told {
            request,
            event,
            result,
            last,
        } => Some((entry.at.as_ms() / 1000, request, event, result, last)),
        _ => None,
    });
    rendered.collect()
}

/// A counter of a node, by its name in `lnetctl stats show`.
fn count(lnet: &Lnet, node: &str, name: &str) -> u64 {
    let rows = lnet.node(&stage::name(node)).unwrap().statistics().rows();
    rows.into_iter().find(|row| row.0 == name).unwrap().1
}

#[rstest]
#[case(Verb::PutAck, UlpEvent::Ack)]
#[case(Verb::Get, UlpEvent::Reply)]
fn a_request_is_told_that_it_was_sent_and_then_what_came(
    #[case] verb: Verb,
    #[case] answer: UlpEvent,
) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let id = send(&mut lnet, verb);
    let happened = lnet.advance(SimTime::from_ms(10));
    let expected = [
        (0, id, UlpEvent::Send, UlpResult::Ok, false),
        (0, id, answer, UlpResult::Ok, true),
    ];
    assert_eq!(rendered(&happened), expected);
}

/// `response_tracking`: bit 0 is for GETs, bit 1 for PUTs.
#[rstest]
#[case(0, Verb::Get, false)]
#[case(0, Verb::PutAck, false)]
#[case(1, Verb::Get, true)]
#[case(1, Verb::PutAck, false)]
#[case(2, Verb::Get, false)]
#[case(2, Verb::PutAck, true)]
#[case(3, Verb::Get, true)]
#[case(3, Verb::PutAck, true)]
fn a_missing_answer_is_noticed_where_it_is_tracked(
    #[case] tracking: i64,
    #[case] verb: Verb,
    #[case] noticed: bool,
) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.set(&stage::name("A"), Param::ResponseTracking, tracking)
        .unwrap();
    stage::wire(&mut lnet, "b1", "a1", Wire::Fails(Trouble::StillSending));
    let id = send(&mut lnet, verb);
    lnet.advance(SimTime::from_secs(1));
    assert_eq!(count(&lnet, "A", "rst_alloc"), u64::from(noticed));
    let happened = lnet.advance(SimTime::from_ms(150_500));
    let timed_out = rendered(&happened)
        .into_iter()
        .filter(|rendered| rendered.3 == UlpResult::TimedOut);
    let timed_out: Vec<(u64, MessageId)> =
        timed_out.map(|rendered| (rendered.0, rendered.1)).collect();
    // Due at 150 s; checked at 75 and 150 s.
    let expected: &[_] = if noticed { &[(150, id)] } else { &[] };
    assert_eq!(timed_out, expected);
    assert_eq!(count(&lnet, "A", "rst_alloc"), 0);
    assert_eq!(
        count(&lnet, "A", "response_timeout_count"),
        u64::from(noticed)
    );
    assert_eq!(rendered(&lnet.advance(SimTime::from_secs(400))), []);
}

#[test]
fn the_tracker_looks_every_half_of_the_transaction_timeout() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    stage::wire(&mut lnet, "b1", "a1", Wire::Fails(Trouble::StillSending));
    lnet.advance(SimTime::from_ms(75_500));
    send(&mut lnet, Verb::Get);
    let happened = lnet.advance(SimTime::from_secs(400));
    let last = rendered(&happened).pop().unwrap();
    assert_eq!((last.0, last.3), (300, UlpResult::TimedOut));
}

#[test]
fn lnets_own_requests_are_tracked_whatever_the_parameter_says() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.set(&a, Param::ResponseTracking, 0).unwrap();
    for (from, to) in [("b1", "a1"), ("b1", "a2")] {
        stage::wire(&mut lnet, from, to, Wire::Fails(Trouble::StillSending));
    }
    lnet.set_health(&a, Side::Peer, &stage::nid("b1", "o2ib"), 900)
        .unwrap();
    lnet.advance(SimTime::from_secs(2));
    assert_eq!(count(&lnet, "A", "rst_alloc"), 1);
    lnet.advance(SimTime::from_secs(300));
    assert!(count(&lnet, "A", "response_timeout_count") > 0);
}

#[test]
fn a_request_that_could_not_be_sent_is_awaited_no_more() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let rule = stage::simulate(Pace::Every, "remote_error");
    lnet.add_rule(&stage::name("A"), rule).unwrap();
    let id = send(&mut lnet, Verb::PutAck);
    let happened = lnet.advance(SimTime::from_ms(10));
    let failed = UlpResult::Failed("remote_error".parse().unwrap());
    assert_eq!(rendered(&happened), [(0, id, UlpEvent::Send, failed, true)]);
    assert_eq!(count(&lnet, "A", "rst_alloc"), 0);
}

/// The deadline of the HLD profile is the transaction timeout, 150 s; three attempts of 75 s do not
/// fit. A message that is finalised then is neither blamed nor resent, and does not count as a failed
/// resend.
#[test]
fn what_is_not_sent_by_its_deadline_is_nobodys_fault() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    for (from, to) in [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")] {
        stage::wire(&mut lnet, from, to, Wire::Fails(Trouble::StillQueued));
    }
    let id = send(&mut lnet, Verb::Get);
    let happened = lnet.advance(SimTime::from_secs(300));
    let sent = happened.iter().filter_map(|entry| match entry.what {
        What::Sent { message, .. } if message == id => Some(entry.at.as_ms() / 1000),
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [0, 75, 150]);
    let ended = happened.iter().find_map(|entry| match entry.what {
        What::Ended {
            message,
            resends,
            ending,
            ..
        } if message == id => Some((entry.at.as_ms() / 1000, resends, ending)),
        _ => None,
    });
    assert_eq!(ended, Some((150, 2, Ending::Deadline)));
    let of = |name| count(&lnet, "A", name);
    assert_eq!(of("local_timeout_count"), 2);
    assert_eq!(of("errors"), 1);
    assert_eq!((of("failed_resends"), of("successful_resends")), (0, 0));
    assert_eq!(of("rst_alloc"), 0);
}

#[test]
fn what_is_carried_after_its_deadline_was_sent_and_is_dropped() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    stage::wire(&mut lnet, "a1", "b1", Wire::Delays(SimTime::from_secs(152)));
    let id = send(&mut lnet, Verb::Put);
    let happened = lnet.advance(SimTime::from_secs(153));
    let expected = [(152, id, UlpEvent::Send, UlpResult::Ok, true)];
    assert_eq!(rendered(&happened), expected);
    assert_eq!(count(&lnet, "A", "send_count"), 1);
    assert_eq!(count(&lnet, "B", "drop_count"), 1);
    assert_eq!(count(&lnet, "B", "recv_count"), 0);
}

#[test]
fn an_answer_to_what_nobody_asked_is_dropped() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    stage::wire(&mut lnet, "b1", "a1", Wire::Delays(SimTime::from_secs(10)));
    send(&mut lnet, Verb::Get);
    lnet.advance(SimTime::from_secs(5));
    // The node loses its state, and the answer arrives.
    load(&mut lnet, "A", false);
    load(&mut lnet, "A", true);
    lnet.advance(SimTime::from_secs(15));
    assert_eq!(count(&lnet, "A", "drop_count"), 1);
    assert_eq!(count(&lnet, "A", "drop_length"), 4096);
    assert_eq!(count(&lnet, "A", "recv_count"), 0);
}

#[test]
fn an_unloaded_node_ends_each_request_once_and_nothing_of_its_own() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let a = stage::name("A");
    for (from, to) in [("b1", "a1"), ("b1", "a2"), ("b2", "a1"), ("b2", "a2")] {
        stage::wire(&mut lnet, from, to, Wire::Delays(SimTime::from_secs(100)));
    }
    lnet.set_health(&a, Side::Peer, &stage::nid("b1", "o2ib"), 900)
        .unwrap();
    let answered_late = send(&mut lnet, Verb::PutAck);
    lnet.advance(SimTime::from_secs(3));
    let under_way = [
        send(&mut lnet, Verb::Put),
        send(&mut lnet, Verb::PutAck),
        send(&mut lnet, Verb::Get),
    ];
    load(&mut lnet, "A", false);
    // A second unload has no effect.
    load(&mut lnet, "A", false);
    let happened = lnet.advance(SimTime::from_secs(200));
    let mut ended: Vec<MessageId> = Vec::new();
    for (_, request, event, result, last) in rendered(&happened) {
        assert_eq!(
            (event, result, last),
            (UlpEvent::Unlink, UlpResult::Shutdown, true)
        );
        ended.push(request);
    }
    ended.sort();
    let mut expected = vec![answered_late];
    expected.extend(under_way);
    assert_eq!(ended, expected);
}

#[test]
fn a_node_that_only_answers_or_passes_on_has_nothing_to_end() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    stage::wire(&mut lnet, "b1", "a1", Wire::Delays(SimTime::from_secs(10)));
    send(&mut lnet, Verb::PutAck);
    lnet.advance(SimTime::from_secs(1));
    load(&mut lnet, "B", false);
    assert_eq!(rendered(&lnet.advance(SimTime::from_secs(2))), []);

    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    stage::wire(&mut lnet, "r2", "b1", Wire::Delays(SimTime::from_secs(10)));
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Put,
        source: None,
        destination: stage::nid("b1", "tcp"),
        length: 1,
        portal: 12,
    };
    lnet.send(request).unwrap();
    let sent = rendered(&lnet.advance(SimTime::from_secs(1)));
    assert_eq!(sent.len(), 1);
    load(&mut lnet, "R", false);
    assert_eq!(rendered(&lnet.advance(SimTime::from_secs(2))), []);
    assert_eq!(count(&lnet, "B", "recv_count"), 0);
}

#[test]
fn loading_what_is_loaded_forgets_nothing() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    send(&mut lnet, Verb::Put);
    lnet.advance(SimTime::from_secs(1));
    load(&mut lnet, "A", true);
    assert_eq!(count(&lnet, "A", "send_count"), 1);
    load(&mut lnet, "A", false);
    load(&mut lnet, "A", true);
    assert_eq!(count(&lnet, "A", "send_count"), 0);
}

/// A node that was unloaded while a message was in flight rejects it on arrival.
#[test]
fn a_message_to_a_node_that_has_gone_meanwhile_is_refused() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    stage::wire(&mut lnet, "a1", "b1", Wire::Delays(SimTime::from_secs(5)));
    let id = send(&mut lnet, Verb::Put);
    lnet.advance(SimTime::from_secs(1));
    load(&mut lnet, "B", false);
    let happened = lnet.advance(SimTime::from_secs(20));
    let failed = UlpResult::Failed("remote_dropped".parse().unwrap());
    assert_eq!(rendered(&happened), [(5, id, UlpEvent::Send, failed, true)]);
}

#[test]
fn a_gateway_is_pinged_once_a_minute_and_once_for_all_its_routes() {
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    let mut second = specs[0].routes[0].clone();
    second.net = "tcp7".parse().unwrap();
    specs[0].routes.push(second);
    let mut lnet = stage::lnet(specs);
    let happened = lnet.advance(SimTime::from_secs(200));
    let pings = happened.iter().filter_map(|entry| match entry.what {
        What::Sent {
            errand: Errand::RouterPing,
            ..
        } if entry.node.as_str() == "A" => Some(entry.at.as_ms()),
        _ => None,
    });
    assert_eq!(pings.collect::<Vec<_>>(), [60_000, 120_000, 180_000]);
}

#[test]
fn requests_are_numbered_from_one() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let ids = [Verb::Put, Verb::Put, Verb::Put].map(|verb| send(&mut lnet, verb).to_string());
    assert_eq!(ids, ["1", "2", "3"]);
}

/// What the layer above was told is counted by node, event and result; an LNet that is loaded anew goes on counting.
#[test]
fn what_the_layer_above_was_told_is_counted() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let told = |lnet: &Lnet, event, result| lnet.told(&stage::name("A"), event, result);
    assert_eq!(told(&lnet, UlpEvent::Send, UlpResult::Ok), 0);
    send(&mut lnet, Verb::Put);
    send(&mut lnet, Verb::PutAck);
    lnet.advance(SimTime::from_secs(1));
    assert_eq!(told(&lnet, UlpEvent::Send, UlpResult::Ok), 2);
    assert_eq!(told(&lnet, UlpEvent::Ack, UlpResult::Ok), 1);
    let lost = stage::rule(Pace::Every, lnet::FaultEffect::Drop);
    lnet.add_rule(&stage::name("B"), lost).unwrap();
    send(&mut lnet, Verb::Get);
    lnet.advance(SimTime::from_secs(2));
    load(&mut lnet, "A", false);
    load(&mut lnet, "A", true);
    assert_eq!(told(&lnet, UlpEvent::Send, UlpResult::Ok), 3);
    assert_eq!(told(&lnet, UlpEvent::Unlink, UlpResult::Shutdown), 1);
    assert_eq!(
        lnet.told(&stage::name("B"), UlpEvent::Send, UlpResult::Ok),
        0
    );
}

/// A story names each result, and no two alike.
#[test]
fn every_result_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = UlpResult::all().map(UlpResult::name).collect();
    assert_eq!(names.len(), UlpResult::all().count());
    for name in [
        "ok",
        "timed_out",
        "unloaded",
        "remote_dropped",
        "network_timeout",
    ] {
        assert!(names.contains(name), "{name}");
    }
    let events = UlpEvent::ALL.map(UlpEvent::name);
    assert_eq!(events, ["SEND", "ACK", "REPLY", "UNLINK"]);
}
