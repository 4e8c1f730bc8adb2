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
    let mut recording = case.recording.clone();
    recording.protocol = Protocol::Lines;
    for tick in 0..recording.ticks.len() {
        monitor(&mut recording, tick, "node-a").calls.clear();
    }
    for (number, (tick, device, port, severity)) in lines.iter().enumerate() {
        let said = Observation {
            subject: Subject::Port {
                device: (*device).to_owned(),
                port: (*port).to_owned(),
            },
            severity: *severity,
            text: format!("line {number}"),
            ..Observation::default()
        };
        monitor(&mut recording, *tick, "node-a").calls.push(Call {
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
    let text = format!("rows: {{ {rows} }}");
    let promises: Promises =
        platforms::yaml::read("promises.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
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
