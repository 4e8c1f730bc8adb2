//! Laws hold for a monitor that promises nothing, and for one where it promises nothing.

use judge::judge;
use observe::{Call, Descriptor, Observation, Promises, Protocol, Recording, Subject};
use platforms::PortState;
use reports::{CauseKind, Finding, FindingKind};
use rstest::rstest;
use terms::Severity::{self, Fatal, Healthy};

use crate::{
    alarms::TWO_CASE,
    keys::ADDED,
    promises::{CUT_CASE, Case},
    wire::monitor,
};

/// The drill in which all that was said of the port that heals first, in poll 20, comes in this poll.
fn taken_back_in(poll: usize) -> Recording {
    let mut recording = TWO_CASE.recording.clone();
    for tick in 20..30 {
        let mut calls = std::mem::take(&mut monitor(&mut recording, tick, "node-a").calls);
        monitor(&mut recording, poll, "node-a")
            .calls
            .append(&mut calls);
    }
    recording
}

/// The other port heals in poll 30.
#[rstest]
#[case::in_order(24, 0)]
#[case::in_the_poll_before_the_other(29, 0)]
#[case::after_the_other(38, 1)]
fn what_heals_first_is_not_taken_back_last(#[case] poll: usize, #[case] findings: usize) {
    let (story, truth) = (&TWO_CASE.story, &TWO_CASE.truth);
    let judged = judge(
        story,
        truth,
        &taken_back_in(poll),
        &Descriptor::of_program("m"),
    );
    let found: Vec<&str> = judged
        .findings
        .iter()
        .flat_map(|finding| &finding.expected)
        .map(String::as_str)
        .collect();
    assert_eq!(found.len(), findings, "{found:?}");
    assert!(found.iter().all(|it| it.contains("is taken back by poll")));
}

/// A line: the poll, device and port, and what it says.
type Line<'l> = (usize, &'l str, &'l str, Severity);

/// The drill, of a program that writes these lines. Each has another text, such as a time.
fn written(case: &Case, lines: &[Line<'_>]) -> Recording {
    let lines = lines.iter().map(|(tick, device, port, severity)| {
        let said = Observation {
            subject: port_of(device, port),
            severity: *severity,
            ..Observation::default()
        };
        (*tick, said)
    });
    writing(case, lines)
}

fn port_of(device: &str, port: &str) -> Subject {
    Subject::Port {
        device: device.to_owned(),
        port: port.to_owned(),
    }
}

/// The same of lines with other subjects or codes.
fn writing(case: &Case, lines: impl Iterator<Item = (usize, Observation)>) -> Recording {
    let mut recording = case.recording.clone();
    recording.protocol = Protocol::Lines;
    for tick in 0..recording.ticks.len() {
        monitor(&mut recording, tick, "node-a").calls.clear();
    }
    for (number, (tick, said)) in lines.enumerate() {
        let said = Observation {
            text: format!("line {number}"),
            ..said
        };
        monitor(&mut recording, tick, "node-a").calls.push(Call {
            observations: vec![said],
            fields: Vec::new(),
            accepted: true,
            answer: "written".to_owned(),
        });
    }
    recording
}

/// A program that writes changes, and promises these rows.
fn writes_changes(rows: &str) -> Descriptor {
    promising(&format!("rows: {{ {rows} }}"))
}

fn promising(text: &str) -> Descriptor {
    let promises: Promises =
        files::yaml::read("promises.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    Descriptor {
        speaks: Protocol::Lines,
        promises,
        ..Descriptor::of_program("m")
    }
}

/// The port whose cable is pulled in poll 10, and the first poll in which it is up again.
fn victim() -> (String, String, usize) {
    let case = &*CUT_CASE;
    let node = &case.story.monitors[0];
    let views = |tick: usize| &case.truth.ticks[tick].nodes[node].views;
    let mut monitored = views(15).0.iter().filter(|(_, view)| view.monitored);
    let found = monitored.find_map(|(pci, view)| {
        let mut ports = view.ports.iter();
        let (port, _) = ports.find(|(_, port)| port.state == PortState::DOWN)?;
        Some((*pci, *port, view.name.to_string()))
    });
    let (pci, port, name) = found.expect("its cable is pulled");
    let up = (20..30).find(|tick| views(*tick).healthy(pci, port));
    (name, port.to_string(), up.expect("it is plugged in again"))
}

fn found(case: &Case, lines: &[Line<'_>], descriptor: &Descriptor) -> Vec<Finding> {
    let recording = written(case, lines);
    judge(&case.story, &case.truth, &recording, descriptor).findings
}

/// A line about any subject: the poll, the subject, what it says, and its code or none.
type Statement<'l> = (usize, Subject, Severity, &'l str);

/// What is wrong with these lines in the drill in which a cable is pulled.
fn found_of(lines: &[Statement<'_>], descriptor: &Descriptor) -> Vec<Finding> {
    let lines = lines.iter().map(|(tick, subject, severity, code)| {
        let codes = [*code].into_iter().filter(|code| !code.is_empty());
        let said = Observation {
            subject: subject.clone(),
            severity: *severity,
            codes: codes.map(str::to_owned).collect(),
            ..Observation::default()
        };
        (*tick, said)
    });
    let case = &*CUT_CASE;
    let recording = writing(case, lines);
    judge(&case.story, &case.truth, &recording, descriptor).findings
}

/// The cause and the first expected text of each finding.
fn told(findings: &[Finding]) -> Vec<(String, &str)> {
    let told = findings.iter();
    told.map(|it| (it.cause.to_string(), it.expected[0].as_str()))
        .collect()
}

const ROWS: &str =
    "polling: { within: 3 polls }, down: usual, training: usual, init: usual, armed: usual";

/// Where a program writes changes, a second recovery without a fault between is a repetition, whatever its text is. The
/// numbers are polls after the port is up.
#[rstest]
#[case::once(ROWS, &[0], 0)]
#[case::twice(ROWS, &[0, 1], 1)]
#[case::in_the_same_poll(ROWS, &[0, 0], 1)]
#[case::much_later(ROWS, &[0, 5], 1)]
#[case::three_times(ROWS, &[0, 1, 2], 2)]
#[case::without_a_row("disabled: usual", &[0, 1], 1)]
fn a_recovery_is_written_once(
    #[case] rows: &str,
    #[case] again: &[usize],
    #[case] findings: usize,
) {
    let (name, port, up) = victim();
    let mut lines = vec![(10, &*name, &*port, Fatal)];
    lines.extend(
        again
            .iter()
            .map(|later| (up + later, &*name, &*port, Healthy)),
    );
    let found = found(&CUT_CASE, &lines, &writes_changes(rows));
    assert_eq!(found.len(), findings, "{found:#?}");
    for finding in &found {
        assert_eq!(finding.kind, FindingKind::Unexpected);
        assert_eq!(finding.cause.kind, CauseKind::Repeats);
    }
}

/// It may say at first what is healthy, and need not have reported the fault.
#[test]
fn a_port_that_failed_between_is_healthy_again() {
    let (name, port, up) = victim();
    let greeted = (0, &*name, &*port, Healthy);
    let healthy = (up, &*name, &*port, Healthy);
    let descriptor = writes_changes("disabled: usual");
    assert_eq!(found(&CUT_CASE, &[greeted, healthy], &descriptor), []);
    let again = (3, &*name, &*port, Healthy);
    let repeated = found(&CUT_CASE, &[greeted, again], &descriptor);
    assert_eq!(repeated.len(), 1, "{repeated:#?}");
    // One that promises nothing may state what is.
    let bare = writes_changes("");
    assert_eq!(found(&CUT_CASE, &[greeted, again], &bare), []);
}

/// Neither an alarm nor an all-clear, whatever is promised of ports that are gone and of first polls.
#[rstest]
#[case::no_such_port(("mlx5_3", "7"), "the device has no such port")]
#[case::no_such_device(("nosuch", "1"), "does not exist")]
fn what_is_said_of_nobody_has_no_cause(
    #[case] (device, port): (&str, &str),
    #[case] reason: &str,
    #[values(Fatal, Healthy)] severity: Severity,
    #[values(ROWS, "gone_port: usual", "")] rows: &str,
) {
    let lines = [(5, device, port, severity)];
    let descriptor = writes_changes(rows);
    let found = found(&CUT_CASE, &lines, &descriptor);
    let mut unexpected = found.iter();
    let unexpected = unexpected.find(|it| it.kind == FindingKind::Unexpected);
    let unexpected = unexpected.unwrap_or_else(|| panic!("{found:#?}"));
    let is_told = unexpected.expected[0].contains(reason);
    assert!(is_told || rows.is_empty(), "{unexpected:#?}");
}

/// Without a promise about `wire.first_poll` a healthy line is not judged, unless a row forbids it.
#[test]
fn what_was_added_is_not_written_where_a_row_forbids_it() {
    let healthy = [(12, "mlx5_40", "1", Healthy)];
    let of = |rows: &str| found(&ADDED, &healthy, &writes_changes(rows));
    for rows in ["disabled: usual", "hot_added: { healthy: reported }"] {
        assert_eq!(of(rows), [], "{rows}");
    }
    let told = of("hot_added: { healthy: silent }");
    let [finding] = &told[..] else {
        panic!("{told:#?}");
    };
    assert_eq!(finding.kind, FindingKind::Unexpected);
    // What was reported of it is taken back.
    let fault = [(11, "mlx5_40", "1", Fatal), healthy[0]];
    let rows = "hot_added: { healthy: silent }, disabled: usual";
    let told = found(&ADDED, &fault, &writes_changes(rows));
    assert!(told.iter().all(|it| it.tick == Some(11)), "{told:#?}");
}

/// The subjects that monitors of these granularities name for the port whose cable is pulled.
fn victim_as(granularity: &str) -> (Subject, usize) {
    let (name, port, up) = victim();
    let subject = match granularity {
        "device" => Subject::Device(name),
        "node" => Subject::Node,
        _ => port_of(&name, &port),
    };
    (subject, up)
}

fn granular(granularity: &str, style: &str, rows: &str) -> Descriptor {
    promising(&format!(
        "style: {style}\ngranularity: {granularity}\nrows: {{ {rows} }}\n"
    ))
}

/// So it is where reports are about a device or the node, and an alarm is raised once.
#[rstest]
#[case::once(&[0], 0)]
#[case::twice(&[0, 1], 1)]
#[case::in_the_same_poll(&[0, 0], 1)]
#[case::much_later(&[0, 5], 1)]
#[case::three_times(&[0, 1, 2], 2)]
fn a_recovery_of_a_device_or_node_is_written_once(
    #[case] again: &[usize],
    #[case] findings: usize,
    #[values("port", "device", "node")] granularity: &str,
) {
    let (subject, up) = victim_as(granularity);
    let mut lines = vec![(10, subject.clone(), Fatal, "")];
    let healthy = again.iter();
    lines.extend(healthy.map(|later| (up + later, subject.clone(), Healthy, "")));
    let of = |style: &str| found_of(&lines, &granular(granularity, style, ROWS));
    let found = of("edge");
    assert_eq!(found.len(), findings, "{found:#?}");
    for finding in &found {
        assert_eq!(finding.cause.kind, CauseKind::Repeats);
        assert_eq!(finding.expected, ["nothing that was reported before"]);
    }
    assert_eq!(of("level"), [], "it states what is");
}

/// The alarm of a node with several faults may be raised for each of them.
#[test]
fn a_nodes_alarm_is_raised_again_for_another_fault_alone() {
    let case = &*TWO_CASE;
    let said = |tick: usize, severity: Severity| {
        let said = Observation {
            severity,
            ..Observation::default()
        };
        (tick, said)
    };
    let of = |alarms: &[usize], names: &str| {
        let alarms = alarms.iter().map(|tick| said(*tick, Fatal));
        let lines = alarms.chain([said(31, Healthy)]);
        let mut recording = writing(case, lines);
        for tick in 0..recording.ticks.len() {
            let calls = &mut monitor(&mut recording, tick, "node-a").calls;
            let said = calls.iter_mut().flat_map(|call| &mut call.observations);
            said.for_each(|it| it.text = "the node is ill".to_owned());
        }
        let promises =
            format!("style: edge\ngranularity: node\nnames: {names}\nrows: {{ {ROWS} }}\n");
        judge(&case.story, &case.truth, &recording, &promising(&promises)).findings
    };
    for names in ["first", "all"] {
        assert_eq!(of(&[10, 15], names), [], "{names}");
        let again = of(&[10, 12, 15], names);
        let kinds: Vec<_> = again.iter().map(|it| (it.tick, it.cause.kind)).collect();
        assert_eq!(kinds, [(Some(12), CauseKind::Repeats)], "{names}");
    }
    assert_eq!(of(&[10], "first"), []);
}

fn nobody() -> [(Subject, &'static str, &'static str); 4] {
    [
        (
            port_of("mlx5_77", "1"),
            "port.absent",
            "nothing about mlx5_77/1 (does not exist)",
        ),
        (
            port_of("mlx5_3", "7"),
            "port.absent",
            "nothing about mlx5_3/7 (the device has no such port)",
        ),
        (
            Subject::Device("mlx5_77".to_owned()),
            "device.absent",
            "nothing about mlx5_77 (does not exist)",
        ),
        (
            Subject::Card("0000:ff:00".to_owned()),
            "card.absent",
            "nothing about 0000:ff:00 (does not exist)",
        ),
    ]
}

/// What is said of names and numbers that no device has is told at every granularity, whatever else stands then, and it is
/// not taken for the alarm that is owed.
#[rstest]
fn a_name_that_no_device_has_is_told_at_every_granularity(
    #[values("port", "device", "node")] granularity: &str,
    #[values("edge", "level")] style: &str,
    #[values(5, 12)] from: usize,
    #[values(false, true)] is_taken_back: bool,
) {
    let (subject, up) = victim_as(granularity);
    let descriptor = granular(granularity, style, ROWS);
    let right = [(10, subject.clone(), Fatal, ""), (up, subject, Healthy, "")];
    assert_eq!(found_of(&right, &descriptor), []);
    for (stranger, cause, text) in nobody() {
        let mut lines = vec![(from, stranger.clone(), Fatal, "")];
        lines.extend(is_taken_back.then_some((up, stranger, Healthy, "")));
        lines.extend(right.clone());
        lines.sort_by_key(|line| line.0);
        let found = found_of(&lines, &descriptor);
        let first = found.first().expect("it is told");
        let of = first.cause.to_string();
        assert!(of.starts_with(&format!("unexpected.fatal.{cause}")), "{of}");
        assert_eq!(first.expected, [text]);
        let stays = granularity == "port" && style == "edge" && !is_taken_back;
        let back = granularity == "port" && style == "edge" && is_taken_back;
        assert_eq!(found.len(), 1 + usize::from(stays || back), "{found:#?}");
    }
}

/// Where changes are said, a healthy event about nobody is told too.
#[rstest]
fn a_recovery_of_nobody_is_told_at_every_granularity(
    #[values("port", "device", "node")] granularity: &str,
    #[values(5, 12, 29)] tick: usize,
) {
    let (subject, up) = victim_as(granularity);
    let right = [(10, subject.clone(), Fatal, ""), (up, subject, Healthy, "")];
    for (stranger, cause, text) in nobody() {
        let mut lines = right.to_vec();
        lines.push((tick, stranger, Healthy, ""));
        lines.sort_by_key(|line| line.0);
        let found = found_of(&lines, &granular(granularity, "edge", ROWS));
        let told = told(&found);
        let [(of, expected)] = &told[..] else {
            panic!("{found:#?}");
        };
        assert!(
            of.starts_with(&format!("unexpected.healthy.{cause}")),
            "{of}"
        );
        assert_eq!(*expected, text);
        let states = found_of(&lines, &granular(granularity, "level", ROWS));
        assert_eq!(states, [], "it states what is");
    }
}

/// A name of nobody is no alarm about the node.
#[rstest]
fn a_name_that_no_device_has_is_not_the_alarm_that_is_owed(
    #[values("device", "node")] granularity: &str,
) {
    let (_, up) = victim_as(granularity);
    let stranger = || Subject::Device("mlx5_77".to_owned());
    let lines = [(10, stranger(), Fatal, ""), (up, stranger(), Healthy, "")];
    let found = found_of(&lines, &granular(granularity, "edge", ROWS));
    let kinds: Vec<_> = found.iter().map(|it| it.kind).collect();
    assert_eq!(
        kinds,
        [FindingKind::Missing, FindingKind::Unexpected],
        "{found:#?}"
    );
}

/// A monitor of ports has nothing to say of the node: a port is what failed.
#[rstest]
#[case::while_a_port_is_down(12, 14)]
#[case::with_the_port(10, 23)]
#[case::before_all(4, 6)]
#[case::after_all(26, 28)]
fn an_alarm_about_the_node_is_told_of_a_monitor_of_ports(#[case] from: usize, #[case] to: usize) {
    let (subject, up) = victim_as("port");
    let with = |further: &[Statement<'_>]| {
        let mut lines = vec![
            (10, subject.clone(), Fatal, ""),
            (up, subject.clone(), Healthy, ""),
        ];
        lines.extend(further.iter().cloned());
        lines.sort_by_key(|line| line.0);
        found_of(&lines, &granular("port", "edge", ROWS))
    };
    let ill = (from, Subject::Node, Fatal, "");
    let well = (to, Subject::Node, Healthy, "");
    let found = with(&[ill.clone(), well]);
    let alarms: Vec<_> = found
        .iter()
        .filter(|it| it.tick == Some(from as u64))
        .collect();
    let [alarm] = &alarms[..] else {
        panic!("{found:#?}");
    };
    let cause = alarm.cause.to_string();
    assert!(cause.starts_with("unexpected.fatal.check"), "{cause}");
    // One that stays is not cleared, too.
    let found = with(&[ill]);
    let stays: Vec<_> = found
        .iter()
        .filter(|it| it.kind == FindingKind::Outstanding)
        .collect();
    let [stays] = &stays[..] else {
        panic!("{found:#?}");
    };
    let by = CUT_CASE.recording.ticks.len() - 1;
    assert_eq!(
        stays.expected[0],
        format!("a healthy event for the node by poll {by}")
    );
}

/// The expected text says what is wrong with an event.
#[test]
fn what_is_expected_instead_of_an_event_fits_it() {
    let (subject, up) = victim_as("port");
    let fatal = |tick: usize| (tick, subject.clone(), Fatal, "");
    let healthy = |tick: usize| (tick, subject.clone(), Healthy, "");
    let texts = |lines: &[Statement<'_>]| {
        let found = found_of(lines, &granular("port", "edge", ROWS));
        let unexpected = found.iter().filter(|it| it.kind == FindingKind::Unexpected);
        unexpected
            .map(|it| it.expected[0].clone())
            .collect::<Vec<_>>()
    };
    let nothing: [&str; 0] = [];
    assert_eq!(texts(&[fatal(10), healthy(up)]), nothing);
    let early = ["no such event before poll 10"];
    assert_eq!(texts(&[fatal(8), healthy(up)]), early);
    let again = ["nothing that was reported before"];
    assert_eq!(texts(&[fatal(10), fatal(10), healthy(up)]), again);
    let card = || Subject::Card("0000:ff:00".to_owned());
    let of_card = ["nothing about 0000:ff:00 (does not exist)"];
    let lines = [fatal(10), (12, card(), Fatal, ""), healthy(up)];
    assert_eq!(texts(&lines), of_card);
}

/// Another monitored device, which is healthy all the time.
fn bystander() -> String {
    let case = &*CUT_CASE;
    let (name, ..) = victim();
    let views = &case.truth.ticks[15].nodes[&case.story.monitors[0]].views;
    let mut others = views.0.values();
    let is_healthy = |view: &director::FunctionView| {
        let mut ports = view.ports.values();
        ports.all(|port| port.state == PortState::ACTIVE)
    };
    let found =
        others.find(|view| view.monitored && view.name.as_str() != name && is_healthy(view));
    found.expect("others are healthy").name.to_string()
}

/// What is healthy is said in the first poll, or when it changes: the first healthy event about what was healthy all the time
/// has no cause where changes are promised.
#[rstest]
#[case::a_code_never_reported("symbol_error", 5, 1)]
#[case::a_port("", 5, 1)]
#[case::in_the_first_poll("symbol_error", 0, 0)]
#[case::after_all("symbol_error", 27, 1)]
fn what_was_healthy_all_the_time_does_not_recover(
    #[case] code: &str,
    #[case] tick: usize,
    #[case] findings: usize,
    #[values("port", "device", "node")] granularity: &str,
) {
    let (subject, up) = victim_as(granularity);
    let device = bystander();
    let about = match granularity {
        "device" => Subject::Device(device),
        _ => port_of(&device, "1"),
    };
    let mut lines = vec![(10, subject.clone(), Fatal, ""), (up, subject, Healthy, "")];
    lines.push((tick, about.clone(), Healthy, code));
    lines.sort_by_key(|line| line.0);
    let found = found_of(&lines, &granular(granularity, "edge", ROWS));
    let of_it: Vec<_> = told(&found)
        .into_iter()
        .map(|(_, text)| text.to_owned())
        .collect();
    let of_code = match code {
        "" => String::new(),
        code => format!("`{code}` of "),
    };
    let expected =
        format!("no recovery of {of_code}{about}: no fault of it was there, and none was reported");
    assert_eq!(of_it, vec![expected; findings], "{found:#?}");
    // One that promises nothing may state what is.
    assert_eq!(
        found_of(&lines, &promising(&format!("granularity: {granularity}"))),
        []
    );
}
