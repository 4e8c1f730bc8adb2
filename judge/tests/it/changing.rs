//! A fault of a port that changes its kind while a monitor waits (docs/monitor.md, `after`).

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many ways to report it"
)]

use std::{collections::BTreeSet, sync::LazyLock};

use judge::judge;
use observe::{Descriptor, Promises, platform_connector};
use proto::HealthEvents;
use reports::FindingKind::{self, LeftStanding, Missing, Unexpected};
use rstest::rstest;
use terms::Severity::{self, Fatal, Healthy, NonFatal};

use crate::promises::Case;
use crate::wire::{calls, monitor};

/// A port is not healthy from poll 10 on, changes its kind two or three polls later, and is healthy from poll 20 on.
fn played(first: &str, (changes, second): (u64, &str), asked: [&str; 2]) -> Case {
    let [asked_first, asked_then] = asked;
    Case::played(&format!(
        "
scenario: a port changes from one fault to another
why: an example
platforms: all
let: {{ victim: {{ role: compute, layer: infiniband, nth: 1 }} }}
timeline:
  - at: 0s
    expect: [ {{ this_poll: baseline }} ]
  - at: 10s
    do: [ {{ set: victim, {first} }} ]
    expect: [ {{ {asked_first}: victim }} ]
  - at: {changes}s
    do: [ {{ set: victim, {second} }} ]{asked_then}
  - at: 20s
    do: [ {{ set: victim, state: ACTIVE, phys_state: LinkUp }} ]
    expect: [ {{ healthy: victim }} ]
until: 26s
"
    ))
}

const DISABLED: &str = "state: DOWN, phys_state: Disabled";
const POLLING: &str = "state: DOWN, phys_state: Polling";
const INIT: &str = "state: INIT, phys_state: LinkUp";

/// It stays fatal.
static AS_SEVERE: LazyLock<Case> = LazyLock::new(|| played(DISABLED, (13, POLLING), ["fatal", ""]));
static MILDER: LazyLock<Case> = LazyLock::new(|| played(POLLING, (12, INIT), ["fatal", ""]));
static WORSE: LazyLock<Case> = LazyLock::new(|| {
    let then = "\n    expect: [ { fatal: victim } ]";
    played(INIT, (12, POLLING), ["nonfatal", then])
});

/// A monitor that reports the port in these polls, and that it is healthy in poll 20.
#[track_caller]
fn check(case: &Case, rows: &str, reports: &[(usize, Severity)], findings: &[FindingKind]) {
    let rows = format!(
        "rows: {{ {rows}, first_poll: usual, persists: silent }}\nwire: {{ first_poll: events }}\n"
    );
    let promises: Promises =
        platforms::yaml::read("promises.yaml", &rows).unwrap_or_else(|error| panic!("{error}"));
    let descriptor = Descriptor {
        promises,
        ..Descriptor::of_program("m")
    };
    let mut recording = case.recording.clone();
    let of_port = {
        let mut played = recording.clone();
        let all = calls(&mut played);
        let mut events = all.iter().flat_map(|call| call.events.clone());
        events.find(|event| !event.is_healthy).expect("a fault")
    };
    for tick in 1..recording.ticks.len() {
        let told = reports.iter().chain(&[(20, Healthy)]);
        let told = told.filter(|(at, _)| *at == tick).map(|(_, severity)| {
            let mut event = of_port.clone();
            event.is_fatal = *severity == Fatal;
            event.is_healthy = *severity == Healthy;
            let (version, events) = (1, vec![event]);
            platform_connector::received(&HealthEvents { version, events })
                .answered(true, "accepted".to_owned())
        });
        monitor(&mut recording, tick, "node-a").calls = told.collect();
    }
    let judged = judge(&case.story, &case.truth, &recording, &descriptor);
    let kinds = judged.findings.iter().map(|finding| finding.kind);
    // What a cluster makes of it is tested elsewhere.
    let kinds: BTreeSet<_> = kinds.filter(|kind| *kind != LeftStanding).collect();
    let expected: BTreeSet<_> = findings.iter().copied().collect();
    assert_eq!(kinds, expected, "{:#?}", judged.findings);
}

/// It counts from the first reading, poll 10, or anew from poll 13.
#[rstest]
#[case::from_the_first_reading(&[(13, Fatal)], &[])]
#[case::in_between(&[(15, Fatal)], &[])]
#[case::anew(&[(16, Fatal)], &[])]
#[case::too_early(&[(11, Fatal)], &[Unexpected, Missing])]
#[case::too_late(&[(19, Fatal)], &[Unexpected, Missing])]
#[case::twice(&[(13, Fatal), (16, Fatal)], &[Unexpected])]
#[case::never(&[], &[Missing])]
fn a_fault_that_changes_its_kind_alone_is_reported_once(
    #[case] reports: &[(usize, Severity)],
    #[case] findings: &[FindingKind],
) {
    let rows = "disabled: { after: 3 polls }, polling: { after: 3 polls }";
    check(&AS_SEVERE, rows, reports, findings);
}

#[rstest]
#[case::the_milder_one_at_once("polling: { after: 3 polls }, init: usual", &[(12, NonFatal)], &[])]
#[case::the_milder_one_never("polling: { after: 3 polls }, init: usual", &[], &[Missing])]
#[case::as_if_it_stood("polling: { after: 3 polls }, init: usual", &[(13, Fatal)], &[Unexpected, Missing])]
#[case::the_milder_one_waits("polling: { after: 3 polls }, init: { after: 3 polls }", &[(13, NonFatal)], &[])]
#[case::it_waits_anew("polling: { after: 3 polls }, init: { after: 3 polls }", &[(15, NonFatal)], &[])]
fn a_fault_that_becomes_milder_before_its_time_is_not_owed(
    #[case] rows: &str,
    #[case] reports: &[(usize, Severity)],
    #[case] findings: &[FindingKind],
) {
    check(&MILDER, rows, reports, findings);
}

#[rstest]
#[case::the_worse_one_at_once("init: { after: 3 polls }, polling: usual", &[(12, Fatal)], &[])]
#[case::the_milder_one_too("init: { after: 3 polls }, polling: usual", &[(12, Fatal), (13, NonFatal)], &[Unexpected])]
#[case::the_worse_one_waits("init: { after: 3 polls }, polling: { after: 3 polls }", &[(13, Fatal)], &[])]
#[case::it_waits_anew("init: { after: 3 polls }, polling: { after: 3 polls }", &[(15, Fatal)], &[])]
#[case::never("init: { after: 3 polls }, polling: { after: 3 polls }", &[], &[Missing])]
fn a_fault_that_becomes_worse_before_its_time_is_not_owed(
    #[case] rows: &str,
    #[case] reports: &[(usize, Severity)],
    #[case] findings: &[FindingKind],
) {
    check(&WORSE, rows, reports, findings);
}
