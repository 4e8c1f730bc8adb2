//! The cluster's reaction to a drill: when each expectation of it holds, how a failure is reported, and
//! what no drill may leave present.

use director::{Trees, Truth};
use judge::{Consequences, Judgement, judge};
use memory::play_in_memory;
use observe::{Descriptor, Recording};
use platforms::{NodeName, Platforms};
use reports::FindingKind;
use rstest::rstest;
use scenarios::Story;

use crate::wire::{calls, reference};

/// A port that is disabled at 5 s and mended at 9 s, with one additional line next to its fault.
fn text(head: &str, line: &str) -> String {
    format!(
        "scenario: a port goes down and comes back\nwhy: an example\nchecks: all\n{head}\n\
         let: {{ victim: {{ role: compute, nth: 1 }}, other: {{ role: compute, nth: 2 }} }}\n\
         timeline:\n  - at: 0s\n    expect: [ {{ this_poll: baseline }} ]\n\
         \x20 - at: 5s\n    do: [ {{ disable: victim }} ]\n    expect:\n\
         \x20     - {{ fatal: victim }}\n      - {{ fatal: victim, counter: link_downed }}\n      - {line}\n\
         \x20 - at: 9s\n    do: [ {{ mend: victim }} ]\n    expect: [ {{ healthy: victim }} ]\nuntil: 12s\n"
    )
}

struct Case {
    story: Story,
    truth: Truth,
    recording: Recording,
}

impl Case {
    fn played(head: &str, line: &str) -> Self {
        let scenario = scenarios::read("cluster/example.yaml", &text(head, line))
            .unwrap_or_else(|error| panic!("{error}"));
        let platforms = Platforms::shipped();
        let platform = platforms.get("h100-oci").expect("the platform ships");
        let story = scenario
            .in_world(&NodeName::from("node-a"), platform)
            .unwrap_or_else(|unfit| panic!("{unfit}"));
        let played = play_in_memory(&story, &reference(), None, &mut Trees::default());
        Self {
            story,
            truth: played.truth,
            recording: played.recording,
        }
    }

    fn judged(&self, descriptor: &Descriptor) -> Judgement {
        judge(&self.story, &self.truth, &self.recording, descriptor)
    }

    /// The failures: kind, what was expected, what came.
    fn findings(&self) -> Vec<(FindingKind, String, Vec<String>)> {
        let findings = self.judged(&reference()).findings.into_iter();
        findings
            .map(|finding| (finding.kind, finding.expected.join(", "), finding.came))
            .collect()
    }

    /// Changes the last event that satisfies this.
    fn change_last(
        &mut self,
        is_meant: impl Fn(&proto::HealthEvent) -> bool,
        change: impl FnOnce(&mut proto::HealthEvent),
    ) {
        let mut calls = calls(&mut self.recording);
        let events = calls.iter_mut().flat_map(|call| &mut call.events);
        change(
            events
                .filter(|event| is_meant(event))
                .last()
                .expect("such an event came"),
        );
    }
}

#[rstest]
#[case::of_a_port("{ condition: state, of: victim }")]
#[case::of_the_port_alone("{ condition: state, of: device of victim, stands: false }")]
#[case::of_another_port("{ condition: state, of: other, stands: false, throughout: true }")]
#[case::by_the_checks_name(
    "{ condition: EthernetStateCheck, of: victim, from: 5s, to: 9s, throughout: true }"
)]
#[case::of_another_layer("{ condition: InfiniBandStateCheck, stands: false, throughout: true }")]
#[case::of_a_counter(
    "{ condition: counters, of: victim, counter: link_downed, from: 5s, to: 12s, throughout: true }"
)]
#[case::of_another_counter(
    "{ condition: counters, of: victim, counter: symbol_error, stands: false, throughout: true }"
)]
#[case::not_before("{ condition: state, stands: false, from: 0s, to: 5s, throughout: true }")]
#[case::cordoned("{ cordoned: true, from: 5s, to: 12s, throughout: true }")]
#[case::free_before("{ cordoned: false, exactly_at: 4s }")]
#[case::the_counter_still_holds_it("{ uncordoned: false, from: 0s, to: 12s }")]
#[case::silent("{ rules: silent, from: 0s, to: 12s }")]
#[case::one_is_silent("{ rule: RepeatedNICLinkFlap, fires: false, from: 0s, to: 12s }")]
fn a_line_that_holds_is_no_failure(#[case] line: &str) {
    assert_eq!(Case::played("", line).findings(), []);
}

#[rstest]
#[case(
    "{ condition: state, of: victim, stands: false, throughout: true }",
    "the state check's condition does not stand for NIC=mlx5_0 NICPort=1 at the end of each of polls 5 to 6",
    "poll 5, at 5s: EthernetStateCheck stands: NIC:mlx5_0 NICPort:1 RoCE"
)]
#[case(
    "{ condition: counters, of: other, counter: link_downed }",
    "the counter check's condition stands for NIC=mlx5_1 NICPort=1 [link_downed] at the end of polls 5 to 6",
    "poll 5, at 5s: nothing stands"
)]
#[case(
    "{ condition: NICPortDrop, exactly_at: 6s }",
    "NICPortDrop stands at the end of poll 6",
    "poll 6, at 6s: nothing stands"
)]
#[case(
    "{ cordoned: true, from: 4s, to: 6s, throughout: true }",
    "`node-a` is cordoned at the end of each of polls 4 to 5",
    "poll 4, at 4s: nothing stands"
)]
#[case(
    "{ cordoned: false, from: 5s, to: 8s }",
    "`node-a` is schedulable at the end of polls 5 to 7",
    "poll 5, at 5s: cordoned: EthernetStateCheck NIC=mlx5_0 NICPort=1"
)]
#[case(
    "{ uncordoned: true, from: 5s, to: 12s }",
    "`node-a` is released in polls 5 to 11",
    "poll 5, at 5s: cordon     node-a by NIC health monitor"
)]
fn a_line_that_does_not_hold_is_told_with_what_stood(
    #[case] line: &str,
    #[case] expected: &str,
    #[case] came: &str,
) {
    let findings = Case::played("", line).findings();
    let found = findings
        .iter()
        .find(|(_, rendered, _)| rendered == expected);
    let (_, _, lines) = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(
        lines.iter().any(|line| line.starts_with(came)),
        "{lines:#?}"
    );
}

/// What must hold throughout, or never happen, went wrong in one poll, and the failure is about that
/// poll.
#[rstest]
#[case("{ cordoned: false, from: 0s, to: 12s, throughout: true }", 5)]
#[case(
    "{ condition: state, of: victim, from: 5s, to: 12s, throughout: true }",
    10
)]
#[case(
    "{ condition: counters, of: other, from: 3s, to: 12s, throughout: true }",
    3
)]
fn a_finding_is_about_the_poll_in_which_it_went_wrong(#[case] line: &str, #[case] poll: u64) {
    let findings = Case::played("", line).judged(&reference()).findings;
    let ticks: Vec<Option<u64>> = findings.iter().map(|finding| finding.tick).collect();
    assert_eq!(ticks, [Some(poll)]);
}

/// The rule fires 240 s after the port goes down, and at no other time.
#[rstest]
#[case("{ rule: NICPortDrop, port: victim, exactly_at: 4m5s }", None)]
#[case("{ rule: NICPortDrop, node: node-a, exactly_at: 4m5s }", None)]
#[case(
    "{ rule: NICPortDrop, counted: 1, between: [ 4m, 5m ], times: 1 }",
    None
)]
#[case(
    "{ rule: NICPortDrop, exactly_at: 4m4s }",
    Some("NICPortDrop fires once in poll 244")
)]
#[case(
    "{ rule: NICPortDrop, exactly_at: 4m6s }",
    Some("NICPortDrop fires once in poll 246")
)]
#[case(
    "{ rule: NICPortDrop, port: other, exactly_at: 4m5s }",
    Some("NICPortDrop fires once for NIC=mlx5_1 NICPort=1 in poll 245")
)]
#[case(
    "{ rule: NICPortDrop, exactly_at: 4m5s, events_this_tick: 1 }",
    Some("NICPortDrop fires once, in a poll with 1 event in poll 245")
)]
#[case(
    "{ rule: NICPortDrop, exactly_at: 4m5s, counted: \">= 2\" }",
    Some("NICPortDrop fires once, having counted 2 or more in poll 245")
)]
#[case(
    "{ rule: NICPortDrop, exactly_at: 4m5s, times: 2 }",
    Some("NICPortDrop fires 2 times in poll 245")
)]
#[case(
    "{ rule: NICPortDrop, exactly_at: 4m5s, says: cleared }",
    Some("NICPortDrop is cleared once in poll 245")
)]
#[case(
    "{ rule: NICPortDrop, fires: false, from: 4m, to: 5m }",
    Some("NICPortDrop is silent in polls 240 to 299")
)]
#[case(
    "{ rules: silent, from: 0s, to: 5m }",
    Some("no rule speaks in polls 0 to 299")
)]
fn a_rule_is_held_to_its_instant(#[case] line: &str, #[case] wrong: Option<&str>) {
    let scenario = text("quiet: fold", line)
        .replace("at: 9s", "at: 5m")
        .replace("until: 12s", "until: 5m3s");
    let scenario = scenarios::read("cluster/example.yaml", &scenario)
        .unwrap_or_else(|error| panic!("{error}"));
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("the platform ships");
    let story = scenario
        .in_world(&NodeName::from("node-a"), platform)
        .unwrap_or_else(|unfit| panic!("{unfit}"));
    let played = play_in_memory(&story, &reference(), None, &mut Trees::default());
    let findings = judge(&story, &played.truth, &played.recording, &reference()).findings;
    let rendered: Vec<String> = findings.iter().map(|one| one.expected.join(", ")).collect();
    let wanted: Vec<&str> = wrong.into_iter().collect();
    assert_eq!(rendered, wanted);
    let fired = "poll 245, at 245s: NICPortDrop fires for node-a/mlx5_0/1, having counted 1";
    for finding in &findings {
        if line.contains("silent") || line.contains("false") {
            assert_eq!(finding.tick, Some(245));
        }
        let came = &finding.came;
        assert!(came.iter().any(|line| line.starts_with(fired)), "{came:#?}");
    }
}

#[test]
fn what_rules_say_is_not_asked_of_a_monitor_with_its_own_words() {
    let case = Case::played("", "{ rule: NICPortDrop, times: 3 }");
    assert_eq!(case.findings().len(), 1);
    let mut own = reference();
    own.texts = observe::Vocabulary::Own.into();
    let judgement = case.judged(&own);
    assert_eq!(judgement.findings, []);
    assert_eq!(
        judgement.judged.not_judged,
        [("messages of its own".to_owned(), 1)].into()
    );
}

#[test]
fn a_recovery_of_another_entity_leaves_condition_and_cordon() {
    let mut case = Case::played("", "{ cordoned: true }");
    assert_eq!(case.findings(), []);
    let is_recovery =
        |event: &proto::HealthEvent| event.is_healthy && event.check_name == "EthernetStateCheck";
    case.change_last(is_recovery, |event| {
        event.entities_impacted[0].entity_value = "mlx5_7".to_owned();
    });
    let left: Vec<(String, Vec<String>)> = case
        .findings()
        .into_iter()
        .filter(|(kind, ..)| *kind == FindingKind::LeftStanding)
        .map(|(_, expected, came)| (expected, came))
        .collect();
    let [(condition, entries), (cordon, faults)] = &left[..] else {
        panic!("{left:#?}")
    };
    assert!(
        condition.starts_with("the condition EthernetStateCheck cleared by poll "),
        "{condition}"
    );
    assert!(
        entries[0].starts_with("EthernetStateCheck stands: NIC:mlx5_0 NICPort:1 "),
        "{entries:?}"
    );
    assert!(
        cordon.starts_with("a node that is schedulable by poll "),
        "{cordon}"
    );
    assert_eq!(
        faults,
        &["EthernetStateCheck NIC=mlx5_0 NICPort=1 holds it"]
    );
}

#[test]
fn a_world_that_is_not_healed_may_leave_what_it_leaves() {
    let head = "heal: never\nbecause: the counter is never reset";
    let case = Case::played(head, "{ cordoned: true }");
    assert_eq!(case.findings(), []);
    let made = Consequences::of(&case.story, &case.recording);
    let last = made.last().expect("ticks were played");
    assert_eq!(last.cordoned["node-a"].len(), 1);
}

#[test]
fn an_open_breaker_keeps_a_node_and_nobody_is_blamed() {
    let head = "cluster: { breaker: { fleet: 1 } }";
    let case = Case::played(
        head,
        "{ cordoned: true, from: 5s, to: 13s, throughout: true }",
    );
    assert_eq!(case.findings(), []);
    let made = Consequences::of(&case.story, &case.recording);
    let last = made.last().expect("ticks were played");
    assert!(last.is_halted);
    assert_eq!(last.conditions["node-a"].len(), 0);
    assert_eq!(last.cordoned["node-a"].len(), 1);
}
