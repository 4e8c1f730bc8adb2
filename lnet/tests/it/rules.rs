//! Drop and delay rules: which messages they apply to, and which rules are rejected.

use std::collections::BTreeSet;

use lnet::{
    FaultEffect, FaultRule, Lnet, LnetError, LnetProfile, MessageKind, MsgStatus, NidPattern, Pace,
    Request, RuleError, Timing, Verb, What,
};
use rstest::rstest;
use simfs::SimTime;

use crate::stage::{self, rule};

fn put(lnet: &mut Lnet, portal: u32, source: &str) {
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Put,
        source: Some(stage::nid(source, "o2ib")),
        destination: stage::nid("b1", "o2ib"),
        length: 100,
        portal,
    };
    lnet.send(request).unwrap();
}

/// Which of `count` PUTs, sent `gap_ms` apart, B drops under `spec`.
fn check(spec: FaultRule, count: u64, gap_ms: u64) -> Vec<u64> {
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.add_rule(&stage::name("B"), spec).unwrap();
    let mut dropped = Vec::new();
    for number in 0..count {
        put(&mut lnet, 12, if number % 2 == 0 { "a1" } else { "a2" });
        let happened = lnet.advance(lnet.now() + SimTime::from_ms(gap_ms));
        if happened
            .iter()
            .any(|entry| matches!(entry.what, What::Dropped { .. }))
        {
            dropped.push(number);
        }
    }
    dropped
}

#[test]
fn every_message_that_fits_is_dropped_and_counted() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    lnet.add_rule(&stage::name("B"), rule(Pace::Every, FaultEffect::Drop))
        .unwrap();
    for _ in 0..3 {
        put(&mut lnet, 12, "a1");
    }
    lnet.advance(SimTime::from_ms(10));
    let b = lnet.node(&stage::name("B")).unwrap();
    assert_eq!(
        (b.statistics().drop_count, b.statistics().drop_length),
        (3, 300)
    );
    assert_eq!((b.rules()[0].matched, b.rules()[0].hits), (3, 3));
    let ni = b.ni(&stage::nid("b1", "o2ib")).unwrap();
    assert_eq!(ni.stats.dropped.of(MessageKind::Put), 3);
    // The sender's driver has completed its part.
    assert_eq!(
        lnet.node(&stage::name("A"))
            .unwrap()
            .statistics()
            .send_count,
        3
    );
}

#[rstest]
#[case(3)]
#[case(7)]
fn one_in_so_many_hits_once_in_each_window(#[case] window: u32) {
    let dropped = check(
        rule(Pace::OneIn(window), FaultEffect::Drop),
        u64::from(window) * 20,
        5,
    );
    let windows: Vec<u64> = dropped
        .iter()
        .map(|number| number / u64::from(window))
        .collect();
    assert_eq!(windows, (0..20).collect::<Vec<_>>());
    let places: BTreeSet<u64> = dropped
        .iter()
        .map(|number| number % u64::from(window))
        .collect();
    assert!(places.len() > 1, "always the same place: {places:?}");
}

/// Which message of the first hundred is hit depends on the network's seed, whatever its bits.
#[test]
fn networks_of_other_seeds_draw_other_places() {
    let first = |seed: u64| {
        let specs = stage::specs("mr", LnetProfile::V2_17);
        let mut lnet = Lnet::new(specs, Timing::default(), seed).unwrap();
        let one = rule(Pace::OneIn(100), FaultEffect::Drop);
        lnet.add_rule(&stage::name("B"), one).unwrap();
        (0..100).find(|_| {
            put(&mut lnet, 12, "a1");
            let happened = lnet.advance(lnet.now() + SimTime::from_ms(5));
            let is_dropped = |what: &What| matches!(what, What::Dropped { .. });
            happened.iter().any(|entry| is_dropped(&entry.what))
        })
    };
    let places: BTreeSet<_> = [16, 32, 48, 64].into_iter().map(first).collect();
    assert!(!places.contains(&None) && places.len() > 2, "{places:?}");
}

#[test]
fn one_in_two_hits_the_first_of_each_two() {
    let dropped = check(rule(Pace::OneIn(2), FaultEffect::Drop), 8, 5);
    assert_eq!(dropped, [0, 2, 4, 6]);
}

#[test]
fn once_in_so_many_seconds_hits_the_first_of_each_span() {
    // One PUT each half second: intervals of 2 s begin with the numbers 0, 4, 8.
    let dropped = check(rule(Pace::EverySecs(2), FaultEffect::Drop), 12, 500);
    assert_eq!(dropped, [0, 4, 8]);
}

#[test]
fn a_random_moment_in_each_span_hits_one_message_of_it() {
    let dropped = check(
        rule(Pace::RandomlyEverySecs(4), FaultEffect::Drop),
        160,
        250,
    );
    let spans: Vec<u64> = dropped.iter().map(|number| number / 16).collect();
    assert_eq!(spans, (0..10).collect::<Vec<_>>());
    assert!(dropped.iter().any(|number| number % 16 != 0), "{dropped:?}");
}

#[rstest]
#[case("a1", vec![0, 2])]
#[case("a2", vec![1, 3])]
fn a_rule_for_a_source_spares_the_others(#[case] source: &str, #[case] expected: Vec<u64>) {
    let mut spec = rule(Pace::Every, FaultEffect::Drop);
    spec.source = NidPattern::One(stage::nid(source, "o2ib"));
    assert_eq!(check(spec, 4, 5), expected);
}

#[test]
fn kind_portal_net_and_arriving_interface_are_asked_too() {
    let fits = |change: fn(&mut FaultRule)| {
        let mut spec = rule(Pace::Every, FaultEffect::Drop);
        change(&mut spec);
        check(spec, 1, 5).len()
    };
    assert_eq!(fits(|spec| spec.kinds = [MessageKind::Put].into()), 1);
    assert_eq!(fits(|spec| spec.kinds = [MessageKind::Get].into()), 0);
    assert_eq!(fits(|spec| spec.portal = Some(12)), 1);
    assert_eq!(fits(|spec| spec.portal = Some(13)), 0);
    assert_eq!(fits(|spec| spec.destination = "*@o2ib".parse().unwrap()), 1);
    assert_eq!(fits(|spec| spec.destination = "*@tcp".parse().unwrap()), 0);
    assert_eq!(fits(|spec| spec.via = Some(stage::nid("b1", "o2ib"))), 1);
    assert_eq!(fits(|spec| spec.via = Some(stage::nid("b2", "o2ib"))), 0);
}

/// Of several statuses a random one is simulated, and no other.
#[test]
fn several_statuses_are_drawn_from_the_list() {
    let list = vec![
        MsgStatus::LocalError,
        MsgStatus::RemoteError,
        MsgStatus::NetworkTimeout,
    ];
    let mut lnet = stage::lnet(stage::specs("mr", LnetProfile::V2_17));
    lnet.add_rule(
        &stage::name("A"),
        rule(Pace::Every, FaultEffect::Simulate(list.clone())),
    )
    .unwrap();
    for _ in 0..60 {
        put(&mut lnet, 12, "a1");
    }
    lnet.advance(SimTime::from_ms(10));
    let stats = lnet.node(&stage::name("A")).unwrap().statistics();
    for status in MsgStatus::ALL {
        assert_eq!(stats.of(status) > 0, list.contains(&status), "{status}");
    }
}

#[test]
fn the_first_rule_that_hits_decides() {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let b = stage::name("B");
    lnet.add_rule(
        &b,
        rule(Pace::Every, FaultEffect::Delay(SimTime::from_secs(3))),
    )
    .unwrap();
    lnet.add_rule(&b, rule(Pace::Every, FaultEffect::Drop))
        .unwrap();
    put(&mut lnet, 12, "a1");
    let arrived = lnet
        .advance(SimTime::from_secs(5))
        .into_iter()
        .find_map(|entry| matches!(entry.what, What::Arrived { .. }).then_some(entry.at));
    assert_eq!(arrived, Some(SimTime::from_ms(3001)));
    lnet.clear_rules(&b).unwrap();
    assert!(lnet.node(&b).unwrap().rules().is_empty());
}

#[rstest]
#[case(Pace::OneIn(0), FaultEffect::Drop, RuleError::NoPace, "give 1 or more")]
#[case(
    Pace::EverySecs(0),
    FaultEffect::Drop,
    RuleError::NoPace,
    "give 1 or more"
)]
#[case(
    Pace::RandomlyEverySecs(0),
    FaultEffect::Drop,
    RuleError::NoPace,
    "give 1 or more"
)]
#[case(Pace::Every, FaultEffect::Simulate(vec![]), RuleError::NoStatus, "such as `local_dropped`")]
#[case(Pace::Every, FaultEffect::Simulate(vec![MsgStatus::Ok]), RuleError::NoStatus, "such as `local_dropped`")]
#[case(
    Pace::Every,
    FaultEffect::Delay(SimTime::ZERO),
    RuleError::NoDelay,
    "give a latency"
)]
fn a_rule_that_means_nothing_is_refused(
    #[case] pace: Pace,
    #[case] effect: FaultEffect,
    #[case] why: RuleError,
    #[case] hint: &str,
) {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_17));
    let refused = lnet
        .add_rule(&stage::name("A"), rule(pace, effect))
        .unwrap_err();
    let told = refused.hint().expect("a rule's error has a hint");
    assert!(told.ends_with(hint), "{told}");
    assert!(refused.to_string().ends_with(hint), "{refused}");
    assert_eq!(refused, LnetError::Rule(why));
}
