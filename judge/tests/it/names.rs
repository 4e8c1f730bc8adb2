//! What becomes of a fault when its device gets another name is judged by the row `rename`, and not without one.

use std::sync::Arc;

use judge::judge;
use observe::{
    Descriptor, Promises, Recording, platform_connector,
    promises::{Kind, Named},
};
use proto::HealthEvents;
use reports::{
    CauseSubject,
    FindingKind::{self, LeftStanding, Missing, Unexpected},
};
use rstest::rstest;
use terms::Severity;

use crate::promises::{Case, promising};
use crate::wire::{calls, monitor};

/// As `device/renamed-while-a-fault-stands`.
pub(crate) const RENAMED: &str = "
scenario: a device with a dark port is renamed at run time
why: an example
platforms: all
let: { victim: { device: mlx5_3 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 10s
    do: [ { rename: device of victim, to: mlx5_42 } ]
    expect:
      - this_poll:
          - in_order:
              - { cleared: { name: mlx5_3, port: 1 } }
              - { fatal: { name: mlx5_42, port: 1 } }
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: { name: mlx5_42, port: 1 } } ]
until: 30s
";

/// As `reboot/names-swapped`.
pub(crate) const SWAPPED: &str = "
scenario: after the reboot two devices bear each other's names
why: an example
platforms: all
let: { victim: { device: mlx5_3 }, other: { device: mlx5_5 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { reboot: { takes: 90s, mend: victim, names: { victim: mlx5_5, other: mlx5_3 }, counters: zero } } ]
  - at: 110s
    expect:
      - this_poll:
          - { cleared: { name: mlx5_3, port: 1 } }
          - reboot_baseline
until: 120s
";

/// The reference monitor, without a promise about names.
fn without_names() -> Descriptor {
    let mut descriptor = promising("{}");
    let row = descriptor.promises.rows.remove(&Kind::from(Named::Rename));
    assert!(row.is_some(), "the reference monitor promises it");
    descriptor
}

fn kinds(case: &Case, recording: &Recording, descriptor: &Descriptor) -> Vec<FindingKind> {
    let judged = judge(&case.story, &case.truth, recording, descriptor);
    judged.findings.iter().map(|finding| finding.kind).collect()
}

/// A monitor that says nothing from a poll on.
fn silent_from(case: &Case, tick: usize) -> Recording {
    let mut recording = case.recording.clone();
    for tick in tick..recording.ticks.len() {
        monitor(&mut recording, tick, "node-a").calls.clear();
    }
    recording
}

#[test]
fn what_follows_from_another_name_is_judged_by_the_row_of_names() {
    let case = Case::played(RENAMED);
    assert_eq!(kinds(&case, &case.recording, &promising("{}")), []);
    assert_eq!(kinds(&case, &case.recording, &without_names()), []);
    let silent = silent_from(&case, 10);
    let found = kinds(&case, &silent, &promising("{}"));
    assert!(
        found.contains(&Missing) && found.contains(&LeftStanding),
        "{found:?}"
    );
    assert_eq!(kinds(&case, &silent, &without_names()), []);
    let judged = judge(&case.story, &case.truth, &silent, &without_names()).judged;
    assert_eq!(judged.not_judged["no promise about `rename`"], 3);
}

/// docs/decisions.md, 9: the fault under the old name is cleared before the name's new bearer says that it is healthy. One
/// that knows nothing of names says the latter alone.
#[test]
fn a_clear_under_a_name_that_another_device_bears_now_is_judged_by_the_row_of_names() {
    let case = Case::played(SWAPPED);
    assert_eq!(kinds(&case, &case.recording, &promising("{}")), []);
    let mut recording = case.recording.clone();
    let mut left_out = 0;
    for mut call in calls(&mut recording) {
        call.events.retain(|event| {
            let clears = event.message.contains("is now mlx5_5");
            left_out += usize::from(clears);
            !clears
        });
    }
    assert!(left_out > 0, "the reference monitor clears the old name");
    for tick in &mut recording.ticks {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            let calls = &mut Arc::make_mut(monitor).calls;
            calls.retain(|call| !call.observations.is_empty());
        }
    }
    let at_once = "rows: { reboot: { after: 0 polls } }";
    let judged = judge(&case.story, &case.truth, &recording, &promising(at_once));
    let is_told = |finding: &reports::Finding| {
        let mut came = finding.came.iter();
        finding.kind == Missing && came.any(|line| line.contains("is expected twice and came once"))
    };
    assert!(
        judged.findings.iter().any(is_told),
        "{:#?}",
        judged.findings
    );
    let mut without = without_names();
    let own: Promises = files::yaml::read("promises.yaml", at_once).expect("it can be read");
    without.promises = own.over(&without.promises);
    assert_eq!(kinds(&case, &recording, &without), []);
}

/// Who says nothing of names owes no more than who promises nothing about them.
#[test]
fn a_silent_row_of_names_owes_no_more_than_none() {
    let case = Case::played(RENAMED);
    let silent = promising("rows: { rename: silent }");
    for recording in [case.recording.clone(), silent_from(&case, 10)] {
        assert_eq!(kinds(&case, &recording, &without_names()), []);
        assert_eq!(kinds(&case, &recording, &silent), []);
    }
    let judged = judge(&case.story, &case.truth, &case.recording, &silent).judged;
    assert_eq!(judged.not_judged["`rename` is silent, by promise"], 3);
}

/// The old name is a device that is gone; that is owed only where anything is said of those.
#[test]
fn an_old_name_is_gone_by_the_row_of_gone_devices() {
    let case = Case::played(RENAMED);
    let by_name = |more: &str| {
        let promises = format!("rows: {{ rename: {{ known_by: name }} {more}");
        let descriptor = promising(&promises);
        let judged = judge(&case.story, &case.truth, &case.recording, &descriptor);
        let is_missed = |severity| {
            judged.findings.iter().any(|it| {
                (it.kind, it.cause.subject, it.cause.severity)
                    == (Missing, Some(CauseSubject::Device), Some(severity))
            })
        };
        (is_missed(Severity::Fatal), is_missed(Severity::NonFatal))
    };
    assert_eq!(by_name("}"), (true, false));
    assert_eq!(
        by_name(", gone_device: { verdict: nonfatal } }"),
        (false, true)
    );
    assert_eq!(by_name(", gone_device: silent }"), (false, false));
}

/// A monitor that states what is, port by port.
#[test]
fn an_alarm_under_a_name_that_was_given_up_may_stay_without_a_row_of_names() {
    let case = Case::played(RENAMED);
    let silent = silent_from(&case, 10);
    let level = |rename: &str| {
        let promises = format!(
            "style: level\nrows: {{ disabled: {{ verdict: fatal }}, first_poll: usual{rename} }}\n"
        );
        let promises: Promises =
            files::yaml::read("promises.yaml", &promises).unwrap_or_else(|error| panic!("{error}"));
        Descriptor {
            promises,
            ..Descriptor::of_program("m")
        }
    };
    assert_eq!(kinds(&case, &silent, &level("")), []);
    for rename in [", rename: usual", ", rename: { known_by: place }"] {
        let found = kinds(&case, &silent, &level(rename));
        assert!(found.contains(&LeftStanding), "{rename}: {found:?}");
    }
    let by_name = level(", rename: { known_by: name }");
    assert_eq!(kinds(&case, &silent, &by_name), []);
}

/// As `role/rename-with-stale-metadata`, without a fault.
const RENAMED_HEALTHY: &str = "
scenario: a healthy device is renamed at run time
why: an example
platforms: all
let: { victim: { device: mlx5_3 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { rename: device of victim, to: mlx5_42 } ]
until: 15s
";

/// A recording in which the port of the new name is said to be healthy in a poll, as one of an added device is.
fn told(case: &Case, poll: usize) -> Recording {
    let mut recording = case.recording.clone();
    let baseline = calls(&mut recording.clone())
        .iter()
        .flat_map(|call| call.events.clone())
        .find(|event| {
            let entities = &event.entities_impacted;
            entities.len() == 2 && entities[0].entity_value == "mlx5_3"
        });
    let mut event = baseline.expect("the first poll tells every port");
    event.entities_impacted[0].entity_value = "mlx5_42".to_owned();
    event.message.clear();
    let batch = HealthEvents {
        version: 1,
        events: vec![event],
    };
    let call = platform_connector::received(&batch).answered(true, "accepted".to_owned());
    monitor(&mut recording, poll, "node-a").calls.push(call);
    recording
}

/// docs/monitor.md, `known_by`: the new name is a device that was added, and `hot_added` says whether it is told that it
/// is healthy.
#[rstest]
#[case::by_its_place("rename: usual", true, &[Unexpected])]
#[case::by_its_name("rename: { known_by: name }", true, &[])]
#[case::not_told("rename: { known_by: name }", false, &[Missing])]
#[case::silent("rename: { known_by: name }, hot_added: { healthy: silent }", false, &[])]
#[case::silent_and_told("rename: { known_by: name }, hot_added: { healthy: silent }", true, &[Unexpected])]
fn a_new_name_is_told_as_an_added_device_is(
    #[case] rows: &str,
    #[case] is_told: bool,
    #[case] findings: &[FindingKind],
) {
    let case = Case::played(RENAMED_HEALTHY);
    let recording = match is_told {
        true => told(&case, 5),
        false => case.recording.clone(),
    };
    let promises = format!("rows: {{ gone_device: silent, {rows} }}");
    assert_eq!(of_events(&case, &recording, &promises), findings, "{rows}");
}

/// The findings about events that are missing, or that nobody expects. An event of another time has its time stamp.
fn of_events(case: &Case, recording: &Recording, promises: &str) -> Vec<FindingKind> {
    let found = kinds(case, recording, &promising(promises)).into_iter();
    found
        .filter(|kind| [Missing, Unexpected].contains(kind))
        .collect()
}

/// The device cannot be read under its new name in the polls 5 to 8.
const RENAMED_UNREAD: &str = "
scenario: a healthy device is renamed at run time, and cannot be read for a while
why: an example
platforms: all
let: { victim: { device: mlx5_3 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { rename: device of victim, to: mlx5_42 }, { read: victim/state, fail: EIO } ]
  - at: 9s
    do: [ { no_rule: everywhere } ]
until: 15s
";

/// It is told once it can be read, and need not be.
#[rstest]
#[case::not_told(None, &[])]
#[case::once_it_is_read(Some(9), &[])]
#[case::a_poll_later(Some(10), &[])]
#[case::too_late(Some(13), &[Unexpected])]
fn a_new_name_that_cannot_be_read_yet_is_told_later(
    #[case] told_in: Option<usize>,
    #[case] findings: &[FindingKind],
) {
    let case = Case::played(RENAMED_UNREAD);
    let recording = told_in.map_or_else(|| case.recording.clone(), |poll| told(&case, poll));
    let promises = "rows: { gone_device: silent, rename: { known_by: name } }";
    assert_eq!(of_events(&case, &recording, promises), findings);
}
