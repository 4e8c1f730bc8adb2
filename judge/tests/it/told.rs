//! What a finding tells so that its reader sees the cause: names that no device has, a page that is older than the fault,
//! ports that are dark by design, and the field in which two equal lines differ.

use std::sync::Arc;

use judge::judge;
use observe::{Call, Descriptor, MonitorTick, Observation, Protocol, Recording, Span, Subject};
use reports::{CauseKind, CauseSubject, Finding, FindingKind};
use terms::{EventField, Severity};

use crate::promises::Case;
use crate::wire::{calls, monitor, reference};

/// The program looks every 5 s.
const INTERVAL: u64 = 5;

const CUT: &str = "
scenario: a port is disabled and enabled again
why: an example
platforms: all
let: { victim: { device: mlx5_0 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 40s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 60s
";

const ROWS: &str = "
style: level
granularity: device
rows: { disabled: { verdict: fatal }, training: usual, polling: usual, init: usual, armed: usual, first_poll: usual }
";

fn program() -> Descriptor {
    let mut descriptor = Descriptor::of_program("m");
    descriptor.speaks = Protocol::Scrape;
    descriptor.schedule.interval = Span::parse("5s");
    descriptor.promises =
        files::yaml::read("promises.yaml", ROWS).unwrap_or_else(|error| panic!("{error}"));
    descriptor
}

/// What a program says that looks in these ticks, by what it saw then: of this name, fatal or healthy.
fn page(case: &Case, name: &str, looks: impl Fn(u64) -> u64) -> Recording {
    let mut recording = case.recording.clone();
    for (at, tick) in (0..).zip(&mut recording.ticks) {
        let looked = looks(at);
        let said = Observation {
            subject: Subject::Device(name.to_owned()),
            severity: if (10..45).contains(&looked) {
                Severity::Fatal
            } else {
                Severity::Healthy
            },
            ..Observation::default()
        };
        let call = Call {
            observations: vec![said],
            fields: Vec::new(),
            accepted: true,
            answer: "a page".to_owned(),
        };
        let is_due = at % INTERVAL == 0;
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            let read = ["read sys/class/infiniband/mlx5_0/ports/1/state: 9"].map(Into::into);
            *monitor = Arc::new(MonitorTick {
                polls: u32::from(is_due),
                calls: if is_due {
                    vec![call.clone()]
                } else {
                    Vec::new()
                },
                reads: if looked == at {
                    read.to_vec().into()
                } else {
                    Vec::new().into()
                },
                ..MonitorTick::default()
            });
        }
    }
    recording
}

fn found(case: &Case, recording: &Recording, descriptor: &Descriptor) -> Vec<Finding> {
    let judged = judge(&case.story, &case.truth, recording, descriptor);
    let left = |finding: &Finding| finding.kind != FindingKind::LeftStanding;
    judged.findings.into_iter().filter(left).collect()
}

#[test]
fn a_name_that_no_device_has_is_told_first() {
    let case = Case::played(CUT);
    assert_eq!(
        found(&case, &page(&case, "mlx5_0", |at| at), &program()),
        []
    );
    let found = found(&case, &page(&case, "mlx5_0:1", |at| at), &program());
    let first = &found[0];
    assert_eq!(
        first.cause.to_string(),
        "differs.entities.fatal.device.after-port"
    );
    let came = &first.came[0];
    assert!(
        came.contains("fatal NIC=mlx5_0:1") && came.contains("(no device has this name)"),
        "{found:#?}"
    );
}

/// Of the ports of a line that are missed in part it is told how many, and of all that are missed nothing.
#[test]
fn it_is_told_how_many_ports_of_a_line_are_missed() {
    let case = Case::played(CUT);
    let missed = |at_most: usize| {
        let (mut recording, mut left_out) = (case.recording.clone(), 0);
        for mut call in calls(&mut recording) {
            call.events.retain(|event| {
                let is_of_port = event.is_healthy && event.entities_impacted.len() == 2;
                let is_left_out = is_of_port && left_out < at_most;
                left_out += usize::from(is_left_out);
                !is_left_out
            });
        }
        let found = found(&case, &recording, &reference());
        let is_port = |of: &&Finding| {
            of.kind == FindingKind::Missing && of.cause.subject == Some(CauseSubject::Port)
        };
        let first = found.iter().find(is_port);
        first.expect("a port is missed").expected[0].clone()
    };
    let one = missed(1);
    assert!(one.contains(" (1 of ") && one.ends_with(" ports)"), "{one}");
    let two = missed(2);
    assert!(two.contains(" (2 of "), "{two}");
    let all = missed(usize::MAX);
    assert!(!all.contains(" ports)"), "{all}");
}

/// An alarm that stays when its fault is over stays so before anything heals by itself.
#[test]
fn the_heading_of_an_alarm_that_stays_names_its_time() {
    let case = Case::played(CUT);
    let recording = page(&case, "mlx5_0", |at| at.min(40));
    let found = found(&case, &recording, &program());
    let stays = found.iter().find(|of| of.kind == FindingKind::Outstanding);
    let stays = stays.unwrap_or_else(|| panic!("{found:#?}"));
    assert!(stays.tick < case.recording.healing_from, "{stays:#?}");
    assert_eq!(stays.words(), "not cleared when its fault was over");
    let mut healing = stays.clone();
    healing.cause.action = Some(reports::CauseAction::Healing);
    assert_eq!(healing.words(), "not cleared after healing");
}

/// It looks every half a minute by itself, or every 20 s, and its page is older than the fault, or than its end.
#[test]
fn a_page_that_is_older_than_what_happened_is_told_as_such() {
    let case = Case::played(CUT);
    let came = |every: u64, kind: FindingKind| {
        let found = found(
            &case,
            &page(&case, "mlx5_0", |at| at - at % every),
            &program(),
        );
        let of_it = found.iter().find(|of| of.kind == kind);
        let of_it = of_it.unwrap_or_else(|| panic!("{found:#?}"));
        of_it.came[0].clone()
    };
    assert_eq!(
        came(30, FindingKind::Missing),
        "it read nothing from poll 10 on until what it said in poll 20: its last read was in poll 0"
    );
    assert_eq!(
        came(20, FindingKind::Outstanding),
        "it read nothing from poll 45 on until what it said in poll 55: its last read was in poll 40"
    );
}

/// An alarm of this severity about a port that has no cable; what is told of it.
fn dark(severity: Severity) -> (Case, Recording) {
    let text = CUT.split_once("  - at: 10s").expect("a step").0;
    let case = Case::played_on(
        "l40s-oci",
        &format!(
            "{}until: 5s\n",
            text.replace("{ device: mlx5_0 }", "{ cabled: false, nth: 1 }")
        ),
    );
    let mut recording = case.recording.clone();
    let port = case.story.nodes[0]
        .1
        .ports()
        .into_iter()
        .find(|port| !port.cabled);
    let device = port.expect("it has one").device;
    let mut all = calls(&mut recording);
    let call = all.last_mut().expect("a baseline");
    let mut event = call.events.last().expect("an event").clone();
    (event.is_healthy, event.is_fatal) = (false, severity == Severity::Fatal);
    let entity = |kind: &str, value: &str| proto::Entity {
        entity_type: kind.to_owned(),
        entity_value: value.to_owned(),
    };
    event.entities_impacted = vec![entity("NIC", device.as_str()), entity("NICPort", "1")];
    call.events.push(event);
    drop(all);
    (case, recording)
}

#[test]
fn an_alarm_about_a_port_without_a_cable_says_so() {
    let (case, recording) = dark(Severity::Fatal);
    let found = found(&case, &recording, &reference());
    let of = |kind| found.iter().find(|finding| finding.kind == kind);
    for kind in [FindingKind::Unexpected, FindingKind::Outstanding] {
        let finding = of(kind).unwrap_or_else(|| panic!("{found:#?}"));
        let told = finding.expected.join(" ");
        assert!(told.contains("(no cable, dark by design)"), "{finding:#?}");
    }
}

/// A port that is dark by design cannot be read for 40 s, or is missing for 10 s; no line asks for what the recovery
/// brings.
#[rstest::rstest]
#[case::unreadable(
    "l40-onprem",
    "read: victim/state, fail: EIO, for: 40s",
    "",
    "nonfatal"
)]
#[case::missing(
    "l40s-oci",
    "remove_port: victim",
    "  - at: 50s\n    do: [ { restore_port: victim } ]\n",
    "fatal"
)]
fn a_port_that_is_dark_as_before_may_be_cleared_once_without_a_line(
    #[case] platform: &str,
    #[case] fault: &str,
    #[case] mend: &str,
    #[case] verdict: &str,
) {
    let text = CUT.replace("{ device: mlx5_0 }", "{ cabled: false, nth: 1 }");
    let start = text.split_once("  - at: 10s").expect("a step").0;
    let fault =
        format!("do: [ {{ {fault} }} ]\n    expect: [ {{ {verdict}: victim, within: 32 polls }} ]");
    let text = format!("{start}  - at: 10s\n    {fault}\n{mend}until: 70s\n");
    let case = Case::played_on(platform, &text);
    let as_it_came = found(&case, &case.recording, &reference());
    assert_eq!(as_it_came, []);

    let mut recording = case.recording.clone();
    let mut all = calls(&mut recording);
    let clear = all.iter().rev().flat_map(|call| &call.events);
    let clear = clear.clone().find(|event| event.is_healthy);
    let again = clear.expect("a clear").clone();
    all.last_mut().expect("a call").events.push(again);
    drop(all);
    let twice = found(&case, &recording, &reference());
    assert!(
        twice.iter().any(|of| of.kind == FindingKind::Unexpected),
        "{twice:#?}"
    );
}

/// An alarm of one that reports its node has the severity and the subject that came.
#[test]
fn a_heading_agrees_with_what_came() {
    let (case, recording) = dark(Severity::NonFatal);
    let descriptor = Descriptor {
        promises: files::yaml::read(
            "promises.yaml",
            "granularity: node\nrows: { down: { verdict: fatal }, disabled: { verdict: fatal }, polling: { verdict: fatal }, first_poll: silent, flap: usual }\n",
        )
        .unwrap_or_else(|error| panic!("{error}")),
        ..reference()
    };
    let found = found(&case, &recording, &descriptor);
    let first = found.iter().find(|of| of.kind == FindingKind::Unexpected);
    let first = first.unwrap_or_else(|| panic!("{found:#?}"));
    let cause = first.cause.to_string();
    assert!(cause.starts_with("unexpected.nonfatal.port."), "{cause}");
    assert!(
        first
            .cause
            .headline()
            .contains("nonfatal events about ports")
    );
}

#[test]
fn an_event_that_reads_as_expected_says_in_what_it_differs() {
    let case = Case::played(CUT);
    let mut recording = case.recording.clone();
    for call in &mut calls(&mut recording) {
        for event in &mut call.events {
            if event.is_fatal {
                event.error_code = vec!["PORT_DOWN".to_owned()];
            }
        }
    }
    let mut story = case.story.clone();
    for expectation in &mut story.expectations {
        if let scenarios::What::Say { event, .. } = &mut expectation.what {
            event.error_codes = Some(Vec::new());
        }
    }
    let case = Case { story, ..case };
    let found = found(&case, &recording, &reference());
    let differs = "its error-code differs: expected none, came PORT_DOWN";
    let told = found
        .iter()
        .any(|of| of.came.iter().any(|came| came == differs));
    assert!(told, "{found:#?}");
}

/// What is found of the reference monitor where its calls are changed.
fn found_of(case: &Case, recording: &Recording) -> Vec<Finding> {
    judge(&case.story, &case.truth, recording, &reference()).findings
}

#[test]
fn of_a_monitor_that_names_the_port_before_its_device_nothing_is_missed() {
    let case = Case::played(CUT);
    let mut recording = case.recording.clone();
    for mut call in calls(&mut recording) {
        for event in &mut call.events {
            event.entities_impacted.reverse();
        }
    }
    let findings = found_of(&case, &recording);
    let first = findings.first().expect("the contract is broken").cause;
    assert_eq!(
        (first.kind, first.field),
        (CauseKind::Contract, Some(EventField::Entities))
    );
    for finding in findings {
        let cause = finding.cause;
        let follows =
            cause.field == Some(EventField::Entities) || cause.subject == Some(CauseSubject::Other);
        let is_of_cluster = finding.kind == FindingKind::LeftStanding;
        assert!(follows || is_of_cluster, "{finding:#?}");
    }
}

#[test]
fn where_is_fatal_alone_is_wrong_the_finding_names_it() {
    let case = Case::played(CUT);
    let mut recording = case.recording.clone();
    for mut call in calls(&mut recording) {
        for event in &mut call.events {
            event.is_fatal = false;
        }
    }
    let findings = found_of(&case, &recording);
    // The demand, and the event that came instead.
    assert_eq!(findings.len(), 2, "{findings:#?}");
    for finding in &findings {
        assert_eq!(
            (finding.cause.kind, finding.cause.field),
            (CauseKind::Differs, Some(EventField::Severity)),
            "{finding:#?}"
        );
    }
    let told = "its recommendedAction is that of the expected event, its isFatal is not";
    let is_told = |finding: &Finding| finding.came.iter().any(|came| came == told);
    assert!(findings.iter().any(is_told), "{findings:#?}");
}

#[test]
fn what_is_said_again_is_told_with_the_first_time() {
    let case = Case::played(CUT);
    let mut recording = case.recording.clone();
    let is_fatal = |call: &&Call| {
        let mut events = call.observations.iter();
        events.any(|event| event.severity == Severity::Fatal)
    };
    let said = &monitor(&mut recording, 10, "node-a").calls;
    let again = said
        .iter()
        .find(is_fatal)
        .expect("a port is disabled")
        .clone();
    for tick in [15, 20] {
        monitor(&mut recording, tick, "node-a")
            .calls
            .push(again.clone());
    }
    let findings = found_of(&case, &recording);
    let repeats = |finding: &&Finding| finding.cause.kind == CauseKind::Repeats;
    let repeats: Vec<&Finding> = findings.iter().filter(repeats).collect();
    assert_eq!(repeats.len(), 2, "{findings:#?}");
    for finding in repeats {
        let first = "said first at 10s, poll 10: fatal ";
        let mut came = finding.came.iter();
        assert!(came.any(|came| came.starts_with(first)), "{finding:#?}");
    }
}
