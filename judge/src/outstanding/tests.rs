//! What is owed after a stream, and what healing may say unasked.

use observe::Observation;
use rstest::rstest;

use super::*;
use crate::fits::tests::{Case, device, event, node_a, node_b, port};

const CHECK: &str = "InfiniBandStateCheck";

fn fault(subject: Subject) -> Observation {
    event(CHECK, subject)
}

fn clear(subject: Subject) -> Observation {
    Observation {
        severity: Severity::Healthy,
        ..event(CHECK, subject)
    }
}

fn one() -> Subject {
    port("mlx5_0", "1")
}

/// Goes through events, each with its tick; healing begins in tick 2. What is allowed, what is owed.
fn reckoned(events: &[(u64, Observation)], claimed: &[usize]) -> (Vec<usize>, Vec<usize>) {
    reckoned_by(events, claimed, &[])
}

/// The same for a monitor that has forgotten.
fn reckoned_by(
    events: &[(u64, Observation)],
    claimed: &[usize],
    forgotten: &[Forgotten],
) -> (Vec<usize>, Vec<usize>) {
    let node = node_a();
    let reported: Vec<ReportedEvent<'_>> = events
        .iter()
        .map(|(tick, event)| ReportedEvent {
            node: &node,
            tick: *tick,
            call: 0,
            place: 0,
            event,
            accepted: true,
            answer: "accepted",
        })
        .collect();
    let truth = Case::new().truth;
    let reckoning = reckon(
        &reported,
        |at| claimed.contains(&at),
        Some(2),
        &truth,
        forgotten,
    );
    (
        reckoning.allowed.into_iter().collect(),
        reckoning.outstanding,
    )
}

#[test]
fn a_fault_is_owed_until_it_is_cleared() {
    let fault_then_clear = [(0, fault(one())), (1, clear(one()))];
    assert_eq!(reckoned(&fault_then_clear[..1], &[0]), (vec![], vec![0]));
    assert_eq!(reckoned(&fault_then_clear, &[0, 1]), (vec![], vec![]));
    let again = [(0, fault(one())), (1, clear(one())), (1, fault(one()))];
    assert_eq!(reckoned(&again, &[0, 1, 2]), (vec![], vec![2]));
}

#[rstest]
#[case::of_another_port(clear(port("mlx5_0", "2")))]
#[case::by_another_check(Observation { check: Some("x".to_owned()), ..clear(one()) })]
#[case::of_another_code(Observation { codes: vec!["x".to_owned()], ..clear(one()) })]
#[case::of_a_whole_other_check(Observation { check: Some("x".to_owned()), ..clear(Subject::Node) })]
fn a_fault_is_cleared_by_its_own_check_subject_and_codes(#[case] other: Observation) {
    let (_, owed) = reckoned(&[(0, fault(one())), (1, other)], &[0, 1]);
    assert_eq!(owed, [0]);
}

/// The healthy word of a whole check clears every fault of that check on its node.
#[test]
fn a_whole_check_clears_all_its_faults() {
    let other = Observation {
        check: Some("x".to_owned()),
        ..fault(device("mlx5_1"))
    };
    let events = [
        (0, fault(one())),
        (0, fault(device("mlx5_1"))),
        (0, other),
        (2, clear(Subject::Node)),
        (2, clear(Subject::Node)),
    ];
    assert_eq!(reckoned(&events, &[]), (vec![3], vec![2]));
    // Where the whole check was called healthy before, it is allowed for what it clears alone.
    let cleared = [
        (0, clear(Subject::Node)),
        (1, fault(one())),
        (2, clear(Subject::Node)),
    ];
    assert_eq!(reckoned(&cleared, &[0, 1]), (vec![2], vec![]));
    let nothing = [(0, clear(Subject::Node)), (2, clear(Subject::Node))];
    assert_eq!(reckoned(&nothing, &[0]), (vec![], vec![]));
}

/// Ports that were not healthy when healing began come back: `mlx5_0`'s second port was.
#[test]
fn healing_may_clear_once_what_is_owed() {
    let events = [
        (0, clear(one())),
        (0, fault(one())),
        (2, clear(one())),
        (2, clear(one())),
    ];
    assert_eq!(reckoned(&events, &[0, 1]), (vec![2], vec![]));
    let early = [(0, clear(one())), (0, fault(one())), (1, clear(one()))];
    assert_eq!(reckoned(&early, &[0, 1]), (vec![], vec![]));
    let claimed = [(0, clear(one())), (0, fault(one())), (2, clear(one()))];
    assert_eq!(reckoned(&claimed, &[0, 1, 2]), (vec![], vec![]));
}

#[test]
fn healing_may_say_the_first_healthy_word() {
    let new = [(2, clear(device("mlx5_7"))), (3, clear(device("mlx5_7")))];
    assert_eq!(reckoned(&new, &[]), (vec![0], vec![]));
}

/// Each once, and of the others nothing.
#[test]
fn healing_may_say_again_what_was_forgotten() {
    let card = || clear(device("0000:54:00"));
    let events = [
        (0, card()),
        (0, clear(device("mlx5_7"))),
        (2, clear(device("mlx5_7"))),
        (2, card()),
        (3, card()),
    ];
    let lost = |node: NodeName, from, subjects: Option<&str>| Forgotten {
        node,
        from,
        subjects: subjects.map(|subject| BTreeSet::from([subject.to_owned()])),
    };
    let allowed = |lost: &[Forgotten]| reckoned_by(&events, &[0, 1], lost).0;
    assert_eq!(allowed(&[]), [0; 0]);
    assert_eq!(allowed(&[lost(node_a(), 1, None)]), [2, 3]);
    assert_eq!(allowed(&[lost(node_a(), 1, Some("NIC=0000:54:00"))]), [3]);
    assert_eq!(allowed(&[lost(node_b(), 1, None)]), [0; 0]);
    assert_eq!(allowed(&[lost(node_a(), 0, None)]), [0; 0]);
    // What was said since is known again.
    let told = [(0, card()), (1, card()), (2, card())];
    let (allowed, _) = reckoned_by(&told, &[0, 1], &[lost(node_a(), 1, None)]);
    assert_eq!(allowed, [0; 0]);
}

#[test]
fn healing_may_say_that_a_port_is_back() {
    let second = || port("mlx5_9", "2");
    let events = [
        (0, clear(second())),
        (2, clear(second())),
        (3, clear(second())),
    ];
    assert_eq!(reckoned(&events, &[0]), (vec![1], vec![]));
    let healthy = || port("mlx5_9", "1");
    let events = [(0, clear(healthy())), (2, clear(healthy()))];
    assert_eq!(reckoned(&events, &[0]), (vec![], vec![]));
}

/// Under the names that were borne and are borne; what is not watched is not awaited.
#[test]
fn what_was_not_healthy_when_healing_began_is_awaited() {
    let awaited = |truth: &Truth, from| -> Vec<String> {
        let found = returning(truth, from).into_iter();
        found
            .map(|(node, subject)| format!("{node} {subject}"))
            .collect()
    };
    let mut truth = Case::new().truth;
    // `mlx5_1` is in `Polling`.
    assert_eq!(
        awaited(&truth, 1),
        [
            "node-a NIC=mlx5_0 NICPort=2",
            "node-a NIC=mlx5_1 NICPort=1",
            "node-a NIC=mlx5_9 NICPort=2"
        ]
    );
    assert_eq!(
        awaited(&truth, 2),
        ["node-a NIC=mlx5_1 NICPort=1", "node-a NIC=mlx5_9 NICPort=2"]
    );
    assert_eq!(awaited(&truth, 0), Vec::<String>::new());
    let mut tick = truth.ticks[0].clone();
    let mut node = tick.nodes[&node_a()].clone();
    let mut views = (*node.after).clone();
    for view in views.0.values_mut() {
        view.listed = view.name.as_str() != "mlx5_0";
        view.monitored = view.name.as_str() != "mlx5_1";
    }
    node.after = views.into();
    tick.nodes.insert(node_a(), node.clone());
    tick.nodes.insert(node_b(), node);
    truth.ticks = vec![tick];
    assert_eq!(
        awaited(&truth, 1),
        [
            "node-a NIC=mlx5_0",
            "node-a NIC=mlx5_0 NICPort=1",
            "node-a NIC=mlx5_0 NICPort=2",
            "node-b NIC=mlx5_0",
            "node-b NIC=mlx5_0 NICPort=1",
            "node-b NIC=mlx5_0 NICPort=2"
        ]
    );
}
