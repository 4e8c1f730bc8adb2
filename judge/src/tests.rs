//! Findings as a report has them: of which kind, about which line, in which poll, with which reads. The
//! recordings are stated, of three ticks with a poll each.

use std::collections::BTreeMap;

use observe::{Call, MonitorTick, Observation, Severity, Subject, Tick};
use rstest::rstest;
use scenarios::{About, Heal, Times, Window};

use super::*;
use crate::fits::tests::{Case, device, event, ib_port, node_a, node_b, pattern, port};

const IB: &str = "InfiniBandStateCheck";

fn polls(ticks: u64) -> Recording {
    let tick = |_| {
        let mut tick = Tick::default();
        let instance = MonitorTick {
            polls: 1,
            ..MonitorTick::default()
        };
        tick.insert((&node_a()).into(), instance.into());
        tick
    };
    Recording {
        ticks: (0..ticks).map(tick).collect(),
        ..Recording::default()
    }
}

fn instance(recording: &mut Recording, tick: usize) -> &mut MonitorTick {
    let monitors = std::sync::Arc::make_mut(&mut recording.ticks[tick].monitors);
    std::sync::Arc::make_mut(monitors.get_mut("node-a").expect("it has a monitor"))
}

fn say(recording: &mut Recording, tick: usize, event: Observation, accepted: bool) {
    let answer = if accepted { "accepted" } else { "UNAVAILABLE" };
    instance(recording, tick).calls.push(Call {
        observations: vec![event],
        fields: Vec::new(),
        accepted,
        answer: answer.to_owned(),
    });
}

/// A case that expects these, each in its window.
fn expecting(expected: impl IntoIterator<Item = (What, u64, u64)>) -> Case {
    let mut case = Case::new();
    // A clock of its own: stamps are another test's.
    case.descriptor.clock = ClockKind::Own;
    let like = case.story.expectations[0].clone();
    let expected = expected.into_iter().map(|(what, from, to)| Expectation {
        what,
        window: Window { from, to },
        ..like.clone()
    });
    case.story.expectations = expected.collect();
    case
}

fn reported(about: About, at_least: u32) -> What {
    What::Say {
        event: pattern(about),
        times: Times {
            at_least,
            at_most: at_least,
        },
        reported: false,
        in_order: None,
    }
}

/// What was wrong but for the contract of the wire, which stated events do not keep.
fn found(case: &Case, recording: &Recording) -> Vec<Finding> {
    let judged = judge(&case.story, &case.truth, recording, &case.descriptor);
    let findings = judged.findings.into_iter();
    findings
        .filter(|finding| finding.kind != FindingKind::Contract)
        .collect()
}

fn judged(case: &Case, recording: &Recording) -> Judged {
    judge(&case.story, &case.truth, recording, &case.descriptor).judged
}

fn reasons<const N: usize>(reasons: [(&str, u64); N]) -> BTreeMap<String, u64> {
    let owned = |(reason, count): (&str, u64)| (reason.to_owned(), count);
    reasons.map(owned).into()
}

#[rstest]
#[case(Broken::Hung { tick: 1, waiting_for: "a poll".to_owned() }, FindingKind::Hung, Some(1), "a poll", &["no progress within the limit"])]
#[case(Broken::Crashed { tick: 2, exit: Exit::Code(3), last_words: vec!["boom".to_owned()] }, FindingKind::Crashed, Some(2), "a monitor that goes on", &["it ended with exit code 3", "boom"])]
#[case(Broken::Crashed { tick: 2, exit: Exit::Signal(11), last_words: vec![] }, FindingKind::Crashed, Some(2), "a monitor that goes on", &["it was ended by signal 11"])]
#[case(Broken::StuckInKernel { tick: 0 }, FindingKind::StuckInKernel, Some(0), "a monitor that can be ended", &["it waits in the kernel"])]
#[case(Broken::Stage { cause: "no stage".to_owned() }, FindingKind::Stage, None, "a stage", &["no stage"])]
fn a_drill_that_broke_off_is_told_by_its_cause_alone(
    #[case] broken: Broken,
    #[case] kind: FindingKind,
    #[case] tick: Option<u64>,
    #[case] expected: &str,
    #[case] came: &[&str],
) {
    let case = expecting([(What::Polls(7), 0, 2)]);
    let mut recording = polls(3);
    recording.broken = Some(broken);
    recording.missed_moments.push("never".to_owned());
    instance(&mut recording, 1).reads = vec!["read sys/x: EIO".into()].into();
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!((finding.kind, finding.tick), (kind, tick));
    assert_eq!(
        (&finding.expected[..], &finding.came[..]),
        (
            &[expected.to_owned()][..],
            &came.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
        )
    );
    assert_eq!(finding.reads.len(), usize::from(tick.is_some()));
    let counted = judged(&case, &recording);
    assert_eq!(
        (counted.judged, counted.not_judged),
        (0, reasons([("the drill broke off", 1)]))
    );
}

#[test]
fn a_monitor_may_be_stuck_in_the_kernel_where_that_is_expected() {
    let stuck = expecting([(What::Polls(3), 0, 2), (What::StuckInKernel, 0, 2)]);
    let mut recording = polls(3);
    recording.broken = Some(Broken::StuckInKernel { tick: 1 });
    assert_eq!(found(&stuck, &recording), []);
    recording.broken = Some(Broken::Stage {
        cause: String::new(),
    });
    assert_eq!(found(&stuck, &recording).len(), 1);
    recording.broken = None;
    let findings = found(&stuck, &recording);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].came, ["it could be ended"]);
}

#[test]
fn a_moment_that_never_came_is_told() {
    let mut recording = polls(3);
    recording.missed_moments = vec!["one".to_owned(), "two".to_owned()];
    let findings = found(&expecting([]), &recording);
    let rendered: Vec<_> = findings
        .iter()
        .map(|finding| (finding.kind, &*finding.expected[0]))
        .collect();
    let waited = [
        "the operation that the moment waits for: one",
        "the operation that the moment waits for: two",
    ];
    assert_eq!(
        rendered,
        waited.map(|text| (FindingKind::MissedMoment, text))
    );
}

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

#[rstest]
#[case::nothing_of_its_own(Vocabulary::Reference, ClockKind::File, &[])]
#[case::its_clock(Vocabulary::Reference, ClockKind::Own, &[("timestamps of a clock of its own", 2)])]
#[case::its_texts(Vocabulary::Own, ClockKind::File, &[("messages of its own", 1)])]
#[case::both(Vocabulary::Own, ClockKind::Own, &[("messages of its own", 1), ("timestamps of a clock of its own", 2)])]
fn parts_of_events_that_are_the_monitors_own_are_counted(
    #[case] texts: Vocabulary,
    #[case] clock: ClockKind,
    #[case] parts: &[(&str, u64)],
) {
    let stamped = |from: Option<u64>, to: Option<u64>, message: bool| {
        let mut event = pattern(ib_port(1));
        event.stamped_from = from.map(simfs::SimTime::from_secs);
        event.stamped_to = to.map(simfs::SimTime::from_secs);
        if message {
            event
                .message
                .insert(platforms::LinkLayer::InfiniBand, "x".to_owned());
        }
        let what = What::Say {
            event,
            times: Times {
                at_least: 0,
                at_most: 1,
            },
            reported: false,
            in_order: None,
        };
        (what, 0, 2)
    };
    let mut case = expecting([
        stamped(Some(1), None, false),
        stamped(None, Some(1), false),
        stamped(None, None, true),
        (What::Polls(3), 0, 2),
    ]);
    (case.descriptor.texts, case.descriptor.clock) = (texts.into(), clock);
    let counted = judged(&case, &polls(3));
    assert_eq!((counted.judged, counted.not_judged), (4, BTreeMap::new()));
    let named = counted.parts.iter();
    let named: Vec<_> = named
        .map(|(reason, count)| (reason.as_str(), *count))
        .collect();
    assert_eq!(named, parts);
}

#[test]
fn an_event_that_did_not_come_is_told_with_the_reads_around_it() {
    let case = expecting([(reported(ib_port(1), 1), 1, 1)]);
    let mut recording = polls(4);
    for tick in 0..4 {
        let lines = [
            "list sys/class/infiniband: 2",
            "read sys/class/infiniband/mlx5_0/ports/1/state: 9",
            "read sys/class/infiniband/mlx5_00/ports/1/state: 9",
            "read sys/class/net/eth1/operstate: EIO",
        ];
        instance(&mut recording, tick).reads = lines.map(Into::into).to_vec().into();
    }
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(finding.kind, FindingKind::Missing);
    assert_eq!(finding.tick, Some(1));
    assert_eq!(finding.expected, ["fatal NIC=mlx5_0 NICPort=1, in poll 1"]);
    assert_eq!(finding.came, Vec::<String>::new());
    let of_a_poll = |poll| {
        [
            (poll, "list sys/class/infiniband: 2"),
            (poll, "read sys/class/infiniband/mlx5_0/ports/1/state: 9"),
            (poll, "read sys/class/net/eth1/operstate: EIO"),
        ]
    };
    let reads: Vec<_> = finding
        .reads
        .iter()
        .map(|read| (read.poll, &*read.text))
        .collect();
    assert_eq!(reads, [of_a_poll(0), of_a_poll(1), of_a_poll(2)].concat());
}

#[test]
fn the_events_nearest_to_one_that_did_not_come_are_told() {
    let mut case = expecting([(reported(ib_port(1), 3), 4, 5)]);
    let like = case.truth.ticks[0].clone();
    case.truth.ticks = vec![like; 12];
    let mut recording = polls(12);
    for tick in 0..12 {
        say(&mut recording, tick, event(IB, port("mlx5_0", "2")), false);
        let healthy = Observation {
            severity: Severity::Healthy,
            ..event(IB, port("mlx5_0", "1"))
        };
        say(&mut recording, tick, healthy, false);
    }
    say(&mut recording, 5, event(IB, port("mlx5_0", "1")), true);
    let findings = found(&case, &recording);
    let missing: Vec<_> = findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Missing)
        .collect();
    let [finding] = &missing[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(
        finding.expected,
        ["fatal NIC=mlx5_0 NICPort=1, 3 times, in polls 4 to 5"]
    );
    let came = |line: &String| line.split(": ").next().expect("a poll").to_owned();
    let polls: Vec<_> = finding.came.iter().map(came).collect();
    assert_eq!(
        polls,
        ["poll 5", "poll 4", "poll 5", "poll 3", "poll 6"],
        "what was claimed, what is in its time, and a neighbour on each side"
    );
    assert!(
        finding.came[0].starts_with("poll 5: fatal") && !finding.came[0].contains("UNAVAILABLE")
    );
    assert!(
        finding.came[1].starts_with("poll 4: healthy")
            && finding.came[1].ends_with("(UNAVAILABLE)")
    );
}

#[rstest]
#[case::in_its_window((0, 2), 1, true)]
#[case::before_it((2, 2), 1, false)]
#[case::after_it((0, 0), 1, false)]
#[case::too_seldom((0, 2), 2, false)]
fn an_event_answers_a_demand_in_its_window(
    #[case] (from, to): (u64, u64),
    #[case] times: u32,
    #[case] holds: bool,
) {
    let mut case = expecting([(reported(ib_port(1), times), from, to)]);
    let because = String::new();
    case.story.heal = Heal::Never { because };
    let mut recording = polls(3);
    say(&mut recording, 1, event(IB, port("mlx5_0", "1")), true);
    assert_eq!(found(&case, &recording).is_empty(), holds);
}

/// An attempt is enough where only that is asked, and the fault is owed none the less.
#[test]
fn attempts_are_counted_whether_they_were_taken_or_not() {
    let attempts = |times: u32| {
        let what = What::Say {
            event: pattern(ib_port(1)),
            times: Times {
                at_least: times,
                at_most: 2,
            },
            reported: true,
            in_order: None,
        };
        let mut recording = polls(3);
        say(&mut recording, 0, event(IB, port("mlx5_0", "1")), false);
        say(&mut recording, 1, event(IB, port("mlx5_0", "1")), false);
        found(&expecting([(what, 0, 2)]), &recording).len()
    };
    assert_eq!([1, 2, 3].map(attempts), [0, 0, 1]);
}

/// Silence about attempts does not hear those that were asked for, and hears all others.
#[test]
fn an_attempt_that_was_asked_for_breaks_no_silence() {
    let silence = || What::Nothing {
        about: vec![],
        reported: true,
    };
    let asked = |about, at_least, attempts| What::Say {
        event: pattern(about),
        times: Times {
            at_least,
            at_most: 1,
        },
        reported: attempts,
        in_order: None,
    };
    let mut recording = polls(3);
    say(&mut recording, 1, event(IB, port("mlx5_0", "1")), false);
    let broken = |what: What| {
        let case = expecting([(silence(), 0, 2), (what, 0, 2)]);
        let findings = found(&case, &recording).into_iter();
        findings
            .filter(|finding| finding.kind == FindingKind::Unexpected)
            .count()
    };
    assert_eq!(broken(asked(ib_port(1), 1, true)), 0);
    assert_eq!(broken(asked(ib_port(1), 0, false)), 1);
    assert_eq!(broken(asked(ib_port(2), 1, true)), 1);
}

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
        ["a healthy event of no check for NIC=mlx5_1 by poll 2"]
    );
    case.story.heal = Heal::Never {
        because: "an example".to_owned(),
    };
    assert_eq!(found(&case, &recording), []);
}

/// At most a hundred findings, in order of time.
#[test]
fn a_monitor_that_is_wrong_in_everything_does_not_fill_a_disk() {
    let mut case = expecting((0..150).map(|nth| (What::Polls(9), 149 - nth, 149 - nth)));
    case.descriptor.clock = ClockKind::File;
    let ticks: Vec<_> = found(&case, &polls(150))
        .iter()
        .map(|finding| finding.tick)
        .collect();
    assert_eq!(ticks, (0..100).map(Some).collect::<Vec<_>>());
}

/// A finding of another cause is kept, however many of one cause came before it.
#[test]
fn the_cap_hides_no_cause() {
    let last = (What::Calls { count: 9 }, 149, 149);
    let case = expecting((0..150).map(|nth| (What::Polls(9), nth, nth)).chain([last]));
    let findings = found(&case, &polls(150));
    assert_eq!(findings.len(), 100);
    assert_eq!(findings[99].cause.kind, CauseKind::Calls);
}

/// Its first place is told, with the number of all.
#[test]
fn a_breach_of_every_event_is_one_finding_with_its_number() {
    let mut recording = polls(4);
    for tick in 1..4 {
        say(&mut recording, tick, event(IB, port("mlx5_0", "1")), true);
    }
    let case = expecting([]);
    let judged = judge(&case.story, &case.truth, &recording, &case.descriptor);
    let breaches: Vec<(String, u64, Option<u64>)> = judged
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Contract)
        .map(|finding| (finding.cause.to_string(), finding.times, finding.tick))
        .collect();
    let fields: BTreeSet<&String> = breaches.iter().map(|(cause, ..)| cause).collect();
    assert_eq!(fields.len(), breaches.len(), "{breaches:?}");
    let agent = ("contract.agent".to_owned(), 3, Some(1));
    assert!(breaches.contains(&agent), "{breaches:?}");
}

#[rstest]
#[case::missed(&[], &["missed.fatal.port.monitored.infiniband"])]
#[case::late(&[(3, "1", Severity::Fatal, true)], &["late.fatal.port.monitored.infiniband"; 2])]
#[case::early(&[(0, "1", Severity::Fatal, true)], &["early.fatal.port.monitored.infiniband"; 2])]
#[case::refused(&[(1, "1", Severity::Fatal, false)], &["not-delivered.fatal.port.monitored.infiniband"])]
#[case::severity(
    &[(1, "1", Severity::NonFatal, true)],
    &["differs.severity.fatal.port.monitored.infiniband"; 2]
)]
#[case::another_port(
    &[(1, "1", Severity::Fatal, true), (2, "2", Severity::Fatal, true)],
    &["unexpected.fatal.port.monitored.infiniband"]
)]
#[case::repeated(
    &[(1, "1", Severity::Fatal, true), (2, "1", Severity::Fatal, true)],
    &["repeats.fatal.port.monitored.infiniband"]
)]
fn a_missed_event_and_what_came_instead_have_one_cause(
    #[case] said: &[(usize, &str, Severity, bool)],
    #[case] causes: &[&str],
) {
    let mut case = expecting([(reported(ib_port(1), 1), 1, 2)]);
    case.story.heal = Heal::Never {
        because: "an example".to_owned(),
    };
    let like = case.truth.ticks[0].clone();
    case.truth.ticks = vec![like; 5];
    let mut recording = polls(5);
    for (tick, number, severity, accepted) in said {
        let event = Observation {
            severity: *severity,
            ..event(IB, port("mlx5_0", number))
        };
        say(&mut recording, *tick, event, *accepted);
    }
    let found: Vec<String> = found(&case, &recording)
        .iter()
        .map(|finding| finding.cause.to_string())
        .collect();
    assert_eq!(found, causes);
}
