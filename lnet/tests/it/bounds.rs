//! Spellings and limits: names, limits of parameters, steps of recovery, status of routes, and
//! timeouts of the storage client.

use lnet::{
    FaultEffect, FaultRule, Lnet, LnetError, LnetProfile, MessageKind, MsgStatus, NetName, Nid,
    NidPattern, Notice, Pace, Param, Patience, PortEvent, Request, Side, Storage, StorageReport,
    UlpResult, Verb, What,
};
use proptest::prelude::*;
use rstest::rstest;
use simfs::SimTime;
use workloads::WorkloadOutcome;

use crate::stage;

#[rstest]
#[case("*")]
#[case("*@tcp1")]
#[case("a1@o2ib")]
fn a_pattern_is_printed_as_it_is_written(#[case] text: &str) {
    let pattern: NidPattern = text.parse().unwrap();
    assert_eq!(pattern.to_string(), text);
}

#[rstest]
#[case("@o2ib")]
#[case("a *@o2ib")]
#[case("a1")]
#[case("*x")]
fn what_is_no_nid_is_no_pattern(#[case] text: &str) {
    let error = text.parse::<NidPattern>().unwrap_err();
    let hint = "an address, `@` and a net, such as `10.0.1.1@o2ib`";
    let told = format!("`{text}` is not a NID\nhint: {hint}");
    assert_eq!((error.to_string(), error.hint()), (told, hint));
}

proptest! {
    /// Long ones too, which have no rank as numbers.
    #[test]
    fn nids_are_ordered_as_their_nets_and_then_their_addresses(
        one in ("[a-z]{1,9}", "[.0-9a-f]{1,20}"),
        other in ("[a-z]{1,9}", "[.0-9a-f]{1,20}"),
    ) {
        let nid = |(net, address): &(String, String)| -> Nid {
            format!("{address}@{net}").parse().unwrap()
        };
        let (a, b) = (nid(&one), nid(&other));
        prop_assert_eq!(a.cmp(&b), one.cmp(&other));
        prop_assert_eq!(a == b, one == other);
    }
}

#[test]
fn what_is_no_net_is_told_with_an_example() {
    let error = "o2ib:1".parse::<NetName>().unwrap_err();
    let hint = "a driver's name and a number up to 65535, such as `o2ib` or `tcp1`";
    assert!(error.to_string().ends_with(&format!("\nhint: {hint}")));
    assert_eq!(error.hint(), hint);
}

#[test]
fn profiles_and_statuses_are_printed_as_they_are_read() {
    for profile in LnetProfile::ALL {
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }
    for status in MsgStatus::ALL {
        assert_eq!(status.to_string().parse(), Ok(status));
    }
}

/// A retry needs a second of the transaction timeout; without health there is none.
#[rstest]
#[case(100, 150, true)]
#[case(100, 151, false)]
#[case(0, 0, true)]
#[case(0, 1, false)]
fn as_many_retries_are_taken_as_there_are_seconds(
    #[case] sensitivity: i64,
    #[case] retries: i64,
    #[case] taken: bool,
) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.set(&a, Param::HealthSensitivity, sensitivity).unwrap();
    let set = lnet.set(&a, Param::RetryCount, retries);
    assert_eq!(set.is_ok(), taken, "{set:?}");
}

/// Each try fails in no time, so all of them are made at one instant; the message ends then, and no later one adds to it.
#[test]
fn a_message_that_fails_at_once_ends_after_the_most_retries() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.set(&a, Param::TransactionTimeout, i64::from(i32::MAX))
        .unwrap();
    lnet.set(&a, Param::RetryCount, 1000).unwrap();
    let all = stage::simulate(Pace::Every, "local_timeout");
    lnet.add_rule(&a, all).unwrap();
    let request = Request {
        node: a,
        verb: Verb::Put,
        source: None,
        destination: stage::nid("b1", "o2ib"),
        length: 4096,
        portal: 8,
    };
    lnet.send(request).unwrap();
    let events = lnet.advance(SimTime::ZERO);
    let sent = events
        .iter()
        .filter(|event| matches!(event.what, What::Sent { .. }));
    assert_eq!(sent.count(), 1001);
    let ended = events
        .iter()
        .filter(|event| matches!(event.what, What::Ended { .. }));
    assert_eq!(ended.count(), 1);
}

#[test]
fn a_healthy_interface_is_not_queued() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let a = stage::name("A");
    for (side, nid) in [(Side::Local, "a1"), (Side::Peer, "b1")] {
        let nid = stage::nid(nid, "o2ib");
        lnet.set_health(&a, side, &nid, 1000).unwrap();
    }
    let node = lnet.node(&a).unwrap();
    assert_eq!((node.local_queue().len(), node.peer_queue().len()), (0, 0));
}

/// In the HLD profile an answered ping raises health by 1 for local and peers' interfaces; in the
/// releases a peer's rises by the sensitivity.
#[rstest]
#[case(LnetProfile::Hld, 10_500, 510)]
#[case(LnetProfile::V2_17, 1_500, 600)]
#[case(LnetProfile::V2_15, 1_500, 600)]
fn an_answered_ping_of_a_peer_is_worth_one_step(
    #[case] profile: LnetProfile,
    #[case] at_ms: u64,
    #[case] expected: u16,
) {
    let mut lnet = stage::lnet(stage::specs("mr", profile));
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    lnet.set_health(&a, Side::Peer, &b1, 500).unwrap();
    lnet.advance(SimTime::from_ms(at_ms));
    let ni = lnet.node(&a).unwrap().peer_ni(&b1).unwrap();
    assert_eq!((ni.health.value(), ni.recovery.ping_count), (expected, 0));
}

/// The ping of a local interface raises it by a step at its SEND, at its REPLY and in the handler; if it also carries the
/// ping, by one more for each of the two messages.
#[rstest]
#[case::carried_by_the_other("mr", 150)]
#[case::carried_by_itself("sr", 250)]
fn an_answered_ping_of_a_local_interface_is_worth_three_steps_or_five(
    #[case] world: &str,
    #[case] expected: u16,
) {
    let mut lnet = stage::lnet(stage::specs(world, LnetProfile::V2_17));
    let (a, a1) = (stage::name("A"), stage::nid("a1", "o2ib"));
    lnet.set(&a, Param::HealthSensitivity, 50).unwrap();
    lnet.set_health(&a, Side::Local, &a1, 100).unwrap();
    lnet.advance(SimTime::from_ms(1900));
    let risen = lnet.node(&a).unwrap().ni(&a1).unwrap().health.value() - 100;
    assert_eq!(risen, expected);
}

/// The answer to a ping that was in flight when health was disabled has no effect.
#[rstest]
#[case(Side::Local, "a1")]
#[case(Side::Peer, "b1")]
fn health_that_is_off_does_not_rise(#[case] side: Side, #[case] nid: &str) {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    let (a, nid) = (stage::name("A"), stage::nid(nid, "o2ib"));
    lnet.set_health(&a, side, &nid, 900).unwrap();
    lnet.advance(SimTime::from_secs(1));
    lnet.set(&a, Param::HealthSensitivity, 0).unwrap();
    lnet.advance(SimTime::from_secs(5));
    let node = lnet.node(&a).unwrap();
    let health = match side {
        Side::Local => node.ni(&nid).unwrap().health,
        Side::Peer => node.peer_ni(&nid).unwrap().health,
    };
    assert_eq!(health.value(), 900);
}

/// Whether the router's far side must be up depends on the parameter, for a single hop.
#[rstest]
#[case(1, 1, false)]
#[case(0, 1, true)]
#[case(1, 2, true)]
fn a_router_whose_far_side_is_down_is_no_way(
    #[case] avoid: i64,
    #[case] hops: u32,
    #[case] up: bool,
) {
    let mut specs = stage::specs("routed", LnetProfile::V2_17);
    specs[0].routes[0].hops = hops;
    let mut lnet = stage::lnet(specs);
    let a = stage::name("A");
    lnet.set(&a, Param::AvoidAsymRouterFailure, avoid).unwrap();
    let (port, event) = (stage::port("R", "r2"), PortEvent::Error);
    lnet.notify(Notice::Port { port, event }).unwrap();
    lnet.advance(SimTime::from_secs(2));
    let node = lnet.node(&a).unwrap();
    assert_eq!(node.is_route_up(&node.routes()[0]), up);
}

/// A node without discovery ignores what peers report about themselves.
#[test]
fn without_discovery_a_far_side_that_is_down_is_not_heard_of() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    let a = stage::name("A");
    lnet.set(&a, Param::Discovery, 0).unwrap();
    let (port, event) = (stage::port("R", "r2"), PortEvent::Error);
    lnet.notify(Notice::Port { port, event }).unwrap();
    lnet.advance(SimTime::from_secs(130));
    let node = lnet.node(&a).unwrap();
    assert!(node.is_route_up(&node.routes()[0]));
}

/// If a router's push is lost, the next ping of it has the same information.
#[test]
fn a_ping_tells_of_a_far_side_whose_push_was_lost() {
    let mut lnet = stage::lnet(stage::specs("routed", LnetProfile::V2_17));
    let a = stage::name("A");
    let pushes = FaultRule {
        kinds: [MessageKind::Put].into(),
        ..stage::rule(Pace::Every, FaultEffect::Drop)
    };
    lnet.add_rule(&a, pushes).unwrap();
    let (port, event) = (stage::port("R", "r2"), PortEvent::Error);
    lnet.notify(Notice::Port { port, event }).unwrap();
    let is_up = |lnet: &Lnet| {
        let node = lnet.node(&a).unwrap();
        node.is_route_up(&node.routes()[0])
    };
    lnet.advance(SimTime::from_secs(50));
    assert!(is_up(&lnet), "the push was lost");
    lnet.advance(SimTime::from_secs(130));
    assert!(!is_up(&lnet), "a router is pinged every 60 s");
}

/// A random number of 1 to 10 selects the nearest listed status: the last one occurs too.
#[test]
fn each_of_the_statuses_of_a_rule_is_met() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let a = stage::name("A");
    let both = vec![MsgStatus::RemoteTimeout, MsgStatus::NetworkTimeout];
    lnet.add_rule(&a, stage::rule(Pace::Every, FaultEffect::Simulate(both)))
        .unwrap();
    for _ in 0..200 {
        let request = Request {
            node: a.clone(),
            verb: Verb::Put,
            source: None,
            destination: stage::nid("b1", "o2ib"),
            length: 1,
            portal: 12,
        };
        lnet.send(request).unwrap();
    }
    let happened = lnet.advance(SimTime::from_ms(100));
    let of = |status| {
        let rendered = happened.iter().filter(|entry| {
            let result = UlpResult::Failed(status);
            matches!(entry.what, What::Told { result: found, .. } if found == result)
        });
        rendered.count()
    };
    let (near, last) = (of(MsgStatus::RemoteTimeout), of(MsgStatus::NetworkTimeout));
    assert_eq!(near + last, 200);
    // Nine of ten numbers select the first, one selects the last.
    assert!((5..60).contains(&last), "{near} and {last}");
}

#[test]
fn any_one_trouble_degrades_storage() {
    let report = |errors, retries, stalled_at| StorageReport {
        errors,
        retries,
        stalled_at,
        ..StorageReport::default()
    };
    let at = Some(SimTime::from_secs(1));
    assert_eq!(report(0, 0, None).outcome(), WorkloadOutcome::Survived);
    assert_eq!(report(1, 0, None).outcome(), WorkloadOutcome::Degraded);
    assert_eq!(report(0, 1, None).outcome(), WorkloadOutcome::Degraded);
    assert_eq!(report(0, 0, at).outcome(), WorkloadOutcome::Degraded);
}

fn storage(patience: Patience) -> (Lnet, Storage) {
    let lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let (a, b) = (stage::name("A"), stage::name("B"));
    let storage = Storage::new(&lnet, &a, &b, patience).unwrap();
    (lnet, storage)
}

fn unload(lnet: &mut Lnet, node: &str) {
    let (node, loaded) = (stage::name(node), false);
    lnet.notify(Notice::Node { node, loaded }).unwrap();
}

#[test]
fn a_client_writes_as_often_as_it_is_told() {
    let (mut lnet, mut storage) = storage(Patience {
        write_interval: SimTime::from_secs(3),
        ..Patience::default()
    });
    storage.advance(&mut lnet, SimTime::from_ms(9_500));
    let report = storage.report();
    assert!((3..=4).contains(&report.started), "{report:?}");
    assert_eq!(report.answered, report.started);
}

#[test]
fn a_client_without_patience_still_lets_time_pass() {
    let (mut lnet, mut storage) = storage(Patience {
        write_interval: SimTime::ZERO,
        ..Patience::default()
    });
    storage.advance(&mut lnet, SimTime::from_ms(100));
    assert!((90..=110).contains(&storage.report().started));
}

/// One write at a time; the server rejects from 10.5 s on, and the client reconnects every 5 s.
#[test]
fn a_refused_write_is_tried_again_at_each_reconnect_and_no_more_are_started() {
    let (mut lnet, mut storage) = storage(Patience {
        writes_max: 1,
        ..Patience::default()
    });
    storage.advance(&mut lnet, SimTime::from_ms(10_500));
    let before = *storage.report();
    assert_eq!(before.answered, before.started);
    unload(&mut lnet, "B");
    storage.advance(&mut lnet, SimTime::from_ms(60_500));
    let report = storage.report();
    assert_eq!(report.started, before.started + 1);
    // Rejected at 11 s, and at 16, 21 … 56 s.
    assert_eq!(
        (report.retries, report.errors >= 10),
        (9, true),
        "{report:?}"
    );
}

#[test]
fn a_node_without_lnet_can_be_asked_nothing() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let a = stage::name("A");
    assert!(lnet.node(&a).unwrap().is_loaded());
    unload(&mut lnet, "A");
    assert!(!lnet.node(&a).unwrap().is_loaded());
    assert_eq!(lnet.clear_rules(&a), Err(LnetError::NotLoaded(a)));
}
