//! Profile `hld` where the "LNet Health HLD" says otherwise than the releases.

use lnet::{
    Errand, Health, Lnet, LnetProfile, MsgStatus, Notice, Pace, Param, ParamError, PortEvent,
    Request, Side, Trouble, UlpEvent, UlpResult, Verb, What, Wire, WorkloadEvent,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage;

fn send(lnet: &mut Lnet, verb: Verb, length: u64) {
    let request = Request {
        node: stage::name("A"),
        verb,
        source: None,
        destination: stage::nid("b1", "o2ib"),
        length,
        portal: 12,
    };
    lnet.send(request).unwrap();
}

fn fails(lnet: &mut Lnet, from: &str, to: &str, trouble: Trouble) {
    let port = |nid: &str| stage::port(&nid[..1].to_uppercase(), nid);
    let (from, to) = (port(from), port(to));
    let wire = Wire::Fails(trouble);
    lnet.notify(Notice::Wire { from, to, wire }).unwrap();
}

fn port(lnet: &mut Lnet, nid: &str, event: PortEvent) {
    let port = stage::port(&nid[..1].to_uppercase(), nid);
    lnet.notify(Notice::Port { port, event }).unwrap();
}

/// When each attempt for the layer above was made, in milliseconds.
fn attempts(happened: &[WorkloadEvent]) -> Vec<u64> {
    let errand = Errand::Ulp;
    let sent = happened.iter().filter(|entry| match entry.what {
        What::Sent { errand: its, .. } => its == errand,
        _ => false,
    });
    sent.map(|entry| entry.at.as_ms()).collect()
}

/// What the layer above was told last, and when in milliseconds.
fn told(happened: &[WorkloadEvent]) -> Vec<(u64, UlpEvent, UlpResult)> {
    let told = happened.iter().filter_map(|entry| match entry.what {
        What::Told {
            event,
            result,
            last: true,
            ..
        } => Some((entry.at.as_ms(), event, result)),
        _ => None,
    });
    told.collect()
}

/// "Health Value Updates", 2 g: it turns off health evaluation, and nothing is said of retries.
#[test]
fn sensitivity_0_leaves_the_retries() {
    let mut params = LnetProfile::Hld.defaults();
    params.set(Param::HealthSensitivity, 0).unwrap();
    assert_eq!(params.get(Param::RetryCount), 2);
    assert_eq!(params.set(Param::RetryCount, 4), Ok(()));
    let mut built = LnetProfile::V2_17.defaults();
    built.set(Param::HealthSensitivity, 0).unwrap();
    assert_eq!(built.get(Param::RetryCount), 0);
    let refused = built.set(Param::RetryCount, 1);
    assert_eq!(refused, Err(ParamError::RetryWithoutHealth(1)));
}

#[test]
fn without_health_a_failure_is_resent_and_costs_nothing() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    let node = stage::name("A");
    lnet.set(&node, Param::HealthSensitivity, 0).unwrap();
    let rule = stage::simulate(Pace::Every, "local_dropped");
    lnet.add_rule(&node, rule).unwrap();
    send(&mut lnet, Verb::Put, 100);
    let happened = lnet.advance(SimTime::from_ms(500));
    assert_eq!(attempts(&happened).len(), 3, "two retries");
    let nis = lnet.node(&node).unwrap().nis();
    assert!(
        nis.iter()
            .all(|ni| ni.health == Health::MAX && !ni.recovery.queued)
    );
}

/// "Health Value Updates", 2 g ii: selection based on health is turned off.
#[test]
fn without_health_selection_does_not_look_at_it() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    let node = stage::name("A");
    let low = stage::nid("a1", "o2ib");
    lnet.set_health(&node, Side::Local, &low, 100).unwrap();
    lnet.set(&node, Param::HealthSensitivity, 0).unwrap();
    for _ in 0..4 {
        send(&mut lnet, Verb::Put, 100);
        lnet.advance(lnet.now() + SimTime::from_ms(5));
    }
    let nis = lnet.node(&node).unwrap().nis();
    let sent: Vec<u64> = nis.iter().map(|ni| ni.stats.sent.total()).collect();
    assert_eq!(sent, [2, 2]);
}

/// "LND timeout": a PUT of 4 KiB or more is two messages of o2iblnd, everything else is one. The
/// message timeout is 150 s / 2.
#[rstest]
#[case::get(Verb::Get, 1_048_576, 75_000)]
#[case::immediate(Verb::Put, 4095, 75_000)]
#[case::put(Verb::Put, 4096, 37_500)]
#[case::bulk_put(Verb::PutAck, 1_048_576, 37_500)]
fn an_attempt_has_the_message_timeout_over_its_messages(
    #[case] verb: Verb,
    #[case] length: u64,
    #[case] ends_ms: u64,
) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::Hld));
    fails(&mut lnet, "a1", "b1", Trouble::StillQueued);
    send(&mut lnet, verb, length);
    let happened = lnet.advance(SimTime::from_secs(100));
    let judged = happened.iter().find_map(|entry| match entry.what {
        What::Judged { status, .. } => Some((entry.at.as_ms(), status)),
        _ => None,
    });
    assert_eq!(judged, Some((ends_ms, MsgStatus::LocalTimeout)));
}

/// sockets send a message as it is.
#[test]
fn an_attempt_over_sockets_has_the_whole_message_timeout() {
    let mut lnet = stage::lnet(stage::specs("mr-tcp", LnetProfile::Hld));
    for (from, to) in [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")] {
        fails(&mut lnet, from, to, Trouble::StillQueued);
    }
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Put,
        source: None,
        destination: stage::nid("b1", "tcp"),
        length: 1_048_576,
        portal: 12,
    };
    lnet.send(request).unwrap();
    let happened = lnet.advance(SimTime::from_secs(100));
    let judged = happened
        .iter()
        .find(|entry| matches!(entry.what, What::Judged { .. }));
    assert_eq!(judged.map(|entry| entry.at.as_ms()), Some(75_000));
}

/// "The Monitor Thread", 1: it finalises a message whose deadline has come, although its driver still
/// holds it.
#[rstest]
#[case(Verb::Put)]
#[case(Verb::PutAck)]
#[case(Verb::Get)]
fn at_the_transaction_timeout_a_message_is_finalised_and_the_layer_above_told(#[case] verb: Verb) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::Hld));
    lnet.advance(SimTime::from_ms(300));
    fails(&mut lnet, "a1", "b1", Trouble::StillQueued);
    send(&mut lnet, verb, 100);
    let happened = lnet.advance(SimTime::from_secs(400));
    let expected = [(151_000, UlpEvent::Send, UlpResult::TimedOut)];
    assert_eq!(told(&happened), expected, "the first wake-up after 150.3 s");
    assert_eq!(attempts(&happened).first(), Some(&300));
    assert!(attempts(&happened).iter().all(|at| *at <= 150_300));
    let stats = lnet.node(&stage::name("A")).unwrap().statistics();
    assert_eq!((stats.msgs_alloc, stats.rst_alloc), (0, 0));
    let ni = &lnet.node(&stage::name("A")).unwrap().nis()[0];
    assert_eq!(
        ni.tx_credits,
        i64::from(ni.spec.credits),
        "its credit is back"
    );
}

/// A request that was sent and is never answered is told of at the transaction timeout, not at a scan
/// of half of it.
#[test]
fn a_missing_answer_is_told_of_in_the_second_of_the_transaction_timeout() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::Hld));
    lnet.advance(SimTime::from_ms(300));
    fails(&mut lnet, "b1", "a1", Trouble::StillQueued);
    send(&mut lnet, Verb::PutAck, 100);
    let happened = lnet.advance(SimTime::from_secs(400));
    assert_eq!(
        told(&happened),
        [(151_000, UlpEvent::Unlink, UlpResult::TimedOut)]
    );
}

/// "Hard Failures": an interface whose device is removed cannot be selected, until a corresponding
/// event says that it is operational again.
#[test]
fn a_removed_device_is_a_hard_failure() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::Hld));
    port(&mut lnet, "a1", PortEvent::Gone);
    let fatal = |lnet: &Lnet| lnet.node(&stage::name("A")).unwrap().nis()[0].fatal;
    assert!(fatal(&lnet));
    for _ in 0..4 {
        send(&mut lnet, Verb::Put, 100);
    }
    lnet.advance(SimTime::from_secs(1));
    let nis = lnet.node(&stage::name("A")).unwrap().nis();
    let sent: Vec<u64> = nis.iter().map(|ni| ni.stats.sent.total()).collect();
    assert_eq!(sent, [0, 4]);
    port(&mut lnet, "a1", PortEvent::Active);
    assert!(!fatal(&lnet));
}

/// The wire of A's first interface to both of B's fails so, and nothing else does.
fn first_fails(lnet: &mut Lnet, trouble: Trouble) {
    for to in ["b1", "b2"] {
        fails(lnet, "a1", to, trouble);
    }
}

/// "Asynchronous Send Failures", 2: LNet should resend on a connection failure, whatever kind it is. The releases follow
/// their driver, which has only some of them sent again.
#[rstest]
#[case::timed_out(Trouble::ConnectTimedOut, 1)]
#[case::unreachable(Trouble::ConnectUnreachable, 1)]
#[case::refused(Trouble::ConnectRefused, 2)]
#[case::otherwise(Trouble::ConnectFailed, 2)]
fn a_connection_failure_is_followed_by_a_resend(#[case] trouble: Trouble, #[case] released: usize) {
    for (profile, tries) in [(LnetProfile::Hld, 2), (LnetProfile::V2_17, released)] {
        let mut lnet = stage::lnet(stage::specs("mr", profile));
        first_fails(&mut lnet, trouble);
        send(&mut lnet, Verb::Put, 100);
        let happened = lnet.advance(SimTime::from_secs(100));
        let (made, told) = (attempts(&happened).len(), told(&happened));
        if profile == LnetProfile::Hld {
            assert_eq!(made, tries, "{profile}");
            assert_eq!(
                told[0].2,
                UlpResult::Ok,
                "{profile}: by the other interface"
            );
        } else {
            assert_eq!(made > 1, tries > 1, "{profile}: {made}");
        }
    }
}

/// "Health Value Updates", 2 f: the ping of a1 leaves by a2, which is the healthier, and is dropped there. It costs a1 in
/// the document, and a2 in the releases.
#[rstest]
#[case(LnetProfile::Hld, [850, 1000])]
#[case(LnetProfile::V2_17, [950, 900])]
fn a_failed_ping_costs_who_is_being_recovered(
    #[case] profile: LnetProfile,
    #[case] healths: [u16; 2],
) {
    let mut lnet = stage::lnet(stage::specs("mr", profile));
    let a = stage::name("A");
    lnet.set_health(&a, Side::Local, &stage::nid("a1", "o2ib"), 950)
        .unwrap();
    lnet.add_rule(&a, stage::simulate(Pace::Every, "local_dropped"))
        .unwrap();
    lnet.advance(SimTime::from_ms(1500));
    let nis = lnet.node(&a).unwrap().nis();
    let found: Vec<u16> = nis.iter().map(|ni| ni.health.value()).collect();
    assert_eq!(found, healths);
}

/// A ping of a peer's interface that fails here costs both: the one that carried it, and the one that is being recovered.
#[test]
fn a_failed_ping_of_a_peer_costs_the_peer_too() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::Hld));
    let (a, b1) = (stage::name("A"), stage::nid("b1", "o2ib"));
    lnet.set_health(&a, Side::Peer, &b1, 950).unwrap();
    lnet.add_rule(&a, stage::simulate(Pace::Every, "local_dropped"))
        .unwrap();
    lnet.advance(SimTime::from_ms(1500));
    let node = lnet.node(&a).unwrap();
    assert_eq!(node.peer_ni(&b1).unwrap().health.value(), 850);
    assert_eq!(node.nis()[0].health.value(), 900);
}
