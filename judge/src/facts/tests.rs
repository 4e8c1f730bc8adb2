//! What is not about one event, against a recording of four ticks: a quiet one, one in which much is told, one
//! without a state file, and one without a poll.

mod cluster;
mod loads;

use observe::{Answers, Call, ClockKind, Exit, MonitorTick, Recording, Series, Tick, Vocabulary};
use platforms::NodeName;
use rstest::rstest;
use scenarios::{About, Expectation, FileRef, MetricIs, StateFileIs, Times, Window};

use super::*;
use crate::consequences::Consequences;
use crate::fits::tests::{Case, event, ib_port, node_a, node_b, port};
use crate::reported_event::ReportedEvent;

/// What was expected and what came; `None` if it holds.
pub(crate) fn told_of(outcome: Outcome) -> Option<(String, Vec<String>)> {
    match outcome {
        Outcome::Holds => None,
        Outcome::Fails { expected, came, .. } => Some((expected, came)),
        Outcome::NotJudged(_) => panic!("nobody's descriptor decides it"),
    }
}

const STATE: &[u8] = br#"{"version": 2, "list": [1, {"a": true}]}"#;

fn recording() -> Recording {
    let series = |label: &str, value| Series {
        name: "up".to_owned(),
        labels: [
            ("a".to_owned(), label.to_owned()),
            ("b".to_owned(), "x".to_owned()),
        ]
        .into(),
        value,
    };
    let call = Call {
        observations: Vec::new(),
        fields: Vec::new(),
        accepted: true,
        answer: "accepted".to_owned(),
    };
    let quiet = MonitorTick {
        polls: 1,
        log: vec!["start".to_owned()],
        state_file: Some(STATE.into()),
        ..MonitorTick::default()
    };
    let busy = MonitorTick {
        polls: 2,
        reads: vec![
            "read sys/x: 3".into(),
            "read sys/y: 1".into(),
            "read sys/x: 3".into(),
        ]
        .into(),
        calls: vec![call],
        log: vec!["one two three".to_owned()],
        answers: Answers {
            metrics: Some(vec![series("1", 1.0), series("2", 2.0)]),
            healthz: Some(200),
        },
        exits: vec![Exit::Code(3)],
        ..quiet.clone()
    };
    let killed = MonitorTick {
        polls: 1,
        exits: vec![Exit::Signal(9)],
        log: (0..9).map(|nth| format!("line {nth}")).collect(),
        ..MonitorTick::default()
    };
    let away = MonitorTick {
        state_file: Some(b"torn".as_slice().into()),
        ..MonitorTick::default()
    };
    let ticks = [quiet, busy, killed, away].map(|instance| {
        let mut tick = Tick::default();
        tick.insert((&node_a()).into(), instance.into());
        tick
    });
    Recording {
        ticks: ticks.into(),
        ..Recording::default()
    }
}

fn stands(case: &Case, what: What, from: u64, to: u64) -> Outcome {
    let recording = recording();
    let mut expectation = case.story.expectations[0].clone();
    expectation.what = what;
    expectation.window = Window { from, to };
    let made = Consequences::of(&case.story, &recording);
    standing(&Scene {
        expectation: &expectation,
        node: &node_a(),
        context: case.context(),
        recording: &recording,
        reported: &[],
        made: &made,
    })
    .expect("it is a fact")
}

#[track_caller]
fn check_holds(what: What, from: u64, to: u64) {
    assert_eq!(told_of(stands(&Case::new(), what, from, to)), None);
}

#[track_caller]
fn check_fails(what: What, from: u64, to: u64, expected: &str, came: &[&str]) {
    let rendered = told_of(stands(&Case::new(), what, from, to));
    let came = came.iter().map(ToString::to_string).collect();
    assert_eq!(rendered, Some((expected.to_owned(), came)));
}

fn log(contains: &str) -> What {
    let contains = contains.to_owned();
    What::Log { contains }
}

fn no_log(contains: &str) -> What {
    let contains = contains.to_owned();
    What::NoLog { contains }
}

#[test]
fn an_exit_has_its_code() {
    check_holds(What::Exit { code: 3 }, 0, 3);
    let ended = ["poll 1: exit code 3", "poll 2: ended by signal 9"];
    check_fails(What::Exit { code: 9 }, 0, 3, "exit code 9", &ended);
    check_fails(What::Exit { code: 3 }, 2, 2, "exit code 3", &ended[1..]);
    check_fails(What::Exit { code: 3 }, 0, 0, "exit code 3", &[]);
}

#[test]
fn a_line_of_the_log_is_there_or_is_not() {
    check_holds(log("one…three"), 0, 3);
    check_holds(log("two"), 1, 1);
    check_fails(log("two"), 0, 0, "a log line with \"two\"", &["start"]);
    let last: Vec<String> = (1..9).map(|nth| format!("line {nth}")).collect();
    let last: Vec<&str> = last.iter().map(String::as_str).collect();
    check_fails(log("two"), 2, 2, "a log line with \"two\"", &last);
    check_holds(no_log("two"), 2, 3);
    check_fails(
        no_log("t"),
        0,
        1,
        "no log line with \"t\"",
        &["start", "one two three"],
    );
}

#[test]
fn polls_and_calls_are_counted() {
    check_holds(What::Polls(3), 0, 1);
    check_holds(What::Polls(0), 3, 3);
    check_fails(What::Polls(2), 0, 1, "2 polls", &["3 polls"]);
    check_holds(What::Calls { count: 1 }, 0, 3);
    check_fails(What::Calls { count: 1 }, 2, 3, "1 call", &["0 calls"]);
}

fn holds_member(member: &str, equals: &str) -> What {
    What::StateFile(StateFileIs::Holds {
        member: member.to_owned(),
        equals: equals.to_owned(),
    })
}

#[test]
fn a_state_file_is_looked_at_at_the_end_of_its_window() {
    let (valid, absent) = (StateFileIs::Valid, StateFileIs::Absent);
    let is = String::from_utf8_lossy(STATE);
    let (is, was) = (format!("the state file is {is}"), format!("before: {is}"));
    check_holds(What::StateFile(valid.clone()), 0, 1);
    check_fails(
        What::StateFile(valid.clone()),
        0,
        2,
        "a state file that is JSON",
        &["no state file"],
    );
    // Beyond the drill's end the last tick counts.
    let torn = "the state file is torn";
    check_fails(
        What::StateFile(valid),
        0,
        9,
        "a state file that is JSON",
        &[torn],
    );
    check_holds(What::StateFile(absent.clone()), 2, 2);
    check_fails(What::StateFile(absent), 1, 1, "no state file", &[&is]);
    let unchanged = || What::StateFile(StateFileIs::Unchanged);
    let wanted = "an unchanged state file";
    check_holds(unchanged(), 1, 1);
    check_fails(unchanged(), 2, 2, wanted, &["no state file", &was]);
    check_fails(unchanged(), 0, 0, wanted, &[&is, "before: absent"]);
    check_fails(unchanged(), 1, 3, wanted, &[torn, &was]);
    check_holds(holds_member("version", "2"), 1, 1);
    check_holds(holds_member("list.0", "1"), 1, 1);
    check_holds(holds_member("list.1.a", "true"), 1, 1);
    let wanted = "a state file with `list.1.b` equal to true";
    check_fails(holds_member("list.1.b", "true"), 1, 1, wanted, &[&is]);
    let wanted = "a state file with `version` equal to 3";
    check_fails(holds_member("version", "3"), 1, 1, wanted, &[&is]);
    // What is no JSON equals nothing, not even what is not there.
    let wanted = "a state file with `none` equal to no JSON";
    check_fails(holds_member("none", "no JSON"), 1, 1, wanted, &[&is]);
}

fn metric_is(name: &str, labels: &[(&str, &str)], is: MetricIs) -> What {
    let labels = labels
        .iter()
        .map(|(name, text)| (name.to_string(), text.to_string()));
    What::Metric {
        name: name.to_owned(),
        labels: labels.collect(),
        is,
    }
}

fn within(least: u64, most: u64) -> MetricIs {
    MetricIs::Within { least, most }
}

#[test]
fn a_metric_is_the_sum_of_the_values_with_its_labels() {
    let up = |is| metric_is("up", &[], is);
    check_holds(up(within(3, 3)), 0, 1);
    check_holds(up(within(0, u64::MAX)), 0, 1);
    check_holds(metric_is("up", &[("a", "1")], within(1, 1)), 0, 1);
    check_holds(
        metric_is("up", &[("a", "1"), ("b", "x")], within(0, 1)),
        0,
        1,
    );
    check_holds(metric_is("down", &[], MetricIs::Absent), 0, 1);
    check_holds(metric_is("up", &[("a", "3")], MetricIs::Absent), 0, 1);
    let series = recording().ticks[1].monitors["node-a"]
        .answers
        .metrics
        .clone();
    let lines: Vec<String> = series
        .expect("they were told")
        .iter()
        .map(Series::line)
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check_fails(up(within(4, u64::MAX)), 0, 1, "up{}: at least 4", &lines);
    check_fails(up(within(0, 2)), 0, 1, "up{}: 0 to 2", &lines);
    check_fails(up(within(2, 2)), 0, 1, "up{}: 2", &lines);
    check_fails(up(MetricIs::Absent), 0, 1, "up{}: no value", &lines);
    let labels = [("a", "1"), ("b", "y")];
    check_fails(
        metric_is("up", &labels, within(0, 9)),
        0,
        1,
        "up{a=\"1\",b=\"y\"}: 0 to 9",
        &lines,
    );
    let none = ["no value of down"];
    check_fails(
        metric_is("down", &[], within(0, 9)),
        0,
        1,
        "down{}: 0 to 9",
        &none,
    );
    let none = ["no answer from `/metrics`"];
    check_fails(up(within(0, 9)), 0, 0, "up{}: 0 to 9", &none);
    check_fails(
        metric_is("down", &[], MetricIs::Absent),
        1,
        2,
        "down{}: no value",
        &none,
    );
}

#[test]
fn an_answer_about_health_is_the_one_at_the_end_of_its_window() {
    check_holds(What::Healthz { status: 200 }, 0, 1);
    check_fails(
        What::Healthz { status: 503 },
        0,
        1,
        "503 from `/healthz`",
        &["200"],
    );
    check_fails(
        What::Healthz { status: 200 },
        1,
        2,
        "200 from `/healthz`",
        &["no answer"],
    );
}

#[test]
fn reads_of_a_file_are_counted() {
    let reads = |at_least, at_most| What::Reads {
        file: FileRef::Path("sys/x".to_owned()),
        times: Times { at_least, at_most },
    };
    check_holds(reads(2, 2), 0, 3);
    check_fails(reads(0, 1), 0, 3, "0 to 1 reads of that file", &["2 reads"]);
    check_fails(reads(1, 2), 2, 3, "1 to 2 reads of that file", &["0 reads"]);
}

#[test]
fn a_monitor_that_can_be_ended_is_not_stuck() {
    let wanted = "a monitor that is stuck in the kernel";
    check_fails(What::StuckInKernel, 0, 3, wanted, &["it could be ended"]);
}

type Change = fn(&mut observe::Descriptor);

fn lines(line: &str) -> observe::Logs {
    observe::Logs::Lines([line.to_owned()].into())
}

fn names(metric: &str) -> Option<observe::MetricsPage> {
    Some(observe::MetricsPage {
        path: "/metrics".to_owned(),
        names: Some([metric.to_owned()].into()),
        lazy: false,
    })
}

/// A list of log lines makes these, and only these, judged.
#[test]
fn a_listed_log_line_is_judged() {
    let mut case = Case::new();
    case.descriptor.texts = Vocabulary::Own.into();
    case.descriptor.texts.logs = lines("start");
    let found = stands(&case, log("start"), 0, 1);
    assert!(!matches!(found, Outcome::NotJudged(_)));
    let found = stands(&case, log("stop"), 0, 1);
    assert!(matches!(found, Outcome::NotJudged(_)));
}

/// What is a monitor's own is not judged, and everything else is.
#[rstest]
#[case::texts(|own: &mut observe::Descriptor| own.texts = Vocabulary::Own.into(), [true, true, true, false, false, false, false])]
#[case::clock(|own: &mut observe::Descriptor| own.clock = ClockKind::Own, [false, false, true, false, false, false, false])]
#[case::state_file(|own: &mut observe::Descriptor| own.state_file = Vocabulary::Own, [false, false, false, true, false, false, false])]
#[case::metrics(|own: &mut observe::Descriptor| own.metrics = None, [false, false, false, false, false, true, false])]
#[case::other_log_lines(|own: &mut observe::Descriptor| own.texts.logs = lines("end"), [true, false, false, false, false, false, false])]
#[case::other_metrics(|own: &mut observe::Descriptor| own.metrics = names("down"), [false, false, false, false, false, true, false])]
#[case::this_metric(|own: &mut observe::Descriptor| own.metrics = names("up"), [false, false, false, false, false, false, false])]
#[case::healthz(|own: &mut observe::Descriptor| own.healthz = None, [false, false, false, false, false, false, true])]
fn what_is_a_monitors_own_is_not_judged(#[case] change: Change, #[case] not_judged: [bool; 7]) {
    let mut case = Case::new();
    change(&mut case.descriptor);
    let reads = What::Reads {
        file: FileRef::Path("sys/x".to_owned()),
        times: Times::ONCE,
    };
    let facts = [
        log("start"),
        reads,
        What::RulesSilent,
        What::StateFile(StateFileIs::Valid),
        What::StateFile(StateFileIs::Absent),
        metric_is("up", &[], MetricIs::Absent),
        What::Healthz { status: 200 },
    ];
    let found = facts.map(|what| matches!(stands(&case, what, 0, 1), Outcome::NotJudged(_)));
    assert_eq!(found, not_judged);
    assert_eq!(
        matches!(stands(&case, no_log("x"), 0, 1), Outcome::NotJudged(_)),
        not_judged[0]
    );
}

#[test]
fn what_is_expected_of_another_node_is_no_fact_here() {
    let case = Case::new();
    let recording = recording();
    let made = Consequences::of(&case.story, &recording);
    let mut expectation = case.story.expectations[0].clone();
    expectation.what = What::Polls(0);
    expectation.node = Some(node_b());
    let standing = standing(&Scene {
        expectation: &expectation,
        node: &node_a(),
        context: case.context(),
        recording: &recording,
        reported: &[],
        made: &made,
    });
    assert!(standing.is_none());
}

fn attempt(event: &observe::Observation) -> ReportedEvent<'_> {
    #[expect(
        clippy::disallowed_types,
        reason = "a name that lives as long as every test"
    )]
    static NODE: std::sync::LazyLock<NodeName> = std::sync::LazyLock::new(node_a);
    ReportedEvent {
        node: &NODE,
        tick: 2,
        call: 0,
        place: 0,
        event,
        accepted: false,
        answer: "UNAVAILABLE",
    }
}

/// An attempt in tick 2 about the first port of `mlx5_9`, as it is called then.
#[rstest]
#[case::an_attempt(&[], true, (2, 2), false, None, false)]
#[case::about_it(&[ib_port(1)], true, (0, 3), false, None, false)]
#[case::about_another(&[ib_port(2)], true, (0, 3), false, None, true)]
#[case::about_it_among_others(&[ib_port(2), ib_port(1)], true, (0, 3), false, None, false)]
#[case::attempts_do_not_count(&[], false, (2, 2), false, None, true)]
#[case::before_it(&[], true, (0, 1), false, None, true)]
#[case::after_it(&[], true, (3, 4), false, None, true)]
#[case::it_was_asked_for(&[], true, (2, 2), true, None, true)]
#[case::it_was_taken(&[], true, (2, 2), false, Some(true), true)]
fn silence_hears_attempts_that_nobody_asked_for(
    #[case] about: &[About],
    #[case] attempts: bool,
    #[case] (from, to): (u64, u64),
    #[case] claimed: bool,
    #[case] accepted: Option<bool>,
    #[case] is_silent: bool,
) {
    let case = Case::new();
    let event = event("InfiniBandStateCheck", port("mlx5_9", "1"));
    let reported = ReportedEvent {
        accepted: accepted.unwrap_or_default(),
        ..attempt(&event)
    };
    let window = Window { from, to };
    let silence = What::Nothing {
        about: about.to_vec(),
        counter: None,
        reported: attempts,
    };
    let heard = |node: &NodeName| {
        let made = Consequences::default();
        let line = Expectation {
            what: silence.clone(),
            window,
            ..case.story.expectations[0].clone()
        };
        let scene = Scene {
            expectation: &line,
            node,
            context: case.context(),
            recording: &Recording::default(),
            reported: &[(reported, claimed)],
            made: &made,
        };
        told_of(fact(&silence).expect("it is one").outcome(&scene))
    };
    let came = (!is_silent).then(|| {
        let expected = "nothing, not even an attempt".to_owned();
        (expected, vec![reported.line()])
    });
    assert_eq!(heard(&node_a()), came);
    assert_eq!(heard(&node_b()), None);
}
