//! From the path to a status: the result of an attempt and its time, depending on ports, wires and
//! nodes.

use lnet::{
    Lnd, Lnet, LnetProfile, MsgStatus, Notice, PortEvent, Request, Trouble, UlpResult, Verb, What,
    Wire, WorkloadEvent,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage;

fn put(lnet: &mut Lnet, source: Option<&str>, to: &str) {
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Put,
        source: source.map(|source| stage::nid(source, "o2ib")),
        destination: stage::nid(to, "o2ib"),
        length: 4096,
        portal: 12,
    };
    lnet.send(request).unwrap();
}

fn port(lnet: &mut Lnet, nid: &str, event: PortEvent) {
    let owner = nid[..1].to_uppercase();
    let port = stage::port(&owner, nid);
    lnet.notify(Notice::Port { port, event }).unwrap();
}

/// Time in milliseconds and status of every failed attempt of A.
fn failures(happened: &[WorkloadEvent]) -> Vec<(u64, MsgStatus)> {
    let failed = happened.iter().filter_map(|entry| match entry.what {
        What::Judged { status, .. } if status != MsgStatus::Ok && entry.node.as_str() == "A" => {
            Some((entry.at.as_ms(), status))
        }
        _ => None,
    });
    failed.collect()
}

/// The first failure of a PUT from A to B, with one rail and no retries, after `prepare`.
fn check(connected: bool, prepare: impl FnOnce(&mut Lnet)) -> Option<(u64, MsgStatus)> {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    if connected {
        put(&mut lnet, None, "b1");
    }
    lnet.advance(SimTime::from_ms(100));
    prepare(&mut lnet);
    put(&mut lnet, None, "b1");
    let happened = lnet.advance(SimTime::from_secs(300));
    failures(&happened)
        .first()
        .map(|(at_ms, status)| (at_ms - 100, *status))
}

#[test]
fn between_two_active_ports_a_message_arrives() {
    assert_eq!(check(false, |_| {}), None);
}

/// RC retry 4 s; LND timeout 49 s.
#[rstest]
#[case(PortEvent::Lost)]
#[case(PortEvent::Error)]
#[case(PortEvent::Gone)]
fn a_local_port_that_is_down_is_charged_to_the_peer_when_the_retries_are_over(
    #[case] event: PortEvent,
) {
    let failed = check(true, |lnet| port(lnet, "a1", event));
    assert_eq!(failed, Some((4_000, MsgStatus::RemoteDropped)));
}

#[rstest]
#[case(true, 4_000, MsgStatus::RemoteDropped)]
#[case(false, 49_000, MsgStatus::NetworkTimeout)]
fn a_remote_port_that_is_down_matters_by_the_connection(
    #[case] connected: bool,
    #[case] after_ms: u64,
    #[case] status: MsgStatus,
) {
    let failed = check(connected, |lnet| port(lnet, "b1", PortEvent::Lost));
    assert_eq!(failed, Some((after_ms, status)));
}

#[test]
fn a_node_without_lnet_refuses_at_once() {
    let failed = check(true, |lnet| {
        lnet.notify(Notice::Node {
            node: stage::name("B"),
            loaded: false,
        })
        .unwrap();
    });
    assert_eq!(failed, Some((0, MsgStatus::RemoteDropped)));
}

#[rstest]
#[case(Trouble::StillSending, 49_000, MsgStatus::NetworkTimeout)]
#[case(Trouble::AwaitingResponse, 49_000, MsgStatus::RemoteTimeout)]
#[case(Trouble::Nak, 0, MsgStatus::RemoteError)]
#[case(Trouble::NoResources, 0, MsgStatus::LocalError)]
fn a_wire_makes_its_trouble(
    #[case] trouble: Trouble,
    #[case] after_ms: u64,
    #[case] status: MsgStatus,
) {
    let failed = check(true, |lnet| {
        let (from, to) = (stage::port("A", "a1"), stage::port("B", "b1"));
        lnet.notify(Notice::Wire {
            from,
            to,
            wire: Wire::Fails(trouble),
        })
        .unwrap();
    });
    assert_eq!(failed, Some((after_ms, status)));
}

#[test]
fn a_wire_that_is_dead_one_way_loses_only_that_way() {
    let failed = check(true, |lnet| {
        let (from, to) = (stage::port("B", "b1"), stage::port("A", "a1"));
        let wire = Wire::Fails(Trouble::StillSending);
        lnet.notify(Notice::Wire { from, to, wire }).unwrap();
    });
    assert_eq!(failed, None);
}

/// Eight are posted; those behind them stay queued.
#[test]
fn behind_eight_posted_messages_a_dark_port_is_a_local_timeout() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    port(&mut lnet, "a1", PortEvent::Lost);
    for _ in 0..10 {
        put(&mut lnet, None, "b1");
    }
    let failed = failures(&lnet.advance(SimTime::from_ms(49_500)));
    let of = |status| failed.iter().filter(|(_, found)| *found == status).count();
    let posted = failed.iter().filter(|(at_ms, _)| *at_ms == 4_000).count();
    assert_eq!(posted, 8, "{failed:?}");
    assert!(
        failed.contains(&(49_000, MsgStatus::LocalTimeout)),
        "{failed:?}"
    );
    assert_eq!(of(MsgStatus::LocalTimeout), 2);
}

#[test]
fn a_message_on_the_wire_is_lost_with_the_port_it_was_going_to() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    put(&mut lnet, None, "b1");
    port(&mut lnet, "b1", PortEvent::Lost);
    let happened = lnet.advance(SimTime::from_secs(10));
    assert_eq!(failures(&happened), [(4_001, MsgStatus::RemoteDropped)]);
    let arrived = happened
        .iter()
        .any(|entry| matches!(entry.what, What::Arrived { .. }));
    assert!(!arrived);
}

#[rstest]
#[case(
    Trouble::CompletionFailed,
    MsgStatus::RemoteDropped,
    MsgStatus::RemoteDropped
)]
#[case(
    Trouble::AwaitingResponse,
    MsgStatus::RemoteTimeout,
    MsgStatus::RemoteTimeout
)]
#[case(
    Trouble::StillSending,
    MsgStatus::NetworkTimeout,
    MsgStatus::NetworkTimeout
)]
#[case(
    Trouble::StillQueued,
    MsgStatus::LocalTimeout,
    MsgStatus::NetworkTimeout
)]
#[case(
    Trouble::ConnectTimedOut,
    MsgStatus::NetworkTimeout,
    MsgStatus::NetworkTimeout
)]
#[case(
    Trouble::ConnectUnreachable,
    MsgStatus::NetworkTimeout,
    MsgStatus::RemoteDropped
)]
#[case(
    Trouble::ConnectRefused,
    MsgStatus::RemoteDropped,
    MsgStatus::RemoteDropped
)]
#[case(Trouble::ConnectFailed, MsgStatus::LocalDropped, MsgStatus::LocalError)]
#[case(Trouble::Nak, MsgStatus::RemoteError, MsgStatus::LocalError)]
#[case(Trouble::NoResources, MsgStatus::LocalError, MsgStatus::LocalError)]
fn each_driver_has_its_word_for_a_trouble(
    #[case] trouble: Trouble,
    #[case] o2ib: MsgStatus,
    #[case] sock: MsgStatus,
) {
    assert_eq!(trouble.status(Lnd::O2ib), o2ib);
    assert_eq!(trouble.status(Lnd::Sock), sock);
}

#[test]
fn a_removed_device_leaves_the_flag_and_says_a_line() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    port(&mut lnet, "a1", PortEvent::Gone);
    let happened = lnet.advance(SimTime::from_ms(1));
    let node = lnet.node(&stage::name("A")).unwrap();
    assert!(!node.ni(&stage::nid("a1", "o2ib")).unwrap().fatal);
    let line = happened.iter().find_map(|entry| match &entry.what {
        What::Console(line) => Some(line.as_str()),
        _ => None,
    });
    assert_eq!(
        line,
        Some("a1@o2ib: device removed, shut down LNet to release it")
    );
}

/// Over TCP the netdev goes with the device, and that sets the flag.
#[test]
fn a_removed_netdev_of_tcp_sets_the_flag_and_says_nothing() {
    let mut lnet = stage::lnet(stage::specs("mr-tcp", LnetProfile::V2_17));
    port(&mut lnet, "a1", PortEvent::Gone);
    let happened = lnet.advance(SimTime::from_ms(1));
    let node = lnet.node(&stage::name("A")).unwrap();
    assert!(node.ni(&stage::nid("a1", "tcp")).unwrap().fatal);
    let said = happened
        .iter()
        .any(|entry| matches!(entry.what, What::Console(_)));
    assert!(!said);
}

#[test]
fn interfaces_in_recovery_are_named_on_the_console_once_a_minute() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_15));
    for nid in ["a1", "a2"] {
        let nid = stage::nid(nid, "o2ib");
        lnet.set_health(&stage::name("A"), lnet::Side::Local, &nid, 900)
            .unwrap();
    }
    let lines = lnet
        .advance(SimTime::from_secs(30))
        .into_iter()
        .filter_map(|entry| match entry.what {
            What::Console(line) => Some((entry.at, line)),
            _ => None,
        });
    let expected = "2 local NIs in recovery (showing 2): a1@o2ib, a2@o2ib".to_owned();
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [(SimTime::from_secs(1), expected)]
    );
}

#[test]
fn an_unloaded_node_ends_what_it_was_asked_for() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    put(&mut lnet, None, "b1");
    lnet.notify(Notice::Node {
        node: stage::name("A"),
        loaded: false,
    })
    .unwrap();
    let happened = lnet.advance(SimTime::from_secs(1));
    let rendered: Vec<UlpResult> = happened
        .iter()
        .filter_map(|entry| match entry.what {
            What::Told {
                result, last: true, ..
            } => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(rendered, [UlpResult::Shutdown]);
}

/// A response that never comes is reported between one and one and a half transaction timeouts, and
/// the next hop is blamed for it.
#[rstest]
#[case(1)]
#[case(20_000)]
#[case(74_999)]
fn a_missing_response_is_reported_in_time(#[case] from_ms: u64) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let (from, to) = (stage::port("B", "b1"), stage::port("A", "a1"));
    let wire = Wire::Fails(Trouble::StillSending);
    lnet.notify(Notice::Wire { from, to, wire }).unwrap();
    lnet.advance(SimTime::from_ms(from_ms));
    lnet.send(Request {
        node: stage::name("A"),
        verb: Verb::Get,
        source: None,
        destination: stage::nid("b1", "o2ib"),
        length: 4096,
        portal: 12,
    })
    .unwrap();
    let happened = lnet.advance(SimTime::from_ms(from_ms + 226_000));
    let at = happened.iter().find_map(|entry| match entry.what {
        What::Told {
            result: UlpResult::TimedOut,
            ..
        } => Some(entry.at.as_ms() - from_ms),
        _ => None,
    });
    assert!((150_000..=225_000).contains(&at.unwrap()), "{at:?}");
    let node = lnet.node(&stage::name("A")).unwrap();
    assert_eq!(node.statistics().response_timeout_count, 1);
    assert_eq!(
        node.peer_ni(&stage::nid("b1", "o2ib"))
            .unwrap()
            .health
            .value(),
        900
    );
}

/// "LNet Resend Handling": the driver closes the connection and drops all messages on it. Three messages are posted one
/// after the other to a port without light; the retries of the first run out.
#[test]
fn messages_on_a_dead_connection_fail_together() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    put(&mut lnet, None, "b1");
    lnet.advance(SimTime::from_secs(10));
    port(&mut lnet, "b1", PortEvent::Lost);
    let mut happened = Vec::new();
    for at_s in [10, 11, 13] {
        happened.extend(lnet.advance(SimTime::from_secs(at_s)));
        put(&mut lnet, None, "b1");
    }
    happened.extend(lnet.advance(SimTime::from_secs(40)));
    let failed = failures(&happened);
    let together: Vec<_> = failed
        .iter()
        .filter(|(at_ms, _)| *at_ms == 14_000)
        .collect();
    assert_eq!(
        together,
        [&(14_000, MsgStatus::RemoteDropped); 3],
        "{failed:?}"
    );
}

/// A timeout of the driver closes the connection too: what was posted later and would have waited longer ends with it.
#[rstest]
#[case(Trouble::AwaitingResponse, MsgStatus::RemoteTimeout)]
#[case(Trouble::StillSending, MsgStatus::NetworkTimeout)]
#[case(Trouble::StillQueued, MsgStatus::LocalTimeout)]
fn a_timeout_drops_all_messages_of_its_connection(
    #[case] trouble: Trouble,
    #[case] status: MsgStatus,
) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    stage::wire(&mut lnet, "a1", "b1", Wire::Fails(trouble));
    put(&mut lnet, None, "b1");
    lnet.advance(SimTime::from_secs(20));
    put(&mut lnet, None, "b1");
    let happened = lnet.advance(SimTime::from_ms(49_500));
    let failed: Vec<_> = failures(&happened)
        .into_iter()
        .filter(|(_, its)| *its == status)
        .collect();
    assert_eq!(failed, [(49_000, status); 2]);
}

/// A message that is still connecting is on no connection, and one to another interface on another.
#[test]
fn a_closed_connection_drops_nothing_of_another() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    stage::wire(
        &mut lnet,
        "a1",
        "b1",
        Wire::Fails(Trouble::AwaitingResponse),
    );
    let late = Wire::Delays(SimTime::from_secs(60));
    stage::wire(&mut lnet, "a2", "b2", late);
    for (from, to) in [("a1", "b1"), ("a2", "b2")] {
        put(&mut lnet, Some(from), to);
    }
    let happened = lnet.advance(SimTime::from_ms(49_500));
    assert_eq!(failures(&happened), [(49_000, MsgStatus::RemoteTimeout)]);
}
