//! A program that is run or asked at its own interval is judged by simulated time: what its rows and a site's needs
//! state in seconds are seconds, however seldom it looks.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many ways to report it"
)]

use std::{
    ops::Range,
    sync::{Arc, LazyLock},
};

use judge::{Judgement, Notice, judge, judge_needs, noticed};
use observe::{Call, Descriptor, MonitorTick, Needs, Observation, Protocol, Recording, Span};
use reports::FindingKind::{self, LeftStanding, Missing, Outstanding, Unexpected};
use rstest::rstest;
use terms::Severity;

use crate::promises::Case;

/// The program looks every 15 s.
const INTERVAL: u64 = 15;

/// A port is disabled from 10 s to 100 s.
const LONG: &str = "
scenario: a port is disabled and enabled again
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 100s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 200s
";

static LONG_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(LONG));
/// From 16 s to 29 s: no run reads it.
static BETWEEN_CASE: LazyLock<Case> = LazyLock::new(|| {
    Case::played(
        &LONG
            .replace("at: 10s", "at: 16s")
            .replace("at: 100s", "at: 29s"),
    )
});
/// The program is stopped from 5 s to 50 s.
static STOPPED_CASE: LazyLock<Case> = LazyLock::new(|| {
    let stopped = "  - at: 5s\n    do: [ { monitor: stop } ]\n  - at: 10s";
    let started = "  - at: 50s\n    do: [ { monitor: start } ]\n  - at: 100s";
    let text = LONG.replace("  - at: 10s", stopped);
    Case::played(&text.replace("  - at: 100s", started))
});

/// What a program records that is run at its interval and says how the node is: in these ticks there is an alarm. In the
/// ticks of `away` it does not run.
fn run(case: &Case, alarms: &[Range<u64>], away: &Range<u64>) -> Recording {
    let mut recording = case.recording.clone();
    let heals = recording.healing_from.unwrap_or(u64::MAX);
    for (at, tick) in (0..).zip(&mut recording.ticks) {
        let is_due = at >= heals || (at % INTERVAL == 0 && !away.contains(&at));
        let is_alarm = alarms.iter().any(|range| range.contains(&at));
        let said = Observation {
            severity: if is_alarm {
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
            answer: "exit code".to_owned(),
        };
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            *monitor = Arc::new(MonitorTick {
                polls: u32::from(is_due),
                calls: if is_due {
                    vec![call.clone()]
                } else {
                    Vec::new()
                },
                ..MonitorTick::default()
            });
        }
    }
    recording
}

fn program() -> Descriptor {
    let mut descriptor = Descriptor::of_program("m");
    descriptor.speaks = Protocol::ExitCode;
    descriptor.schedule.interval = Span::parse("15s");
    descriptor
}

/// The findings about one that promises these rows of a disabled port.
fn promised(alarms: &[Range<u64>], row: &str) -> Vec<FindingKind> {
    let case = &*LONG_CASE;
    let rows = format!(
        "style: level\ngranularity: node\nrows: {{ disabled: {{ verdict: fatal, {row} }}, training: usual, \
         polling: usual, init: usual, armed: usual, first_poll: usual }}"
    );
    let mut descriptor = program();
    descriptor.promises =
        files::yaml::read("promises.yaml", &rows).unwrap_or_else(|error| panic!("{error}"));
    let recording = run(case, alarms, &(0..0));
    let judged = judge(&case.story, &case.truth, &recording, &descriptor);
    let kinds = judged.findings.iter().map(|finding| finding.kind);
    kinds.filter(|kind| *kind != LeftStanding).collect()
}

/// The run at 15 s is the first that reads it.
#[rstest]
#[case::at_once("within: 20s", 15, &[])]
#[case::in_time("within: 20s", 30, &[])]
#[case::late("within: 20s", 45, &[Missing])]
#[case::in_polls("within: 2 polls", 45, &[])]
#[case::late_in_polls("within: 2 polls", 60, &[Missing])]
fn within_seconds_is_drill_time(
    #[case] row: &str,
    #[case] from: u64,
    #[case] findings: &[FindingKind],
) {
    let alarm = from..105;
    assert_eq!(promised(&[alarm], row), findings);
}

#[rstest]
#[case::before_it("after: 30s, within: 0s", 30, &[Unexpected])]
#[case::then("after: 30s, within: 0s", 45, &[])]
#[case::rounded_up_to_its_runs("after: 20s, within: 0s", 45, &[])]
#[case::late("after: 30s, within: 10s", 60, &[Missing])]
#[case::in_polls("after: 2 polls, within: 0s", 45, &[])]
#[case::it_ends_before("after: 90s, within: 0s", 105, &[Unexpected])]
fn after_seconds_is_drill_time(
    #[case] row: &str,
    #[case] from: u64,
    #[case] findings: &[FindingKind],
) {
    let alarm = from..from.max(90) + 15;
    assert_eq!(promised(&[alarm], row), findings);
}

/// The run at 105 s is the first without it.
#[rstest]
#[case::in_time(120, &[])]
#[case::late(135, &[Outstanding])]
fn a_clear_within_seconds_is_drill_time(#[case] to: u64, #[case] findings: &[FindingKind]) {
    let alarm = 15..to;
    assert_eq!(promised(&[alarm], "clears: { within: 20s }"), findings);
}

fn needed(case: &Case, recording: &Recording, needs: &str) -> (Judgement, Vec<Notice>) {
    let text =
        format!("needs_version: 1\ngranularity: node\nkinds: {{ disabled: {{ {needs} }} }}\n");
    let needs: Needs =
        files::yaml::read("needs.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let Case { story, truth, .. } = case;
    let heard = noticed(story, truth, recording, &program(), &needs);
    let judged = judge_needs(story, truth, recording, &program(), &needs);
    let notices = heard.faults.iter().map(|fault| fault.notice);
    (judged, notices.collect())
}

fn kinds(judgement: &Judgement) -> Vec<FindingKind> {
    let findings = judgement.findings.iter();
    findings.map(|finding| finding.kind).collect()
}

/// They count from the fault at 10 s, and not from the run that reads it.
#[rstest]
#[case::in_time("within 20s", 30, &[], Notice::InTime)]
#[case::late("within 20s", 45, &[Missing], Notice::Late)]
#[case::before_its_first_run("within 4s", 15, &[Missing], Notice::Late)]
fn needs_count_from_the_fault(
    #[case] within: &str,
    #[case] from: u64,
    #[case] findings: &[FindingKind],
    #[case] notice: Notice,
) {
    let case = &*LONG_CASE;
    let alarm = from..105;
    let recording = run(case, &[alarm], &(0..0));
    let (judgement, notices) = needed(case, &recording, &format!("noticed: {within}"));
    assert_eq!(kinds(&judgement), findings, "{:#?}", judgement.findings);
    assert_eq!(notices, [notice]);
}

#[rstest]
#[case::in_time(120, &[])]
#[case::late(135, &[Outstanding])]
fn needs_count_to_the_end_of_the_alarm(#[case] to: u64, #[case] findings: &[FindingKind]) {
    let case = &*LONG_CASE;
    let alarm = 15..to;
    let recording = run(case, &[alarm], &(0..0));
    let (judgement, _) = needed(case, &recording, "taken_back: within 20s");
    assert_eq!(kinds(&judgement), findings, "{:#?}", judgement.findings);
}

#[rstest]
#[case::it_had_to_be("within 5s", &[Missing], Notice::Never)]
#[case::it_was_over("within 60s", &[], Notice::NotNeeded)]
fn a_fault_between_two_runs_is_missed_where_it_stood_for_long_enough(
    #[case] within: &str,
    #[case] findings: &[FindingKind],
    #[case] notice: Notice,
) {
    let case = &*BETWEEN_CASE;
    let recording = run(case, &[], &(0..0));
    let (judgement, notices) = needed(case, &recording, &format!("noticed: {within}"));
    assert_eq!(kinds(&judgement), findings, "{:#?}", judgement.findings);
    assert_eq!(notices, [notice]);
}

/// It runs at 60 s again.
#[rstest]
#[case::at_its_first_run(60, &[])]
#[case::two_runs_later(90, &[Missing])]
fn no_time_passes_while_the_story_has_a_program_stopped(
    #[case] from: u64,
    #[case] findings: &[FindingKind],
) {
    let case = &*STOPPED_CASE;
    let alarm = from..105;
    let recording = run(case, &[alarm], &(5..50));
    let (judgement, _) = needed(case, &recording, "noticed: within 20s");
    assert_eq!(kinds(&judgement), findings, "{:#?}", judgement.findings);
}

/// What a program records that says in these ticks that the port fails, and that it is well again.
fn edges(case: &Case, fails: u64, heals: u64) -> Recording {
    let said = case.recording.ticks.iter().flat_map(|tick| {
        let monitors = tick.monitors.values();
        monitors.flat_map(|monitor| monitor.calls.iter().flat_map(|call| &call.observations))
    });
    let mut fatal = said.filter(|event| event.severity == Severity::Fatal);
    let subject = fatal.next().expect("the port is reported").subject.clone();
    let mut recording = run(case, &[], &(0..0));
    for (at, tick) in (0..).zip(&mut recording.ticks) {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            let severity = match at {
                _ if at == fails => Severity::Fatal,
                _ if at == heals => Severity::Healthy,
                _ => {
                    Arc::make_mut(monitor).calls.clear();
                    continue;
                }
            };
            Arc::make_mut(monitor).calls[0].observations = vec![Observation {
                severity,
                subject: subject.clone(),
                ..Observation::default()
            }];
        }
    }
    recording
}

/// One that reports changes of ports looks at 15 s and at 105 s, whatever its rows say; what the scenario expects in the
/// poll of the change is due at its next look.
#[rstest]
#[case::in_its_next_look("usual", 15, 105, &[])]
#[case::a_look_late("usual", 30, 105, &[Missing, Unexpected])]
#[case::taken_back_late("usual", 15, 165, &[Missing])]
#[case::by_a_row("{ verdict: fatal, within: 20s, clears: { within: 20s } }", 30, 120, &[])]
#[case::late_by_a_row("{ verdict: fatal, within: 20s, clears: { within: 20s } }", 45, 120, &[Missing, Unexpected])]
fn a_change_is_reported_by_the_next_look(
    #[case] row: &str,
    #[case] fails: u64,
    #[case] heals: u64,
    #[case] findings: &[FindingKind],
) {
    let case = &*LONG_CASE;
    let rows = format!("style: edge\ngranularity: port\nrows: {{ disabled: {row} }}");
    let mut descriptor = program();
    descriptor.promises =
        files::yaml::read("promises.yaml", &rows).unwrap_or_else(|error| panic!("{error}"));
    let recording = edges(case, fails, heals);
    let judged = judge(&case.story, &case.truth, &recording, &descriptor);
    let kinds = judged.findings.iter().map(|finding| finding.kind);
    let kinds: Vec<FindingKind> = kinds.filter(|kind| *kind != LeftStanding).collect();
    assert_eq!(kinds, findings, "{:#?}", judged.findings);
}
