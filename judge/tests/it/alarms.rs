//! A monitor whose reports are about its node, or state what is, is judged by intervals.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many ways to report it"
)]

use std::{collections::BTreeSet, sync::LazyLock};

use judge::judge;
use observe::{Call, Descriptor, Observation, Promises, Recording, Subject, platform_connector};
use proto::HealthEvents;
use reports::FindingKind::{self, Missing, Outstanding, Unexpected};
use rstest::rstest;
use terms::Severity;

use crate::promises::Case;
use crate::wire::{calls, monitor};

/// Two cables are pulled one after the other, and plugged in again.
const TWO: &str = "
scenario: two cables are pulled and plugged in again
why: an example
platforms: all
let:
  one: { role: compute, nth: 1 }
  two: { role: compute, nth: 2 }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { cut: one } ]
    expect: [ { fatal: one } ]
  - at: 15s
    do: [ { cut: two } ]
    expect: [ { fatal: two } ]
  - at: 20s
    do: [ { mend: one } ]
    expect: [ { healthy: one, within: 3 polls } ]
  - at: 30s
    do: [ { mend: two } ]
    expect: [ { healthy: two, within: 3 polls } ]
until: 40s
";

pub(crate) static TWO_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(TWO));

fn promising(promises: &str) -> Descriptor {
    let promises: Promises =
        files::yaml::read("promises.yaml", promises).unwrap_or_else(|error| panic!("{error}"));
    Descriptor {
        promises,
        ..Descriptor::of_program("m")
    }
}

/// A recording in which the node alarms in these ticks, from the first to the one before the last: by an event at
/// its beginning and one at its end, or by one in every tick.
fn alarming(alarms: &[(usize, usize)], is_level: bool) -> Recording {
    alarming_in(&TWO_CASE, alarms, is_level)
}

/// The same of another drill.
fn alarming_in(case: &Case, alarms: &[(usize, usize)], is_level: bool) -> Recording {
    let mut recording = case.recording.clone();
    let fatal = calls(&mut recording.clone())
        .iter()
        .flat_map(|call| call.events.clone())
        .find(|event| event.is_fatal)
        .expect("a cable is pulled");
    let call = |is_fatal: bool| -> Call {
        let mut event = fatal.clone();
        event.entities_impacted.clear();
        (event.is_fatal, event.is_healthy) = (is_fatal, !is_fatal);
        let batch = HealthEvents {
            version: 1,
            events: vec![event],
        };
        platform_connector::received(&batch).answered(true, "accepted".to_owned())
    };
    for tick in 0..recording.ticks.len() {
        let stands = |tick: usize| alarms.iter().any(|(from, to)| (*from..*to).contains(&tick));
        let was = tick > 0 && stands(tick - 1);
        let calls = &mut monitor(&mut recording, tick, "node-a").calls;
        calls.clear();
        if is_level || stands(tick) != was {
            calls.push(call(stands(tick)));
        }
    }
    recording
}

#[track_caller]
fn check(promises: &str, recording: &Recording, findings: &[FindingKind]) {
    let (story, truth) = (&TWO_CASE.story, &TWO_CASE.truth);
    let judged = judge(story, truth, recording, &promising(promises));
    let kinds: Vec<FindingKind> = judged
        .findings
        .iter()
        .map(|finding| finding.kind)
        // What a cluster makes of it is tested elsewhere.
        .filter(|kind| *kind != FindingKind::LeftStanding)
        .collect();
    assert_eq!(kinds, findings, "{:#?}", judged.findings);
}

const ROWS: &str = "rows: { polling: { verdict: fatal, AFTER clears: { within: 3 polls } }, training: usual, init: usual, armed: usual, first_poll: usual }";

fn of_node(after: &str, more: &str) -> String {
    format!(
        "granularity: node\n{more}{}\n",
        ROWS.replace("AFTER", after)
    )
}

#[rstest]
#[case::right(&[(10, 31)], &[])]
#[case::a_poll_late(&[(11, 32)], &[])]
#[case::too_late(&[(14, 32)], &[Missing])]
#[case::never(&[], &[Missing])]
#[case::too_early(&[(8, 31)], &[Unexpected])]
#[case::ends_with_the_first(&[(10, 21)], &[Missing])]
#[case::flickers(&[(10, 13), (14, 31)], &[Missing])]
#[case::not_over(&[(10, 38)], &[Outstanding])]
#[case::another_one(&[(10, 31), (36, 37)], &[Unexpected])]
fn a_nodes_alarm_is_the_union_of_its_faults(
    #[case] alarms: &[(usize, usize)],
    #[case] findings: &[FindingKind],
) {
    for (is_level, style) in [(false, "style: edge\n"), (true, "style: level\n")] {
        let recording = alarming(alarms, is_level);
        check(&of_node("", style), &recording, findings);
    }
}

#[rstest]
#[case::in_time(&[(13, 31)], &[])]
#[case::before_its_time(&[(11, 31)], &[Unexpected])]
fn a_debounce_moves_an_alarm(#[case] alarms: &[(usize, usize)], #[case] findings: &[FindingKind]) {
    check(
        &of_node("after: 3 polls,", ""),
        &alarming(alarms, false),
        findings,
    );
}

/// The cable of one is pulled for a poll: an alarm that stands in that poll only is enough.
#[test]
fn an_alarm_about_a_short_fault_may_be_over_before_it_is_due() {
    static SHORT: LazyLock<Case> = LazyLock::new(|| {
        let (one, _) = TWO.split_once("  - at: 15s").expect("the other one");
        let mended = "  - at: 11s\n    do: [ { mend: one } ]\nuntil: 20s\n";
        Case::played(&format!("{one}{mended}"))
    });
    for (is_level, style) in [(false, "style: edge\n"), (true, "style: level\n")] {
        let promises = of_node("within: 3 polls,", style);
        let recording = alarming_in(&SHORT, &[(10, 12)], is_level);
        let judged = judge(
            &SHORT.story,
            &SHORT.truth,
            &recording,
            &promising(&promises),
        );
        let left = |finding: &&reports::Finding| finding.kind != FindingKind::LeftStanding;
        let found: Vec<_> = judged.findings.iter().filter(left).collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn a_second_fault_is_named_only_where_all_are() {
    let recording = alarming(&[(10, 31)], false);
    check(&of_node("", "names: first\n"), &recording, &[]);
    check(&of_node("", "names: all\n"), &recording, &[Missing]);
}

/// Each fault is reported once: the first is read in poll 10, the second in poll 15.
#[rstest]
#[case::both(&[10, 15], 0, &[])]
#[case::a_poll_late(&[11, 16], 0, &[])]
#[case::the_first_in_every_poll(&[10, 11, 12, 13, 14, 15], 4, &[])]
#[case::the_second_twice(&[10, 15, 15], 1, &[])]
#[case::the_first_alone(&[10], 0, &[Missing])]
fn where_all_are_named_each_fault_is_reported_once(
    #[case] reports: &[usize],
    #[case] repeats: usize,
    #[case] others: &[FindingKind],
) {
    let once = alarming(&[(10, 31)], false);
    let mut recording = once.clone();
    let alarm = monitor(&mut recording, 10, "node-a").calls.clone();
    for tick in 0..recording.ticks.len() {
        let calls = &mut monitor(&mut recording, tick, "node-a").calls;
        calls.retain(|call| !alarm.contains(call));
        let so_often = reports.iter().filter(|at| **at == tick).count();
        calls.extend(std::iter::repeat_n(alarm.clone(), so_often).flatten());
    }
    let expected = std::iter::repeat_n(Unexpected, repeats);
    let expected: Vec<_> = others.iter().copied().chain(expected).collect();
    check(&of_node("", "names: all\n"), &recording, &expected);
}

/// docs/monitor.md, `granularity`: an alarm that names what is not monitored is wrong whatever else stands, and it is not the one
/// that the node owes.
#[rstest]
#[case::beside_the_nodes_own(&[(10, 31)], 12, &[Unexpected])]
#[case::while_nothing_stands(&[(10, 31)], 3, &[Unexpected])]
#[case::in_its_place(&[], 10, &[Missing, Unexpected])]
fn an_alarm_about_what_is_not_monitored_is_wrong_whatever_stands(
    #[case] alarms: &[(usize, usize)],
    #[case] from: usize,
    #[case] findings: &[FindingKind],
) {
    static TWO_OF_AN_A100: LazyLock<Case> = LazyLock::new(|| Case::played_on("dgx-a100", TWO));
    // Its `mlx5_10` is a management device.
    let case = &*TWO_OF_AN_A100;
    for (is_level, style) in [(false, "style: edge\n"), (true, "style: level\n")] {
        let mut recording = alarming_in(case, alarms, is_level);
        let said = |severity| Call {
            observations: vec![Observation {
                subject: Subject::Port {
                    device: "mlx5_10".to_owned(),
                    port: "1".to_owned(),
                },
                severity,
                ..Observation::default()
            }],
            fields: Vec::new(),
            accepted: true,
            answer: "accepted".to_owned(),
        };
        let mut say = |tick: usize, severity| {
            let calls = &mut monitor(&mut recording, tick, "node-a").calls;
            calls.push(said(severity));
        };
        say(from, Severity::Fatal);
        say(from + 2, Severity::Healthy);
        for names in ["", "names: all\n"] {
            if names.is_empty() || alarms.is_empty() {
                let promises = promising(&of_node("", &format!("{style}{names}")));
                let found = judge(&case.story, &case.truth, &recording, &promises).findings;
                let kinds = found.iter().map(|it| it.kind);
                let kinds: BTreeSet<_> = kinds
                    .filter(|it| *it != FindingKind::LeftStanding)
                    .collect();
                let expected: BTreeSet<_> = findings.iter().copied().collect();
                assert_eq!(kinds, expected, "{style}{names}{found:#?}");
                let told = found.iter().flat_map(|it| &it.expected);
                let is_its = |it: &&String| it.starts_with("nothing about mlx5_10/1 (management");
                assert_eq!(told.filter(is_its).count(), 1, "{found:#?}");
            }
        }
    }
}

/// The first fault and the last clear decide; the ones between are about one port only.
#[test]
fn what_is_about_one_port_only_is_not_judged() {
    let (story, truth) = (&TWO_CASE.story, &TWO_CASE.truth);
    let recording = alarming(&[(10, 31)], false);
    let judged = judge(story, truth, &recording, &promising(&of_node("", ""))).judged;
    assert_eq!(judged.judged, 2);
    assert_eq!(judged.not_judged.values().sum::<u64>(), 3);
    assert!(said_nothing(&recording));
}

/// An alarm about the node may have meant the device.
#[test]
fn the_nodes_alarm_is_told_where_a_devices_is_owed() {
    let (story, truth) = (&TWO_CASE.story, &TWO_CASE.truth);
    let promises = of_node("", "").replace("granularity: node", "granularity: device");
    let recording = alarming(&[(10, 31)], false);
    let judged = judge(story, truth, &recording, &promising(&promises));
    let missing = |finding: &&reports::Finding| finding.kind == Missing;
    let missing: Vec<_> = judged.findings.iter().filter(missing).collect();
    assert!(!missing.is_empty(), "{:#?}", judged.findings);
    for finding in missing {
        let told = finding
            .came
            .iter()
            .any(|came| came.starts_with("from poll 10 to poll 31: fatal "));
        assert!(told, "{finding:#?}");
    }
}

/// Without rows nothing is owed, and nothing that has a cause is wrong.
#[test]
fn a_nodes_alarm_without_rows_is_not_judged() {
    let recording = alarming(&[(12, 31)], false);
    check("granularity: node\n", &recording, &[]);
    check(
        "granularity: node\n",
        &alarming(&[(3, 5)], false),
        &[Unexpected],
    );
}

/// Without rows the laws of what states what is hold.
#[rstest]
#[case::it_stays("level", &[(12, 31)], &[])]
#[case::it_flickers("level", &[(12, 15), (17, 31)], &[Missing])]
#[case::it_is_reported_twice("edge", &[(12, 15), (17, 31)], &[])]
#[case::it_is_not_over("level", &[(12, usize::MAX)], &[Outstanding])]
#[case::it_is_not_taken_back("edge", &[(12, usize::MAX)], &[Outstanding])]
fn an_alarm_without_rows_stays_until_its_fault_is_over(
    #[case] style: &str,
    #[case] alarms: &[(usize, usize)],
    #[case] findings: &[FindingKind],
) {
    let promises = format!("granularity: node\nstyle: {style}\n");
    check(&promises, &alarming(alarms, style == "level"), findings);
}

fn said_nothing(recording: &Recording) -> bool {
    let ticks = recording.ticks.iter().take(10);
    let monitors = ticks.flat_map(|tick| tick.monitors.values());
    let mut calls = monitors.flat_map(|monitor| &monitor.calls);
    calls.all(|call| {
        call.observations
            .iter()
            .all(|it| it.severity == Severity::Healthy)
    })
}
