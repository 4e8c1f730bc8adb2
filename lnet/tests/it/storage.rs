//! Storage traffic: which outages it survives, which degrade it, and which end it.

use lnet::{
    Health, Lnet, LnetProfile, Notice, Patience, PortEvent, Side, Storage, StorageReport, Trouble,
    Wire,
};
use rstest::rstest;
use simfs::SimTime;
use workloads::WorkloadOutcome;

use crate::stage;

/// A port of the client, dark from `from_ms` for `for_ms` (`None`: forever), and the report at 400 s.
fn check(world: &str, ports: &[&str], from_ms: u64, for_ms: Option<u64>) -> (StorageReport, Lnet) {
    let mut lnet = stage::lnet(stage::specs(world, LnetProfile::V2_17));
    let (a, b) = (stage::name("A"), stage::name("B"));
    let mut storage = Storage::new(&lnet, &a, &b, Patience::default()).unwrap();
    storage.advance(&mut lnet, SimTime::from_ms(from_ms));
    let notify = |lnet: &mut Lnet, event| {
        for port in ports {
            let owner = if port.starts_with('a') { "A" } else { "B" };
            let port = stage::port(owner, port);
            lnet.notify(Notice::Port { port, event }).unwrap();
        }
    };
    notify(&mut lnet, PortEvent::Error);
    if let Some(for_ms) = for_ms {
        storage.advance(&mut lnet, SimTime::from_ms(from_ms + for_ms));
        notify(&mut lnet, PortEvent::Active);
    }
    storage.advance(&mut lnet, SimTime::from_secs(400));
    (*storage.report(), lnet)
}

#[rstest]
#[case("sr")]
#[case("mr")]
fn without_faults_a_write_a_second_is_answered(#[case] world: &str) {
    let (report, _) = check(world, &[], 1000, None);
    assert_eq!((report.started, report.answered), (401, 400));
    assert_eq!(report.outcome(), WorkloadOutcome::Survived);
}

/// Also if a request, a fetch or an answer is in flight at that moment.
#[rstest]
#[case(10_000)]
#[case(10_001)]
#[case(10_003)]
#[case(10_500)]
#[case(11_000)]
#[case(11_003)]
fn one_of_two_rails_cut_for_good_costs_storage_nothing(#[case] from_ms: u64) {
    let (report, lnet) = check("mr", &["a1"], from_ms, None);
    assert_eq!(report.outcome(), WorkloadOutcome::Survived, "{report:?}");
    let a1 = stage::nid("a1", "o2ib");
    let client = lnet.node(&stage::name("A")).unwrap();
    assert!(client.ni(&a1).unwrap().fatal);
    let server = lnet.node(&stage::name("B")).unwrap();
    assert!(server.peer_ni(&a1).unwrap().health < Health::MAX);
}

/// A REPLY uses the interface that was asked, also when it is resent: a cut in the millisecond in
/// which the data is in flight costs the client one retry.
#[test]
fn a_cut_while_the_data_is_on_the_wire_degrades_storage() {
    let (report, _) = check("mr", &["a1"], 10_002, None);
    assert_eq!(report.outcome(), WorkloadOutcome::Degraded, "{report:?}");
    assert_eq!((report.errors, report.retries), (1, 1));
}

#[test]
fn a_single_rail_cut_for_good_ends_storage_and_both_instants_are_kept() {
    let (report, _) = check("sr", &["a1"], 10_500, None);
    // The write that started at 11 s is the first without an answer; the server last received
    // something from the client when it fetched the data of the write at 10 s.
    assert_eq!(report.unanswered_at, Some(SimTime::from_secs(111)));
    assert_eq!(report.evicted_at, Some(SimTime::from_ms(160_003)));
    assert_eq!(report.failed_at(), report.unanswered_at);
    assert_eq!(report.outcome(), WorkloadOutcome::Failed);
    assert!(report.errors > 0);
}

#[rstest]
#[case(5_000)]
#[case(45_000)]
fn a_single_rail_that_comes_back_in_time_degrades_storage(#[case] for_ms: u64) {
    let (report, _) = check("sr", &["a1"], 10_500, Some(for_ms));
    assert_eq!(report.outcome(), WorkloadOutcome::Degraded, "{report:?}");
    assert!(report.retries > 0 && report.failed_at().is_none());
    assert!(report.answered > 300, "{report:?}");
}

#[test]
fn the_servers_port_is_as_good_as_the_clients_for_ending_storage() {
    let (report, _) = check("sr", &["b1"], 10_500, None);
    assert_eq!(report.outcome(), WorkloadOutcome::Failed);
    let (report, _) = check("mr", &["b1"], 10_500, None);
    assert_ne!(report.outcome(), WorkloadOutcome::Failed, "{report:?}");
}

#[test]
fn both_rails_cut_end_storage() {
    let (report, _) = check("mr", &["a1", "a2"], 10_500, None);
    assert_eq!(report.outcome(), WorkloadOutcome::Failed);
}

#[test]
fn a_black_hole_on_one_of_two_rails_is_not_the_end() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let (a, b) = (stage::name("A"), stage::name("B"));
    let mut storage = Storage::new(&lnet, &a, &b, Patience::default()).unwrap();
    storage.advance(&mut lnet, SimTime::from_ms(10_500));
    for far in ["b1", "b2"] {
        let (from, to) = (stage::port("A", "a1"), stage::port("B", far));
        let wire = Wire::Fails(Trouble::StillSending);
        lnet.notify(Notice::Wire {
            from: from.clone(),
            to: to.clone(),
            wire,
        })
        .unwrap();
        lnet.notify(Notice::Wire {
            from: to,
            to: from,
            wire,
        })
        .unwrap();
    }
    storage.advance(&mut lnet, SimTime::from_secs(400));
    assert_eq!(
        storage.report().outcome(),
        WorkloadOutcome::Degraded,
        "{:?}",
        storage.report()
    );
}

#[test]
fn a_client_that_is_gone_for_a_minute_reconnects_and_one_gone_for_three_is_evicted() {
    for (away_s, evicted) in [(60, false), (180, true)] {
        let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
        let (a, b) = (stage::name("A"), stage::name("B"));
        let mut storage = Storage::new(&lnet, &a, &b, Patience::default()).unwrap();
        storage.advance(&mut lnet, SimTime::from_ms(10_500));
        lnet.notify(Notice::Node {
            node: a.clone(),
            loaded: false,
        })
        .unwrap();
        storage.advance(&mut lnet, SimTime::from_ms(10_500 + 1000 * away_s));
        lnet.notify(Notice::Node {
            node: a.clone(),
            loaded: true,
        })
        .unwrap();
        storage.advance(&mut lnet, SimTime::from_secs(400));
        let report = storage.report();
        assert_eq!(
            report.evicted_at.is_some(),
            evicted,
            "{away_s} s: {report:?}"
        );
        assert!(report.outcome() >= WorkloadOutcome::Degraded);
    }
}

#[test]
fn two_clients_of_one_server_fare_each_for_itself() {
    let mut specs = stage::specs("mr", LnetProfile::V2_17);
    specs.push(stage::node("C", LnetProfile::V2_17, &[("c1", "o2ib")]));
    let mut lnet = stage::lnet(specs);
    let b = stage::name("B");
    let client =
        |name: &str| Storage::new(&lnet, &stage::name(name), &b, Patience::default()).unwrap();
    let mut both = [client("A"), client("C")];
    Storage::advance_all(&mut both, &mut lnet, SimTime::from_ms(10_500));
    let port = stage::port("C", "c1");
    lnet.notify(Notice::Port {
        port,
        event: PortEvent::Error,
    })
    .unwrap();
    Storage::advance_all(&mut both, &mut lnet, SimTime::from_secs(200));
    assert_eq!(
        both[0].report().outcome(),
        WorkloadOutcome::Survived,
        "{:?}",
        both[0].report()
    );
    assert_eq!(both[1].report().outcome(), WorkloadOutcome::Failed);
}

#[test]
fn health_set_by_hand_is_no_concern_of_storage() {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    let (a, b) = (stage::name("A"), stage::name("B"));
    let mut storage = Storage::new(&lnet, &a, &b, Patience::default()).unwrap();
    lnet.set_health(&a, Side::Local, &stage::nid("a1", "o2ib"), 0)
        .unwrap();
    storage.advance(&mut lnet, SimTime::from_secs(60));
    assert_eq!(storage.report().outcome(), WorkloadOutcome::Survived);
}
