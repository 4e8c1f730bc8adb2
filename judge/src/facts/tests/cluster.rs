//! What a cluster was left with, against what was expected of it, on stated consequences.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

use cluster::{Consequence, ConsequenceKind, Stamp};
use rstest::rstest;
use simfs::SimTime;

use super::told_of;
use observe::Recording;
use scenarios::{About, ConditionIs, ConditionOf, RuleIs, Stands, Times, Window};

use super::super::{
    condition::{checks, condition},
    cordon::{cordoned, uncordoned},
    rule::{describe, rule},
    *,
};
use crate::fits::tests::{Case, ib_port, node_a, node_b, pci, roce_port, slot};
use crate::{
    consequences::{ClusterState, Consequences, Fault, TickMade},
    left::{left, undecided},
};

const IB: &str = "InfiniBandStateCheck";
const ENTRY: &str = "NIC:mlx5_0 NICPort:1 down";

/// What a tick of `node-a` is left with: entries of a condition by check, and checks that hold a cordon.
fn made_of(conditions: &[(&str, &[&str])], faults: &[&str]) -> ClusterState {
    let entries = |entries: &[&str]| entries.iter().map(ToString::to_string).collect();
    let conditions: BTreeMap<String, Vec<String>> = conditions
        .iter()
        .map(|(check, of)| (check.to_string(), entries(of)))
        .collect();
    let fault = |check: &&str| Fault {
        agent: "nic-health-monitor".to_owned(),
        check: check.to_string(),
        text: "NIC=mlx5_0".to_owned(),
    };
    let mut made = ClusterState::default();
    made.conditions.insert("node-a".to_owned(), conditions);
    if !faults.is_empty() {
        let faults = faults.iter().map(fault).collect();
        made.cordoned.insert("node-a".to_owned(), faults);
    }
    made
}

/// One tick after the other, each a second long.
fn ticks(standing: Vec<ClusterState>) -> Consequences {
    let tick = |(at, standing): (u64, ClusterState)| TickMade {
        at: SimTime::from_secs(at),
        consequences: Vec::new(),
        events: 0,
        standing: Arc::new(standing),
    };
    Consequences {
        ticks: (0..).zip(standing).map(tick).collect(),
    }
}

/// Nothing stands, then a condition and a cordon for two ticks, then nothing.
fn fallen() -> Consequences {
    let (well, fallen) = (made_of(&[], &[]), made_of(&[(IB, &[ENTRY])], &[IB]));
    ticks(vec![well.clone(), fallen.clone(), fallen, well])
}

fn window(from: u64, to: u64) -> Window {
    Window { from, to }
}

fn stands_so(is: bool, throughout: bool) -> Stands {
    Stands { is, throughout }
}

#[rstest]
#[case::once(true, false, (0, 1), None)]
#[case::throughout(true, true, (1, 2), None)]
#[case::not_at_first(true, true, (0, 2), Some(0))]
#[case::not_at_last(true, true, (1, 3), Some(3))]
#[case::never(true, false, (3, 3), Some(3))]
#[case::free_once(false, false, (0, 2), None)]
#[case::free_throughout(false, true, (3, 9), None)]
#[case::not_free(false, true, (0, 3), Some(1))]
#[case::beyond_the_end(true, true, (7, 9), None)]
fn something_stands_in_one_tick_or_in_each(
    #[case] is: bool,
    #[case] throughout: bool,
    #[case] (from, to): (u64, u64),
    #[case] wrong: Option<u64>,
) {
    let outcome = cordoned(
        stands_so(is, throughout),
        &node_a(),
        window(from, to),
        &fallen(),
    );
    match outcome {
        Outcome::Fails { at, .. } => assert_eq!(at, wrong.filter(|_| throughout)),
        _ => assert_eq!((wrong, from > 3), (None, false)),
    }
}

#[test]
fn what_stood_is_told_by_its_changes() {
    let rendered = |is, throughout, from, to| {
        told_of(cordoned(
            stands_so(is, throughout),
            &node_a(),
            window(from, to),
            &fallen(),
        ))
    };
    let cordoned_by = format!("poll 1, at 1s: cordoned: {IB} NIC=mlx5_0");
    let (expected, came) = rendered(true, true, 0, 3).expect("it fails");
    assert_eq!(
        expected,
        "`node-a` is cordoned at the end of each of polls 0 to 3"
    );
    let free = [
        "poll 0, at 0s: nothing stands",
        "poll 3, at 3s: nothing stands",
    ];
    assert_eq!(came, [free[0], &cordoned_by, free[1]]);
    let (expected, came) = rendered(false, false, 1, 1).expect("it fails");
    assert_eq!(expected, "`node-a` is schedulable at the end of poll 1");
    assert_eq!(came, [cordoned_by]);
    let of_another = cordoned(stands_so(true, false), &node_b(), window(0, 3), &fallen());
    assert!(told_of(of_another).is_some());
}

fn condition_is(of: ConditionOf, about: Option<About>, counter: Option<&str>) -> ConditionIs {
    ConditionIs {
        of,
        about,
        counter: counter.map(str::to_owned),
        stands: stands_so(true, false),
    }
}

fn named(check: &str) -> ConditionOf {
    ConditionOf::Named(check.to_owned())
}

#[rstest]
#[case::of_the_state_check(condition_is(ConditionOf::State, None, None), true)]
#[case::of_the_counter_check(condition_is(ConditionOf::Counters, None, None), false)]
#[case::by_its_name(condition_is(named(IB), None, None), true)]
#[case::by_another_name(condition_is(named("x"), None, None), false)]
#[case::of_its_port(condition_is(ConditionOf::State, Some(ib_port(1)), None), true)]
#[case::of_another_port(condition_is(ConditionOf::State, Some(ib_port(2)), None), false)]
#[case::of_another_layers_port(condition_is(ConditionOf::State, Some(roce_port()), None), false)]
#[case::of_a_counter(condition_is(ConditionOf::State, None, Some("link_downed")), false)]
fn a_condition_is_told_by_check_subject_and_code(#[case] is: ConditionIs, #[case] holds: bool) {
    let case = Case::new();
    let outcome = condition(&is, &node_a(), window(1, 1), &case.context(), &fallen());
    assert_eq!(told_of(outcome).is_none(), holds);
}

#[test]
fn a_condition_is_told_in_words() {
    let case = Case::new();
    let expected = |is: &ConditionIs| {
        let outcome = condition(is, &node_a(), window(0, 0), &case.context(), &fallen());
        told_of(outcome).expect("it fails").0
    };
    assert_eq!(
        expected(&condition_is(ConditionOf::State, Some(ib_port(1)), None)),
        "the state check's condition stands for NIC=mlx5_0 NICPort=1 at the end of poll 0"
    );
    assert_eq!(
        expected(&condition_is(
            ConditionOf::Counters,
            None,
            Some("link_downed")
        )),
        "the counter check's condition stands [link_downed] at the end of poll 0"
    );
    let mut is = condition_is(named(IB), None, None);
    assert_eq!(expected(&is), format!("{IB} stands at the end of poll 0"));
    is.stands = stands_so(false, true);
    let outcome = condition(&is, &node_a(), window(0, 1), &case.context(), &fallen());
    let (expected, came) = told_of(outcome).expect("it fails");
    assert_eq!(
        expected,
        format!("{IB} does not stand at the end of each of polls 0 to 1")
    );
    assert_eq!(
        came,
        [
            "poll 0, at 0s: nothing stands".to_owned(),
            format!("poll 1, at 1s: {IB} stands: {ENTRY}")
        ]
    );
}

/// The check of a subject is of its layer; of a subject without one, of either.
#[rstest]
#[case(ConditionOf::State, Some(ib_port(1)), &["InfiniBandStateCheck"])]
#[case(ConditionOf::Counters, Some(roce_port()), &["EthernetDegradationCheck"])]
#[case(ConditionOf::State, None, &["InfiniBandStateCheck", "EthernetStateCheck"])]
#[case(ConditionOf::State, Some(About::NamedDevice("x".into())), &["InfiniBandStateCheck", "EthernetStateCheck"])]
#[case(named("x"), Some(ib_port(1)), &["x"])]
fn a_condition_is_of_the_checks_of_its_subjects_layers(
    #[case] of: ConditionOf,
    #[case] about: Option<About>,
    #[case] wanted: &[&str],
) {
    let case = Case::new();
    let mut found = checks(&of, about.as_ref(), &node_a(), 0, &case.context());
    let mut wanted = wanted.to_vec();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

fn rule_is() -> RuleIs {
    RuleIs {
        rule: "NICPortDrop".to_owned(),
        about: None,
        switch: None,
        counted: None,
        cleared: false,
        times: Times::ONCE,
        events_this_tick: None,
    }
}

fn times(at_least: u32, at_most: u32) -> RuleIs {
    RuleIs {
        times: Times { at_least, at_most },
        ..rule_is()
    }
}

fn counted(counted: RangeInclusive<u64>) -> RuleIs {
    RuleIs {
        counted: Some(counted),
        ..rule_is()
    }
}

fn rule_about(about: About) -> RuleIs {
    RuleIs {
        about: Some(about),
        ..rule_is()
    }
}

#[rstest]
#[case(rule_is(), "NICPortDrop fires once in poll 1")]
#[case(times(0, 0), "NICPortDrop is silent in poll 1")]
#[case(times(2, 2), "NICPortDrop fires 2 times in poll 1")]
#[case(times(2, 3), "NICPortDrop fires 2 to 3 times in poll 1")]
#[case(times(0, 3), "NICPortDrop fires 0 to 3 times in poll 1")]
#[case(times(2, u32::MAX), "NICPortDrop fires at least 2 times in poll 1")]
#[case(counted(4..=4), "NICPortDrop fires once, having counted 4 in poll 1")]
#[case(counted(4..=5), "NICPortDrop fires once, having counted 4 to 5 in poll 1")]
#[case(counted(4..=u64::MAX), "NICPortDrop fires once, having counted 4 or more in poll 1")]
#[case(
    rule_about(ib_port(1)),
    "NICPortDrop fires once for NIC=mlx5_0 NICPort=1 in poll 1"
)]
#[case(
    rule_about(About::Port(slot(node_b(), "0000:10:00.0", 1))),
    "NICPortDrop fires once for NIC=0000:10:00.0 NICPort=1 in poll 1"
)]
#[case(
    rule_about(About::Device(node_b(), pci("0000:10:00.0"))),
    "NICPortDrop fires once for NIC=0000:10:00.0 in poll 1"
)]
#[case(
    rule_about(About::Card(node_a(), pci("0000:10:00.0"))),
    "NICPortDrop fires once for NIC=0000:10:00 in poll 1"
)]
#[case(rule_about(About::NamedDevice("x".into())), "NICPortDrop fires once for NIC=x in poll 1")]
#[case(RuleIs { switch: Some("leaf-1".to_owned()), ..rule_is() }, "NICPortDrop fires once for `leaf-1` in poll 1")]
#[case(RuleIs { cleared: true, events_this_tick: Some(3), ..rule_is() }, "NICPortDrop is cleared once, in a poll with 3 events in poll 1")]
fn a_rule_is_told_in_words(#[case] is: RuleIs, #[case] text: &str) {
    let case = Case::new();
    assert_eq!(describe(&is, window(1, 1), &case.context()), text);
    // Nothing fired.
    let outcome = rule(&is, None, window(1, 1), &case.context(), &fallen());
    let holds = is.times.at_least == 0;
    assert_eq!(
        told_of(outcome),
        (!holds).then(|| (text.to_owned(), vec![]))
    );
}

fn actions(mut made: Consequences, actions: &[(usize, ConsequenceKind)]) -> Consequences {
    for (tick, what) in actions {
        made.ticks[*tick].consequences.push(Consequence {
            at: Stamp::from_ns(0),
            what: what.clone(),
        });
    }
    made
}

fn is_cordoned(node: &str) -> ConsequenceKind {
    ConsequenceKind::Cordoned {
        node: node.to_owned(),
        by: "rules".to_owned(),
    }
}

fn is_released(node: &str) -> ConsequenceKind {
    ConsequenceKind::Uncordoned {
        node: node.to_owned(),
    }
}

#[rstest]
#[case::released((3, 3), true, true)]
#[case::released_in_one_of_them((0, 9), true, true)]
#[case::not_before((0, 2), true, false)]
#[case::not_released_before((0, 2), false, true)]
#[case::released_all_the_same((2, 3), false, false)]
fn a_node_is_released_in_one_tick(
    #[case] (from, to): (u64, u64),
    #[case] is: bool,
    #[case] holds: bool,
) {
    let of_others = [
        (1, is_cordoned("node-a")),
        (2, is_released("node-b")),
        (3, is_released("node-a")),
    ];
    let made = actions(fallen(), &of_others);
    let outcome = told_of(uncordoned(is, &node_a(), window(from, to), &made));
    let came = vec![
        format!("poll 1, at 1s: {}", of_others[0].1),
        format!("poll 3, at 3s: {}", of_others[2].1),
    ];
    let word = if is { "released" } else { "not released" };
    let expected = format!("`node-a` is {word} in polls {from} to {to}");
    assert_eq!(outcome, (!holds).then_some((expected, came)));
}

#[test]
fn an_order_that_decides_is_a_finding() {
    let decides = ConsequenceKind::OrderDecides {
        node: "node-a".to_owned(),
        check: IB.to_owned(),
    };
    let made = actions(fallen(), &[(1, is_cordoned("node-a")), (2, decides)]);
    let found = undecided(&made);
    let [left] = &found[..] else {
        panic!("one is expected, {} came", found.len())
    };
    assert_eq!((&left.node, left.tick), (&node_a(), 2));
    let came = format!(
        "two events of one call bear one stamp, and which comes first decides what stands of {IB}"
    );
    assert_eq!(left.came, [came]);
}

/// What is left at the end of a world that came to rest in tick 1: of whom, and what.
fn left_of(last: ClusterState) -> Vec<(String, u64, Vec<String>)> {
    let case = Case::new();
    let recording = Recording {
        settled_at: Some(1),
        ..Recording::default()
    };
    let made = ticks(vec![ClusterState::default(), ClusterState::default(), last]);
    let left = left(&case.story, &recording, &made, None, &|_, _| false).into_iter();
    left.map(|left| {
        assert_eq!(left.node, node_a());
        (left.expected, left.tick, left.came)
    })
    .collect()
}

#[test]
fn conditions_and_cordons_of_the_monitors_own_checks_may_not_be_left() {
    assert_eq!(left_of(made_of(&[], &[])), []);
    let found = left_of(made_of(&[(IB, &[ENTRY]), ("x", &[ENTRY])], &[IB, "x"]));
    let condition = format!("the condition {IB} cleared by poll 2, for all is well since poll 1");
    let cordon = "a node that is schedulable by poll 2, for all is well since poll 1".to_owned();
    assert_eq!(
        found,
        [
            (condition, 2, vec![format!("{IB} stands: {ENTRY}")]),
            (cordon, 2, vec![format!("{IB} NIC=mlx5_0 holds it")]),
        ]
    );
    assert_eq!(left_of(made_of(&[("x", &[ENTRY])], &["x"])), []);
    assert_eq!(left_of(made_of(&[(IB, &[])], &[])), []);
}

/// A cordon that an open circuit breaker keeps is nobody's finding.
#[test]
fn an_open_breaker_may_leave_a_cordon() {
    let halted = ClusterState {
        is_halted: true,
        ..made_of(&[], &[IB])
    };
    assert_eq!(left_of(halted), []);
}

#[test]
fn a_world_that_did_not_come_to_rest_leaves_what_it_leaves() {
    let made = ticks(vec![made_of(&[(IB, &[ENTRY])], &[IB])]);
    let story = Case::new().story;
    assert_eq!(
        left(&story, &Recording::default(), &made, None, &|_, _| false).len(),
        0
    );
}
