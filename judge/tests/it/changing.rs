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
fn script(first: &str, (changes, second): (u64, &str), asked: [&str; 2]) -> String {
    let [asked_first, asked_then] = asked;
    format!(
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
    )
}

fn played(first: &str, then: (u64, &str), asked: [&str; 2]) -> Case {
    Case::played(&script(first, then, asked))
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

/// A monitor that reports the port in these polls, and that it is healthy in poll 20. Of its first poll it promises events, too.
#[track_caller]
fn check(case: &Case, rows: &str, reports: &[(usize, Severity)], findings: &[FindingKind]) {
    let wire = "wire: { first_poll: events }";
    judged_with(case, (rows, wire), reports, findings);
}

#[track_caller]
fn judged_with(
    case: &Case,
    (rows, wire): (&str, &str),
    reports: &[(usize, Severity)],
    findings: &[FindingKind],
) {
    let rows = format!("rows: {{ {rows}, first_poll: usual, persists: silent }}\n{wire}\n");
    let promises: Promises =
        files::yaml::read("promises.yaml", &rows).unwrap_or_else(|error| panic!("{error}"));
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

/// It says that the port is healthy while every poll reads that it is not, before it has reported it or after that.
#[rstest]
#[case::before_its_time("disabled: { after: 3 polls }, polling: { after: 3 polls }", &[(11, Healthy), (13, Fatal)], &[Unexpected])]
#[case::never_taken_back("disabled: { clears: never }, polling: { clears: never }", &[(10, Fatal), (15, Healthy)], &[Unexpected])]
#[case::by_a_person("disabled: { clears: by_operator }, polling: { clears: by_operator }", &[(10, Fatal), (15, Healthy)], &[Unexpected])]
#[case::what_is_silent_is_healthy_to_it("disabled: silent, polling: silent", &[(15, Healthy)], &[])]
fn a_healthy_event_about_what_stands_is_wrong_whatever_is_promised_of_first_polls(
    #[case] rows: &str,
    #[case] reports: &[(usize, Severity)],
    #[case] findings: &[FindingKind],
) {
    for wire in ["", "wire: { first_poll: events }"] {
        let silent = rows.contains("silent") && !wire.is_empty();
        if !silent {
            judged_with(&AS_SEVERE, (rows, wire), reports, findings);
        }
    }
}

/// The monitor is restarted in poll 12 or 15, and remembers nothing, or promises nothing of that.
#[rstest]
#[case::it_goes_on(12, &[(13, Fatal)], &[])]
#[case::it_waits_anew(12, &[(15, Fatal)], &[])]
#[case::too_early(12, &[(12, Fatal)], &[Unexpected, Missing])]
#[case::too_late(12, &[(18, Fatal)], &[Unexpected, Missing])]
#[case::again_at_once(15, &[(13, Fatal), (15, Fatal)], &[])]
#[case::again_when_it_has_waited(15, &[(13, Fatal), (18, Fatal)], &[])]
fn after_a_restart_a_monitor_without_memory_may_wait_anew(
    #[case] restarts: u64,
    #[case] reports: &[(usize, Severity)],
    #[case] findings: &[FindingKind],
) {
    let text = script(DISABLED, (restarts, POLLING), ["fatal", ""]);
    let changes = format!("{{ set: victim, {POLLING} }}");
    let restart = "{ monitor: restart, signal: TERM }";
    assert!(text.contains(&changes), "{text}");
    let case = Case::played(&text.replace(&changes, restart));
    for row in ["", ", monitor_restart: { restates: all }"] {
        let rows = format!("disabled: {{ after: 3 polls }}, polling: {{ after: 3 polls }}{row}");
        // Without a row what is reported in the episode is not judged.
        let judged = findings
            .iter()
            .filter(|it| !row.is_empty() || **it != Unexpected);
        check(&case, &rows, reports, &judged.copied().collect::<Vec<_>>());
    }
}
