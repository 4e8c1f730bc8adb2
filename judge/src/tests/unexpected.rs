//! What nobody expected, what breaks the contract, and what nothing cleared.

use super::*;

/// The contract of the wire is held against every call, whatever is expected.
#[test]
fn a_call_that_breaks_the_contract_is_told() {
    let mut recording = polls(3);
    say(
        &mut recording,
        1,
        event("NoSuchCheck", port("mlx5_0", "1")),
        false,
    );
    let case = expecting([]);
    let judged = judge(&case.story, &case.truth, &recording, &case.descriptor);
    let finding = judged.findings.first().expect("there is no such check");
    assert_eq!(
        (finding.kind, finding.tick),
        (FindingKind::Contract, Some(1))
    );
    assert_eq!(
        finding.expected,
        ["events that keep the contract of the wire"]
    );
}

#[test]
fn an_event_that_nobody_expected_is_told_with_the_line_that_wants_silence() {
    let silence = |about| What::Nothing {
        about,
        counter: None,
        reported: false,
    };
    let mut recording = polls(3);
    let healthy = |subject: Subject| Observation {
        severity: Severity::Healthy,
        ..event(IB, subject)
    };
    say(&mut recording, 0, healthy(port("mlx5_0", "1")), true);
    let rendered = |about, from, to| {
        let case = expecting([(silence(about), from, to)]);
        let findings = found(&case, &recording);
        let [finding] = &findings[..] else {
            panic!("{findings:#?}")
        };
        assert_eq!(
            (finding.kind, finding.tick),
            (FindingKind::Unexpected, Some(0))
        );
        assert!(finding.came[0].starts_with("poll 0: healthy NIC=mlx5_0 NICPort=1"));
        (finding.line.is_some(), finding.expected[0].clone())
    };
    let wanted = (true, "nothing".to_owned());
    let unnamed = (false, "nothing that the story does not name".to_owned());
    assert_eq!(rendered(vec![], 0, 2), wanted);
    assert_eq!(rendered(vec![ib_port(1)], 0, 2), wanted);
    assert_eq!(rendered(vec![ib_port(2)], 0, 2), unnamed);
    assert_eq!(rendered(vec![], 1, 2), unnamed);
    assert_eq!(rendered(vec![ib_port(1)], 1, 2), unnamed);
}

#[test]
fn a_fault_that_nothing_cleared_is_told_at_the_end_unless_the_story_ends_in_trouble() {
    let about = || About::NamedDevice("mlx5_1".into());
    let mut case = expecting([(reported(about(), 1), 0, 2)]);
    let mut recording = polls(3);
    let mut fault = event("EthernetStateCheck", device("mlx5_1"));
    say(&mut recording, 0, fault.clone(), true);
    instance(&mut recording, 2).reads =
        vec!["read sys/class/infiniband/mlx5_1/fw_ver: 9".into()].into();
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(
        (finding.kind, finding.tick),
        (FindingKind::Outstanding, Some(2))
    );
    assert_eq!(
        finding.expected,
        ["a healthy event of EthernetStateCheck for NIC=mlx5_1 by poll 2"]
    );
    assert!(finding.came[0].starts_with("poll 0: fatal NIC=mlx5_1"));
    assert_eq!(finding.reads.len(), 1);
    fault.check = None;
    instance(&mut recording, 0).calls.clear();
    say(&mut recording, 0, fault, true);
    let findings = found(&case, &recording);
    assert_eq!(
        findings[0].expected,
        ["a healthy event for NIC=mlx5_1 by poll 2"]
    );
    case.story.heal = Heal::Never {
        because: "an example".to_owned(),
    };
    assert_eq!(found(&case, &recording), []);
}
