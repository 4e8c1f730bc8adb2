//! The effect of an outage on posted writes, and on nothing else.

use mpib::{
    ACK_TIMEOUT_EXPONENT, Bytes, Death, MpibProfile, NcclResult, Net, Rail, RailState, Retries,
    Settings, Side, Tag, WC_RETRY_EXCEEDED, ack_timeout, eight_vms,
};
use rstest::rstest;
use simfs::SimTime;

use crate::rig::{buffer, connect, done, eight, notify, send, vm};

const MIB: u64 = 1 << 20;
const TRY_NS: u64 = 4_294_967_296;

#[test]
fn one_try_of_the_plugin_takes_4_295_seconds() {
    assert_eq!(ack_timeout(ACK_TIMEOUT_EXPONENT), SimTime::from_ns(TRY_NS));
    assert_eq!(WC_RETRY_EXCEEDED, 12);
}

/// Seven tries in whole milliseconds, as NCCL's documentation lists them.
#[rstest]
#[case(17, 3_758)]
#[case(18, 7_516)]
#[case(19, 15_032)]
#[case(20, 30_064)]
#[case(21, 60_129)]
#[case(22, 120_259)]
fn seven_tries_last_as_nccl_lists_them(#[case] exponent: u8, #[case] span_ms: u64) {
    assert_eq!(ack_timeout(exponent).as_ns() * 7 / 1_000_000, span_ms);
}

/// Sends 1 MiB from vm1 to vm2 at 1 s into an outage of vm2's SUP port of `outage_ms`; returns when
/// it was received.
fn check(retries: Retries, outage_ms: u64) -> Result<SimTime, (SimTime, Death)> {
    let settings = Settings {
        retries,
        ..Settings::new(MpibProfile::G1)
    };
    let mut net = Net::new(eight_vms(), settings);
    for host in net.hosts() {
        net.init(host).expect("the plugin is accepted");
    }
    let connection = connect(&mut net, 1, 2);
    let receive = buffer(MIB);
    let received = net.irecv(connection, &[receive]).expect("alive");
    notify(&mut net, 1_000, 2, Rail::Sup, RailState::Down);
    net.isend(connection, Tag(1), Bytes::new(MIB))
        .expect("alive");
    notify(&mut net, 1_000 + outage_ms, 2, Rail::Sup, RailState::Up);
    net.advance(SimTime::from_secs(100));
    match net.death(connection) {
        Some(death) => {
            assert_eq!(net.test(received), Err(NcclResult::SystemError));
            Err(death)
        }
        None => Ok(done(&mut net, received).expect("what is not dead is through")),
    }
}

fn after_tries(tries: u64) -> SimTime {
    SimTime::from_secs(1) + SimTime::from_ns(tries * TRY_NS)
}

#[rstest]
#[case(1, 1)]
#[case(4_294, 1)]
#[case(4_295, 2)]
#[case(10_000, 3)]
#[case(25_000, 6)]
fn a_write_gets_through_at_the_first_retransmission_after_the_outage(
    #[values(Retries::Seven, Retries::Eight)] retries: Retries,
    #[case] outage_ms: u64,
    #[case] tries: u64,
) {
    assert_eq!(check(retries, outage_ms), Ok(after_tries(tries)));
}

#[rstest]
#[case(Retries::Seven, 7)]
#[case(Retries::Eight, 8)]
fn an_outage_of_40_seconds_kills_after_the_last_try(#[case] retries: Retries, #[case] tries: u64) {
    let (host, rail) = (vm(1), Rail::Sup);
    let death = Death::RetryExceeded { host, rail };
    assert_eq!(check(retries, 40_000), Err((after_tries(tries), death)));
    assert_eq!(u64::from(retries.tries()), tries);
    assert_eq!(Retries::new(retries.tries()), Some(retries));
}

#[test]
fn a_write_posted_behind_a_lost_one_waits_with_it() {
    let mut hosts = eight_vms();
    hosts[0].environment = mpib::Environment::baseline().with("MPIB_SUP_QP", "1");
    let mut net = crate::rig::net_of(MpibProfile::G1, hosts);
    let connection = connect(&mut net, 1, 2);
    let receive = buffer(MIB);
    let received = [(); 3].map(|()| net.irecv(connection, &[receive]).expect("alive"));
    let post = |net: &mut Net| {
        net.isend(connection, Tag(1), Bytes::new(MIB))
            .expect("alive");
    };
    notify(&mut net, 1_000, 1, Rail::Sup, RailState::Down);
    post(&mut net);
    net.advance(SimTime::from_secs(2));
    post(&mut net);
    notify(&mut net, 3_000, 1, Rail::Sup, RailState::Up);
    post(&mut net);
    net.advance(SimTime::from_secs(4));
    assert_eq!(received.map(|id| done(&mut net, id)), [None; 3]);
    net.advance(SimTime::from_secs(6));
    let through = received.map(|id| done(&mut net, id));
    assert_eq!(
        through,
        [Some(after_tries(1)); 3],
        "the order of a queue pair is kept"
    );
}

#[test]
fn writes_lost_in_one_instant_each_have_their_own_tries() {
    let mut net = eight(MpibProfile::G1);
    let connections = [2, 3].map(|to| connect(&mut net, 1, to));
    for connection in connections {
        let receive = buffer(MIB);
        net.irecv(connection, &[receive]).expect("alive");
    }
    notify(&mut net, 1_000, 1, Rail::Sup, RailState::Down);
    for connection in connections {
        net.isend(connection, Tag(1), Bytes::new(MIB))
            .expect("alive");
    }
    net.advance(SimTime::from_secs(60));
    let (host, rail) = (vm(1), Rail::Sup);
    let death = (after_tries(8), Death::RetryExceeded { host, rail });
    assert_eq!(connections.map(|id| net.death(id)), [Some(death); 2]);
}

#[test]
fn clear_to_send_follows_the_same_rule_on_its_own_rail() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    notify(&mut net, 1_000, 1, Rail::Sup, RailState::Down);
    let receive = buffer(MIB);
    net.irecv(connection, &[receive]).expect("alive");
    net.advance(SimTime::from_secs(60));
    let (host, rail) = (vm(2), Rail::Sup);
    assert_eq!(net.path(connection, Side::Receive).cts_rail(), Rail::Sup);
    assert_eq!(
        net.death(connection),
        Some((after_tries(8), Death::RetryExceeded { host, rail }))
    );
}

#[test]
fn a_rail_with_nothing_posted_feels_nothing() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    notify(&mut net, 1_000, 1, Rail::Sup, RailState::Down);
    notify(&mut net, 60_000, 1, Rail::Sup, RailState::Up);
    let (_, sent, received) = send(&mut net, connection, MIB);
    assert_eq!(done(&mut net, sent), Some(SimTime::from_secs(60)));
    assert_eq!(done(&mut net, received), Some(SimTime::from_secs(60)));
    assert_eq!(net.death(connection), None);
}

#[test]
fn a_device_that_goes_takes_its_connections_at_once() {
    let mut net = eight(MpibProfile::G2);
    let inside = connect(&mut net, 1, 2);
    let between = connect(&mut net, 1, 5);
    let elsewhere = connect(&mut net, 3, 4);
    notify(&mut net, 1_000, 1, Rail::Sup, RailState::Gone);
    let (host, rail) = (vm(1), Rail::Sup);
    let death = Some((SimTime::from_secs(1), Death::DeviceGone { host, rail }));
    assert_eq!(net.death(inside), death);
    assert_eq!(net.death(between), None, "it has no queue pairs on SUP");
    assert_eq!(net.death(elsewhere), None);
    notify(&mut net, 2_000, 1, Rail::Sup, RailState::Up);
    assert_eq!(net.death(inside), death, "a queue pair does not come back");
    assert_eq!(
        net.isend(inside, Tag(1), Bytes::new(1)),
        Err(NcclResult::SystemError)
    );
}

/// The change comes first, then what is due at the same instant.
#[test]
fn a_rail_that_is_up_at_the_instant_of_a_try_takes_it() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 5);
    notify(&mut net, 0, 1, Rail::Sout, RailState::Down);
    let receive = buffer(MIB);
    net.irecv(connection, &[receive]).expect("alive");
    net.notify(mpib::RailChange {
        at: SimTime::from_ns(TRY_NS),
        host: vm(1),
        rail: Rail::Sout,
        state: RailState::Up,
    });
    net.advance(SimTime::from_ns(TRY_NS));
    let sent = net
        .isend(connection, Tag(1), Bytes::new(MIB))
        .expect("alive");
    assert!(
        matches!(sent, mpib::Isend::Request(..)),
        "it is clear to send"
    );
}
