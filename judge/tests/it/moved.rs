//! A port that shows another link layer than before is judged by the row `moved_layer`, and not without one.

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
use platforms::PortState;
use reports::FindingKind;
use terms::Severity;

use crate::level::{by_state, found, kinds as kinds_of, pages, template};
use crate::promises::{Case, promising};
use crate::wire::monitor;

/// As `device/moved-to-the-other-link-layer`.
const MOVED: &str = "
scenario: a dark InfiniBand port is reconfigured to Ethernet
why: an example
platforms: all
let: { victim: { role: compute, layer: infiniband, near_gpu: true, card_ports: 1, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim, check: InfiniBandStateCheck } ] } ]
  - at: 10s
    do: [ { mend: victim }, { change_layer: victim, to: ethernet } ]
    expect:
      - { cleared: victim, check: InfiniBandStateCheck, within: 2 polls }
      - { healthy: victim, check: EthernetStateCheck, within: 2 polls }
until: 20s
heal: never
because: the port stays an Ethernet port; nothing is outstanding
";

static MOVED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(MOVED));

/// A descriptor without a row of ports that move.
fn without_moves(mut descriptor: Descriptor) -> Descriptor {
    let kind = Kind::from(Named::MovedLayer);
    descriptor.promises.rows.remove(&kind);
    descriptor
}

/// The drill, of a monitor that says nothing of the port from the move on.
fn silent() -> Recording {
    let mut recording = MOVED_CASE.recording.clone();
    for tick in 10..recording.ticks.len() {
        monitor(&mut recording, tick, "node-a").calls.clear();
    }
    recording
}

fn kinds(recording: &Recording, descriptor: &Descriptor) -> Vec<FindingKind> {
    let judged = judge(&MOVED_CASE.story, &MOVED_CASE.truth, recording, descriptor);
    let findings = judged.findings.iter();
    findings.map(|finding| finding.kind).collect()
}

#[test]
fn what_follows_from_another_layer_is_judged_by_the_row_of_moved_ports() {
    assert_eq!(kinds(&MOVED_CASE.recording, &promising("{}")), []);
    let missed = kinds(&silent(), &promising("{}"));
    assert!(missed.contains(&FindingKind::Missing), "{missed:?}");
}

/// What is not judged is counted, and listed with its lines.
#[test]
fn a_port_that_moves_is_not_judged_without_a_row() {
    let descriptor = without_moves(promising("{}"));
    for recording in [MOVED_CASE.recording.clone(), silent()] {
        assert_eq!(kinds(&recording, &descriptor), []);
    }
    let (story, truth) = (&MOVED_CASE.story, &MOVED_CASE.truth);
    let judged = judge(story, truth, &silent(), &descriptor).judged;
    let count = judged.not_judged.get("no promise about `moved_layer`");
    assert_eq!(count, Some(&2), "{:?}", judged.not_judged);
    // What was said before is.
    let mut recording = MOVED_CASE.recording.clone();
    monitor(&mut recording, 5, "node-a").calls.clear();
    let missed = kinds(&recording, &descriptor);
    assert!(missed.contains(&FindingKind::Missing), "{missed:?}");
}

/// To a monitor of InfiniBand alone the port is gone.
#[test]
fn an_alarm_about_a_port_that_moved_is_judged_by_the_row_of_moved_ports() {
    let case = &*MOVED_CASE;
    let node = &case.story.monitors[0];
    let views = &case.truth.ticks[7].nodes[node].views;
    let is_dark = |view: &&director::FunctionView| {
        let mut ports = view.ports.values();
        view.monitored && ports.any(|port| port.state == PortState::DOWN)
    };
    let victim = views.0.values().find(is_dark);
    let victim = victim.expect("a port is disabled").name.clone();
    let recording = pages(case, |name, port, at| {
        Some(match name == victim.as_str() && at >= 15 {
            true => Severity::Fatal,
            false => by_state(port),
        })
    });
    let by_row = template("disabled: { verdict: fatal }, moved_layer: usual");
    let told = kinds_of(&found(case, &recording, &by_row));
    assert!(told.contains(&FindingKind::Unexpected), "{told:?}");
    let descriptor = without_moves(by_row);
    assert_eq!(found(case, &recording, &descriptor), []);
}
