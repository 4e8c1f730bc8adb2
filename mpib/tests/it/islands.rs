//! Islands that the ends of a connection see differently, and the send queue for clear-to-send.

use mpib::{
    Bytes, CTS_QUEUE_DEPTH, Death, Environment, FailureCause, Hazard, Host, Isend, Job, JobTraffic,
    MpibProfile, NcclResult, Net, Rail, Settings, Side, SupBandwidth, Tag, eight_vms, ring,
};
use rstest::rstest;
use simfs::SimTime;
use workloads::WorkloadOutcome;

use crate::rig::{buffer, connect, eight, net_of, send, vm};

const MIB: u64 = 1_048_576;

/// The eight machines; those with these numbers have this prefix length, the others 24.
fn prefixed(numbers: &[usize], prefix: &str) -> Vec<Host> {
    let mut hosts = eight_vms();
    for number in numbers {
        let environment = Environment::baseline().with("MPIB_ISLAND_PREFIX_LEN", prefix);
        hosts[number - 1].environment = environment;
    }
    hosts
}

/// `vm1` sends to `vm5` in the other island; only the receiver takes them for one island, so its
/// clear-to-send uses SUP, which has no route between the islands.
#[rstest]
#[case(MpibProfile::Spec)]
#[case(MpibProfile::G1)]
fn a_clear_to_send_that_crosses_islands_on_sup_is_lost(#[case] profile: MpibProfile) {
    let mut net = net_of(profile, prefixed(&[5], "16"));
    let connection = connect(&mut net, 1, 5);
    assert_eq!(net.path(connection, Side::Send).cts_rail(), Rail::Sout);
    assert_eq!(net.path(connection, Side::Receive).cts_rail(), Rail::Sup);
    net.irecv(connection, &[buffer(MIB)]).expect("it is alive");
    net.advance(SimTime::from_secs(25));
    let sent = net.isend(connection, Tag(1), Bytes::new(MIB));
    assert_eq!(sent, Ok(Isend::CallAgain), "it was never cleared");
    let rail = Rail::Sup;
    assert_eq!(net.hazards(), [Hazard::NoRoute { connection, rail }]);
    net.advance(SimTime::from_secs(40));
    let host = vm(5);
    let death = Death::RetryExceeded { host, rail };
    assert_eq!(net.death(connection).map(|(_, death)| death), Some(death));
    let bytes = net.nic(vm(5), rail);
    assert_eq!((bytes.sent, bytes.received), (Bytes::new(0), Bytes::new(0)));
}

/// The hint decides on the sender's data only.
#[rstest]
#[case::all_by_sup(SupBandwidth::MAX)]
#[case::all_by_sout(SupBandwidth::NONE)]
fn no_hint_saves_a_job_whose_clear_to_send_is_lost(#[case] share: SupBandwidth) {
    let mut hosts = prefixed(&[5], "16");
    for host in &mut hosts {
        host.agent = mpib::Agent::running(share);
    }
    let net = Net::new(hosts, Settings::new(MpibProfile::G1));
    let edges = ring(&[vm(1), vm(5)]);
    let mut job = Job::start(net, &edges[..1], JobTraffic::steady());
    job.advance(SimTime::from_secs(60));
    assert_eq!(job.outcome(), WorkloadOutcome::Failed);
    let failure = job.failure().expect("it failed");
    assert!((30..=36).contains(&(failure.at.as_ms() / 1000)));
    let (host, rail) = (vm(5), Rail::Sup);
    let death = Death::RetryExceeded { host, rail };
    assert_eq!(failure.cause, FailureCause::Network(death));
}

/// Only the sender takes them for one island: with a hint of 0 nothing of it crosses on SUP.
#[rstest]
#[case::by_sup(SupBandwidth::MAX, WorkloadOutcome::Failed)]
#[case::by_sout(SupBandwidth::NONE, WorkloadOutcome::Survived)]
fn data_that_crosses_islands_on_sup_is_lost(
    #[case] share: SupBandwidth,
    #[case] expected: WorkloadOutcome,
) {
    let mut hosts = prefixed(&[1], "16");
    hosts[0].agent = mpib::Agent::running(share);
    let net = Net::new(hosts, Settings::new(MpibProfile::G1));
    let edges = ring(&[vm(1), vm(5)]);
    let mut job = Job::start(net, &edges[..1], JobTraffic::steady());
    job.advance(SimTime::from_secs(60));
    assert_eq!(job.outcome(), expected);
    let lost = job.net().hazards().iter();
    let lost = lost.filter(|hazard| matches!(hazard, Hazard::NoRoute { .. }));
    assert_eq!(lost.count() > 0, expected == WorkloadOutcome::Failed);
}

#[test]
fn inside_an_island_and_between_equal_prefixes_nothing_is_lost() {
    let mut net = eight(MpibProfile::G1);
    for (from, to) in [(1, 2), (5, 8), (1, 5)] {
        let connection = connect(&mut net, from, to);
        send(&mut net, connection, MIB);
    }
    assert_eq!(net.hazards(), []);
}

/// A net whose hosts ask for a completion of one in so many clear-to-send writes, with this depth of
/// their queue.
fn queued(interval: &str, depth: u32) -> Net {
    let mut hosts = eight_vms();
    for host in &mut hosts {
        let environment = Environment::baseline().with("MPIB_CTS_SIGNAL_INTERVAL", interval);
        host.environment = environment;
    }
    let settings = Settings {
        cts_queue_depth: depth,
        ..Settings::new(MpibProfile::G1)
    };
    let mut net = Net::new(hosts, settings);
    for host in net.hosts() {
        net.init(host).expect("the plugin is accepted");
    }
    net
}

/// How many messages a connection delivers before a call fails, at most a thousand.
fn delivered(net: &mut Net, to: u16) -> (usize, Option<Death>) {
    let connection = connect(net, 1, to);
    for number in 0..1000 {
        match net.irecv(connection, &[buffer(MIB)]) {
            Ok(_) => {
                let sent = net.isend(connection, Tag(1), Bytes::new(MIB));
                assert!(matches!(sent, Ok(Isend::Request(..))), "{sent:?}");
            }
            Err(error) => {
                assert_eq!(error, NcclResult::SystemError);
                return (number, net.death(connection).map(|(_, death)| death));
            }
        }
    }
    (1000, None)
}

/// The places of writes that asked for no completion are free again with the next one that did
/// ("Baseline: Isolated Path Separation", 8, item 1).
#[rstest]
#[case::as_it_is("128", CTS_QUEUE_DEPTH, 1000)]
#[case::deep_enough("128", 128, 1000)]
#[case::one_too_few("128", 127, 127)]
#[case::every_one_asks("1", 1, 1000)]
#[case::rarely_asked("1024", 512, 512)]
fn a_queue_that_is_shorter_than_the_interval_fills_up(
    #[case] interval: &str,
    #[case] depth: u32,
    #[case] messages: usize,
    #[values((2, Rail::Sup), (5, Rail::Sout))] (to, rail): (u16, Rail),
) {
    let mut net = queued(interval, depth);
    let (count, death) = delivered(&mut net, to);
    assert_eq!(count, messages);
    let host = vm(to);
    let full = Death::QueueFull { host, rail };
    assert_eq!(death, Some(full).filter(|_| messages < 1000));
}

#[test]
fn a_full_queue_ends_the_job() {
    let mut job = Job::start(
        queued("128", 100),
        &ring(&[vm(1), vm(2)]),
        JobTraffic::steady(),
    );
    job.advance(SimTime::from_secs(60));
    let failure = job.failure().expect("it failed");
    assert_eq!(
        failure.at,
        SimTime::from_secs(10),
        "the 101st message of 100 ms each"
    );
    let rail = Rail::Sup;
    let full = [vm(1), vm(2)].map(|host| FailureCause::Network(Death::QueueFull { host, rail }));
    assert!(full.contains(&failure.cause));
    assert_eq!(job.result(), Some(NcclResult::SystemError));
}
