//! Profile `hld` where the "LNet Health HLD" says otherwise than the releases.

use lnet::{
    Errand, Health, Lnet, MsgStatus, Notice, Pace, Param, ParamError, PortEvent, Profile, Request,
    Side, Trouble, UlpEvent, UlpResult, Verb, What, Wire, WorkloadEvent,
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
    let mut params = Profile::Hld.defaults();
    params.set(Param::HealthSensitivity, 0).unwrap();
    assert_eq!(params.get(Param::RetryCount), 2);
    assert_eq!(params.set(Param::RetryCount, 4), Ok(()));
    let mut built = Profile::V2_17.defaults();
    built.set(Param::HealthSensitivity, 0).unwrap();
    assert_eq!(built.get(Param::RetryCount), 0);
    let refused = built.set(Param::RetryCount, 1);
    assert_eq!(refused, Err(ParamError::RetryWithoutHealth(1)));
}

#[test]
fn without_health_a_failure_is_resent_and_costs_nothing() {
    let mut lnet = stage::lnet(stage::specs("mr", Profile::Hld));
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
    let mut lnet = stage::lnet(stage::specs("mr", Profile::Hld));
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
    let mut lnet = stage::lnet(stage::specs("sr", Profile::Hld));
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
    let mut lnet = stage::lnet(stage::specs("mr-tcp", Profile::Hld));
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
    let mut lnet = stage::lnet(stage::specs("sr", Profile::Hld));
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
    let mut lnet = stage::lnet(stage::specs("sr", Profile::Hld));
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
    let mut lnet = stage::lnet(stage::specs("mr", Profile::Hld));
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
