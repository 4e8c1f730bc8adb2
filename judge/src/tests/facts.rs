//! Facts that do not hold, and whom they are told of.

use super::*;

#[test]
fn a_fact_that_does_not_hold_is_told_with_its_line() {
    let case = expecting([(What::Polls(7), 1, 2)]);
    let findings = found(&case, &polls(3));
    let line = &case.story.expectations[0];
    let wanted = Finding {
        kind: FindingKind::Missing,
        cause: Cause::of(CauseKind::Polls),
        times: 1,
        excuse: None,
        arm: None,
        node: None,
        line: Some(StoryLine {
            place: line.place.to_string(),
            text: line.text.clone(),
        }),
        tick: Some(1),
        before: vec![],
        expected: vec!["7 polls".to_owned()],
        came: vec!["2 polls".to_owned()],
        reads: vec![],
    };
    assert_eq!(findings, [wanted]);
}

#[test]
fn what_should_not_have_been_is_unexpected() {
    let silence = What::Nothing {
        about: vec![],
        counter: None,
        reported: true,
    };
    let no_log = What::NoLog {
        contains: "x".to_owned(),
    };
    let mut recording = polls(3);
    instance(&mut recording, 0).log.push("x".to_owned());
    say(&mut recording, 1, event(IB, port("mlx5_0", "1")), false);
    let findings = found(&expecting([(silence, 0, 2), (no_log, 0, 2)]), &recording);
    let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Unexpected; 2]);
}

/// A node is named where there are several; a fact of the world is judged once, others on every chair.
#[test]
fn findings_are_of_each_monitor_and_name_its_node_where_there_are_several() {
    let mut case = expecting([(What::Polls(7), 0, 2), (What::RulesSilent, 0, 2)]);
    case.descriptor.clock = ClockKind::Own;
    let rules = reasons([("timestamps of a clock of its own", 1)]);
    let counted = judged(&case, &polls(3));
    assert_eq!((counted.judged, &counted.not_judged), (1, &rules));
    let platform = case.story.nodes[0].1.clone();
    case.story.nodes.push((node_b(), platform));
    case.story.monitors.push(node_b());
    let findings = found(&case, &polls(3));
    let nodes: Vec<_> = findings
        .iter()
        .map(|finding| finding.node.as_deref())
        .collect();
    assert_eq!(nodes, [Some("node-a"), Some("node-b")]);
    let counted = judged(&case, &polls(3));
    assert_eq!((counted.judged, &counted.not_judged), (2, &rules));
    let ran = What::Workload(scenarios::WorkloadIs::default());
    case.story.expectations[1].what = ran;
    case.story.expectations.remove(0);
    let findings = found(&case, &polls(3));
    let nodes: Vec<_> = findings
        .iter()
        .map(|finding| finding.node.as_deref())
        .collect();
    assert_eq!(nodes, [Some("node-a")]);
}
