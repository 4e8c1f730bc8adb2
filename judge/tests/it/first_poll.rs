//! What stands in a first poll is judged by the row of first polls, and not without one.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::sync::LazyLock;

use judge::judge;
use observe::{
    Descriptor, Recording,
    promises::{Kind, Named},
};
use reports::FindingKind;
use rstest::rstest;
use terms::Severity;

use crate::level::{found, pages, template};
use crate::promises::{Case, promising};
use crate::wire::{calls, monitor};

/// A port is disabled when the monitor starts, and is enabled later.
const DARK: &str = "
scenario: a port is disabled from the start
why: an example
platforms: all
let: { victim: { role: compute, layer: infiniband, card_ports: 1, nth: 1 } }
given: [ { disable: victim } ]
timeline:
  - at: 0s
    expect: [ { this_poll: [ { baseline: null, except: victim }, { fatal: victim }, { fatal: card of victim } ] } ]
  - at: 10s
    do: [ { mend: victim } ]
    expect:
      - { healthy: victim, within: 2 polls }
      - { healthy: device of victim, within: 2 polls }
      - { healthy: card of victim, within: 2 polls }
until: 20s
";

static DARK_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(DARK));

/// Promises of the reference monitor over which others stand, without a row of first polls.
fn without_first_poll(promises: &str) -> Descriptor {
    let mut descriptor = promising(promises);
    let row = descriptor
        .promises
        .rows
        .remove(&Kind::from(Named::FirstPoll));
    assert!(row.is_some(), "the reference monitor promises it");
    descriptor
}

/// The drill, of a monitor that says nothing of the fault.
fn silent() -> Recording {
    let mut recording = DARK_CASE.recording.clone();
    for mut call in calls(&mut recording) {
        call.events.retain(|event| event.is_healthy);
    }
    for tick in &mut recording.ticks {
        for monitor in std::sync::Arc::make_mut(&mut tick.monitors).values_mut() {
            let calls = &mut std::sync::Arc::make_mut(monitor).calls;
            calls.retain(|call| !call.observations.is_empty());
        }
    }
    recording
}

fn kinds(recording: &Recording, descriptor: &Descriptor) -> Vec<FindingKind> {
    let judged = judge(&DARK_CASE.story, &DARK_CASE.truth, recording, descriptor);
    let findings = judged.findings.iter();
    findings.map(|finding| finding.kind).collect()
}

/// Whether it says so or not, also where cards are compared in every poll.
#[rstest]
#[case("{}")]
#[case("rows: { card: { when: every_poll } }")]
fn a_fault_of_the_first_poll_is_not_judged_without_a_row(#[case] promises: &str) {
    let descriptor = without_first_poll(promises);
    for recording in [DARK_CASE.recording.clone(), silent()] {
        assert_eq!(kinds(&recording, &descriptor), [], "{promises}");
    }
    let (story, truth) = (&DARK_CASE.story, &DARK_CASE.truth);
    let judged = judge(story, truth, &silent(), &descriptor).judged;
    let count = judged.not_judged.get("no promise about `first_poll`");
    assert!(count.is_some(), "{:?}", judged.not_judged);
}

/// What is healthy is the wire's, whatever stands in the row of what is not.
#[test]
fn what_is_healthy_in_the_first_poll_is_owed_by_the_wire_without_a_row() {
    let node = DARK_CASE.story.monitors[0].to_string();
    let mut recording = DARK_CASE.recording.clone();
    monitor(&mut recording, 0, &node).calls.clear();
    let descriptor = without_first_poll("{}");
    let missed = kinds(&recording, &descriptor);
    assert!(missed.contains(&FindingKind::Missing), "{missed:?}");
    let mut open = descriptor;
    let wire = open.promises.wire.as_mut();
    wire.expect("the reference monitor promises it").first_poll = None;
    let free = kinds(&recording, &open);
    assert!(!free.contains(&FindingKind::Missing), "{free:?}");
}

#[test]
fn a_fault_of_the_first_poll_is_judged_by_its_row() {
    assert_eq!(kinds(&DARK_CASE.recording, &promising("{}")), []);
    let missed = kinds(&silent(), &promising("{}"));
    assert!(missed.contains(&FindingKind::Missing), "{missed:?}");
    let not_to_be = promising("rows: { first_poll: silent }");
    let told = kinds(&DARK_CASE.recording, &not_to_be);
    assert!(told.contains(&FindingKind::Unexpected), "{told:?}");
}

/// A monitor that states what is, and compares cards in every poll.
#[test]
fn a_card_of_the_first_poll_owes_no_alarm_without_a_row() {
    let recording = pages(&DARK_CASE, |_, _, _| Some(Severity::Healthy));
    let rows = "card: { when: every_poll }";
    let owes = found(&DARK_CASE, &recording, &template(rows));
    assert!(!owes.is_empty(), "by its row it owes one");
    let mut descriptor = template(rows);
    let kind = Kind::from(Named::FirstPoll);
    descriptor.promises.rows.remove(&kind);
    assert_eq!(found(&DARK_CASE, &recording, &descriptor), []);
}
