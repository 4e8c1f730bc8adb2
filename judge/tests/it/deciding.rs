//! Every key of a row decides in some drill: of two values of it one is right about the same recording, and the other is not.
//! The keys are those that docs/monitor.md lists. Start at [`decisions`].

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use judge::judge;
use observe::{Descriptor, Observation, Protocol, Recording, Subject, promises::Kind};
use platforms::{NodeName, Platforms};
use rstest::rstest;
use terms::Severity;

use crate::keys::{ADDED, AWAY, Otherwise, RETURNS, SAME_BOOT, UNSAID, of_lines, recorded, told};
use crate::level::{by_state, pages};
use crate::promises::{CUT_CASE, Case, of_suite, promising};
use crate::rebooted::BROKEN_CASE;

/// A file is garbled for a while.
static GARBLED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { read: victim/state, content: \"garbage\\n\", for: 5s } ]
    expect: [ { nothing: victim, from: 5s, to: 15s } ]
until: 15s
";
    told("dgx-h100", text)
});

/// A healthy device gets another name.
static RENAMED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { rename: device of victim, to: mlx5_77 } ]
until: 10s
heal: never
because: the name stays
";
    told("dgx-h100", text)
});

/// The class folder is away while the driver is loaded again.
static RELOADED: LazyLock<Case> = LazyLock::new(|| {
    let scenario = of_suite("device/driver-reload-with-names-swapped");
    let platforms = Platforms::shipped();
    let mut platforms = platforms.iter().map(|(_, platform)| platform);
    let node = NodeName::from("node-a");
    let story = platforms.find_map(|platform| scenario.in_world(&node, platform).ok());
    Case::of(story.expect("it applies to a platform"))
});

/// A recording that a value of a key describes, and another value does not.
struct Decision {
    key: &'static str,
    case: &'static LazyLock<Case>,
    how: Otherwise,
    right: &'static str,
    wrong: &'static str,
}

fn decisions() -> Vec<Decision> {
    use Otherwise::{Moved, Same, SilentIn};
    let of = |key, case, how, right, wrong| Decision {
        key,
        case,
        how,
        right,
        wrong,
    };
    let cut = &CUT_CASE;
    vec![
        of(
            "verdict",
            cut,
            Same,
            "polling: { verdict: fatal }",
            "polling: { verdict: nonfatal }",
        ),
        of(
            "subject",
            cut,
            Same,
            "polling: { subject: port }",
            "polling: { subject: device }",
        ),
        of(
            "after",
            cut,
            Same,
            "polling: { after: 0 polls }",
            "polling: { after: 3 polls }",
        ),
        of(
            "within",
            cut,
            Moved(10, 13),
            "polling: { after: 1 poll, within: 2 polls }",
            "polling: { after: 1 poll, within: 0 polls }",
        ),
        of(
            "clears",
            cut,
            SilentIn(20, 25),
            "polling: { clears: by_operator }",
            "polling: { clears: healed }",
        ),
        of(
            "when",
            cut,
            Same,
            "card: { when: first_poll }",
            "card: { when: every_poll }",
        ),
        of(
            "restates",
            &BROKEN_CASE,
            Same,
            "reboot: { restates: all }",
            "reboot: { restates: nothing }",
        ),
        of(
            "ports",
            &RETURNS,
            Same,
            "gone_device: { ports: silent }",
            "gone_device: { ports: reported }",
        ),
        of(
            "back",
            &RETURNS,
            Same,
            "gone_device: { back: whole }",
            "gone_device: { back: any_port }",
        ),
        of(
            "class_folder",
            &RELOADED,
            Same,
            "gone_device: { class_folder: reported }",
            "gone_device: { class_folder: silent }",
        ),
        of(
            "garbled",
            &GARBLED,
            Same,
            "odd_state: { garbled: unreadable }",
            "odd_state: { garbled: state }",
        ),
        of(
            "unreadable",
            &SAME_BOOT,
            Same,
            "reboot: { unreadable: waits }",
            "reboot: { unreadable: missing }",
        ),
        of(
            "known_by",
            &RENAMED,
            Same,
            "rename: { known_by: place }",
            "rename: { known_by: name }",
        ),
        of(
            "healthy",
            &ADDED,
            Same,
            "hot_added: { healthy: reported }",
            "hot_added: { healthy: silent }",
        ),
        of(
            "over_restart",
            &AWAY,
            Moved(20, 25),
            "counter.link_downed: { over_restart: last_written }",
            "counter.link_downed: { over_restart: last_read }",
        ),
        of(
            "infiniband",
            cut,
            Same,
            "polling: { infiniband: { verdict: fatal } }",
            "polling: { infiniband: { verdict: nonfatal } }",
        ),
        of(
            "ethernet",
            &UNSAID,
            Same,
            "init: { ethernet: silent }",
            "init: { ethernet: { verdict: nonfatal } }",
        ),
    ]
}

/// The recording of a monitor that writes a line for each event.
fn as_lines(mut recording: Recording) -> Recording {
    recording.protocol = Protocol::Lines;
    for tick in &mut recording.ticks {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(monitor).calls {
                call.fields.clear();
                for it in &mut call.observations {
                    it.check = None;
                    it.fields.clear();
                }
            }
        }
    }
    recording
}

/// What decides which stories apply, and nothing about what came in them (`harness`, `descriptors`).
const OF_STORIES: [&str; 1] = ["levels"];

#[test]
fn each_key_of_a_row_decides_about_a_recording() {
    for Decision {
        key,
        case,
        how,
        right,
        wrong,
    } in decisions()
    {
        let case: &Case = case;
        let recording = recorded(case, how);
        let found = |row: &str| {
            let descriptor = promising(&format!("rows: {{ {row} }}"));
            judge(&case.story, &case.truth, &recording, &descriptor).findings
        };
        assert_eq!(found(right), [], "{key}: {right}");
        assert_ne!(found(wrong), [], "{key}: {wrong}");
    }
}

/// Lines have no check and no fields, and their monitor promises nothing of a wire but what it says of what is healthy.
#[test]
fn each_key_of_a_row_decides_about_lines() {
    for Decision {
        key,
        case,
        how,
        right,
        wrong,
    } in decisions()
    {
        let case: &Case = case;
        let recording = as_lines(recorded(case, how));
        let found = |row: &str| {
            let mut descriptor = promising(&format!("rows: {{ {row} }}"));
            let wire = descriptor.promises.wire.take().expect("it promises a wire");
            descriptor.promises.wire = Some(observe::promises::Wire {
                first_poll: wire.first_poll,
                baselines: wire.baselines,
                ..observe::promises::Wire::default()
            });
            descriptor.speaks = Protocol::Lines;
            judge(&case.story, &case.truth, &recording, &descriptor).findings
        };
        assert_eq!(found(right), [], "{key}: {right}");
        assert_ne!(found(wrong), [], "{key}: {wrong}");
    }
}

/// A port is dark for ten polls, and in no other state than that.
static SET_CASE: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, layer: infiniband, card_ports: 1, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { set: victim, state: DOWN, phys_state: Polling } ]
    expect: [ { fatal: victim } ]
  - at: 20s
    do: [ { set: victim, state: ACTIVE, phys_state: LinkUp } ]
    expect: [ { healthy: victim } ]
until: 40s
";
    told("dgx-h100", text)
});

/// What a monitor of alarms says of its ports, devices or node from one tick until another one: what is in between, and
/// that all is well otherwise. One that reports changes says so when it changes.
fn alarmed(promises: &str, from: u64, until: u64) -> Recording {
    let dark = &SET_CASE.truth.ticks[15].nodes[&SET_CASE.story.monitors[0]].views;
    let mut functions = dark.0.values();
    let is_dark = |port: &director::PortView| by_state(port) != Severity::Healthy;
    let victim = functions.find(|it| it.monitored && it.ports.values().any(is_dark));
    let victim = victim.expect("a port is dark").name.to_string();
    let mut recording = pages(&SET_CASE, |name, _, at| {
        let is_said = name == victim && (from..until).contains(&at);
        Some(match is_said {
            true => Severity::Fatal,
            false => Severity::Healthy,
        })
    });
    let mut before: BTreeMap<Subject, Severity> = BTreeMap::new();
    for tick in &mut recording.ticks {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(monitor).calls {
                let mut worst: BTreeMap<Subject, Severity> = BTreeMap::new();
                for said in &call.observations {
                    let subject = match &said.subject {
                        Subject::Port { device, .. }
                            if promises.contains("granularity: device") =>
                        {
                            Subject::Device(device.clone())
                        }
                        _ if promises.contains("granularity: node") => Subject::Node,
                        subject => subject.clone(),
                    };
                    let worst = worst.entry(subject).or_insert(said.severity);
                    *worst = (*worst).worst(said.severity);
                }
                if !promises.contains("style: level") {
                    worst.retain(|subject, severity| {
                        let was = before.insert(subject.clone(), *severity);
                        was.unwrap_or(Severity::Healthy) != *severity
                    });
                }
                let said = worst.into_iter().map(|(subject, severity)| Observation {
                    subject,
                    severity,
                    ..Observation::default()
                });
                call.observations = said.collect();
            }
        }
    }
    recording
}

/// The keys that decide about alarms: when one begins, how severe it is, and when it is over.
#[rstest]
fn each_key_of_a_row_decides_about_alarms(
    #[values(
        "style: level",
        "style: level\ngranularity: device",
        "style: level\ngranularity: node",
        "granularity: device",
        "granularity: node"
    )]
    promises: &str,
) {
    let decisions = [
        (
            "verdict",
            10,
            20,
            "polling: { verdict: fatal }",
            "polling: { verdict: nonfatal }",
        ),
        (
            "silent",
            99,
            99,
            "polling: silent",
            "polling: { verdict: fatal }",
        ),
        ("said", 10, 20, "polling: usual", "polling: silent"),
        (
            "after",
            15,
            20,
            "polling: { after: 5 polls }",
            "polling: { after: 0 polls }",
        ),
        (
            "before",
            10,
            20,
            "polling: { after: 0 polls }",
            "polling: { after: 5 polls }",
        ),
        (
            "within",
            15,
            20,
            "polling: { within: 5 polls }",
            "polling: { within: 2 polls }",
        ),
        (
            "clears",
            10,
            25,
            "polling: { clears: { within: 5 polls } }",
            "polling: { clears: { within: 2 polls } }",
        ),
        (
            "healed",
            10,
            99,
            "polling: { clears: never }",
            "polling: { clears: healed }",
        ),
        (
            "operator",
            10,
            99,
            "polling: { clears: by_operator }",
            "polling: { clears: by_check }",
        ),
        (
            "infiniband",
            10,
            20,
            "polling: { infiniband: { verdict: fatal } }",
            "polling: { infiniband: { verdict: nonfatal } }",
        ),
        (
            "ethernet",
            10,
            20,
            "polling: { ethernet: { verdict: nonfatal } }",
            "polling: { verdict: nonfatal, ethernet: { verdict: fatal } }",
        ),
    ];
    for (key, from, until, right, wrong) in decisions {
        let recording = alarmed(promises, from, until);
        let found = |row: &str| {
            let descriptor: Descriptor = of_lines(&format!("{promises}\nrows: {{ {row} }}"));
            let findings =
                judge(&SET_CASE.story, &SET_CASE.truth, &recording, &descriptor).findings;
            findings
                .into_iter()
                .filter(|it| it.kind != reports::FindingKind::LeftStanding)
                .collect::<Vec<_>>()
        };
        assert_eq!(found(right), [], "{promises}, {key}: {right}");
        assert_ne!(found(wrong), [], "{promises}, {key}: {wrong}");
    }
}

/// Kinds whose scenario asks for no report in them that could name another subject.
const WITHOUT_A_REPORT: [&str; 4] = ["training", "sm_gone", "replaced", "monitor_restart"];

/// Of events about ports: kind by kind, in the scenario that shows it.
#[test]
fn a_subject_is_refused_in_the_rows_in_which_it_decides_nothing() {
    let platforms = Platforms::shipped();
    let node = NodeName::from("node-a");
    for (word, ..) in Kind::words() {
        let kind = Kind::parse(word).expect("it is a word of a kind");
        let scenario = of_suite(kind.scenario());
        let usual = platforms.get("dgx-h100").into_iter();
        let mut platforms = usual.chain(platforms.iter().map(|(_, platform)| platform));
        let story = platforms.find_map(|platform| scenario.in_world(&node, platform).ok());
        let case = Case::of(story.unwrap_or_else(|| panic!("{word}: no platform fits")));
        let naming =
            |subject: &str| promising(&format!("rows: {{ {word}: {{ subject: {subject} }} }}"));
        let found = |subject: &str| {
            judge(&case.story, &case.truth, &case.recording, &naming(subject)).findings
        };
        let decides = found("device") != found("node");
        let problems = naming("device").problems();
        let is_refused = problems
            .iter()
            .any(|it| it.keys.ends_with(&["subject".to_owned()]));
        let is_known = WITHOUT_A_REPORT.contains(&word);
        assert_eq!(decides, !is_refused && !is_known, "{word}: {problems:?}");
    }
}

#[test]
fn each_key_of_a_row_that_is_documented_has_a_decision() {
    let page = include_str!("../../../docs/monitor.md");
    let table = page.split("<!-- row -->").nth(1).expect("it has the table");
    let table = table.split("<!-- /row -->").next().unwrap_or_default();
    let first = |line: &'static str| line.strip_prefix("| `")?.split(" | ").next();
    let words = table.lines().filter_map(first);
    let documented: BTreeSet<&str> = words
        .flat_map(|words| words.split('`').step_by(2))
        .filter(|word| !word.is_empty())
        .collect();
    assert!(documented.contains("verdict") && documented.contains("ethernet"));
    let decided = decisions().into_iter().map(|of| of.key);
    let decided: BTreeSet<&str> = decided.chain(OF_STORIES).collect();
    assert_eq!(documented, decided);
}
