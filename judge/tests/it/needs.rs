//! A site's needs decide what is a finding, and not what the monitor promises.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many needs that judge it"
)]

use std::sync::{Arc, LazyLock};

use judge::{Judgement, judge_needs};
use observe::{Broken, Descriptor, Needs, Recording, Subject};
use reports::FindingKind::{self, Hung, Missing, Outstanding, Unexpected};
use rstest::rstest;
use terms::Severity;

use crate::promises::Case;

/// Disabled from poll 10 to 30.
const DISABLED: &str = "
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
  - at: 30s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 50s
";

/// Every device is gone from poll 10 to 60, longer than the patience with a missing class folder.
const RELOADED: &str = "
scenario: the driver is unloaded and loaded again
why: an example
platforms: all
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { driver: unload } ]
    expect: [ { polls: 1, exactly_at: 10s } ]
  - at: 60s
    do: [ { driver: load } ]
until: 80s
";

static DISABLED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(DISABLED));
static RELOADED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(RELOADED));

/// A card with a port that is down falls behind its peers.
const CARD: &str = "no need about `card`";

fn judged(case: &Case, recording: &Recording, needs: &str) -> Judgement {
    let needs = format!("needs_version: 1\n{needs}\n");
    let needs: Needs =
        files::yaml::read("needs.yaml", &needs).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(needs.problems(), []);
    let Case { story, truth, .. } = case;
    // Promises decide nothing.
    judge_needs(
        story,
        truth,
        recording,
        &Descriptor::of_program("m"),
        &needs,
    )
}

fn kinds(judgement: &Judgement) -> Vec<FindingKind> {
    let findings = judgement.findings.iter();
    findings.map(|finding| finding.kind).collect()
}

/// A recording in which the reports of these ticks and later are changed; `false` takes one away.
fn changed(
    case: &Case,
    from: usize,
    change: impl Fn(&mut observe::Observation) -> bool,
) -> Recording {
    let mut recording = case.recording.clone();
    for tick in recording.ticks.iter_mut().skip(from) {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(monitor).calls {
                call.observations.retain_mut(&change);
            }
        }
    }
    recording
}

/// The drill as the reference monitor plays it, and how its fault and its alarms are judged.
#[rstest]
#[case::in_time("kinds: { disabled: { noticed: within 2s, taken_back: within 5s } }", &[], 2)]
#[case::at_a_coarser_granularity("granularity: node\nkinds: { disabled: { noticed: within 2s, taken_back: within 5s } }", &[], 2)]
#[case::of_another_kind("kinds: { slow: { noticed: within 2s } }", &[], 0)]
#[case::it_must_be_quiet("never_alarms: { disabled: always }", &[Unexpected], 1)]
#[case::it_must_be_quiet_longer("never_alarms: { disabled: for 5s }", &[Unexpected], 1)]
fn a_fault_that_is_reported_at_once(
    #[case] needs: &str,
    #[case] found: &[FindingKind],
    #[case] count: u64,
) {
    let case = &*DISABLED_CASE;
    let judgement = judged(case, &case.recording, needs);
    assert_eq!(kinds(&judgement), found, "{:#?}", judgement.findings);
    assert_eq!(judgement.judged.judged, count, "{:?}", judgement.judged);
}

/// Without any alarm.
#[rstest]
#[case::in_time("noticed: within 10s", &[Missing], &[CARD])]
#[case::later_than_it_lasts("noticed: within 60s", &[], &[CARD, "the fault ends before it must be noticed"])]
#[case::nothing_is_left("taken_back: within 10s", &[], &[CARD])]
fn a_fault_that_is_not_reported_is_noticed_by_nobody(
    #[case] need: &str,
    #[case] found: &[FindingKind],
    #[case] reasons: &[&str],
) {
    let case = &*DISABLED_CASE;
    let silent = changed(case, 0, |event| event.severity == Severity::Healthy);
    let judgement = judged(
        case,
        &silent,
        &format!("kinds: {{ disabled: {{ {need} }} }}"),
    );
    assert_eq!(kinds(&judgement), found, "{:#?}", judgement.findings);
    let left_out: Vec<&String> = judgement.judged.not_judged.keys().collect();
    assert_eq!(left_out, reasons);
}

#[rstest]
#[case::in_time("within 5s", &[Outstanding], &[CARD])]
#[case::after_the_drill("within 1h", &[], &[CARD, "the drill ends before the fault must be taken back"])]
fn an_alarm_that_is_never_taken_back(
    #[case] within: &str,
    #[case] found: &[FindingKind],
    #[case] reasons: &[&str],
) {
    let case = &*DISABLED_CASE;
    let standing = changed(case, 11, |event| event.severity != Severity::Healthy);
    let needs = format!("kinds: {{ disabled: {{ taken_back: {within} }} }}");
    let judgement = judged(case, &standing, &needs);
    assert_eq!(kinds(&judgement), found, "{:#?}", judgement.findings);
    let left_out: Vec<&String> = judgement.judged.not_judged.keys().collect();
    assert_eq!(left_out, reasons);
}

#[rstest]
#[case("port", &[Missing])]
#[case("device", &[])]
#[case("node", &[])]
fn a_report_about_a_device_does_not_name_the_port(
    #[case] granularity: &str,
    #[case] found: &[FindingKind],
) {
    let case = &*DISABLED_CASE;
    let coarse = changed(case, 1, |event| {
        if let Some(name) = event.subject.nic() {
            event.subject = Subject::Device(name.to_owned());
        }
        true
    });
    let needs =
        format!("granularity: {granularity}\nkinds: {{ disabled: {{ noticed: within 10s }} }}");
    let judgement = judged(case, &coarse, &needs);
    assert_eq!(kinds(&judgement), found, "{:#?}", judgement.findings);
}

#[test]
fn an_alarm_about_a_port_without_a_fault_is_found() {
    let case = &*DISABLED_CASE;
    let victim = case.recording.ticks[10]
        .monitors
        .values()
        .flat_map(|monitor| &monitor.calls)
        .find_map(|call| call.observations.first()?.subject.nic().map(str::to_owned))
        .expect("it is reported");
    let other = if victim == "mlx5_0" {
        "mlx5_3"
    } else {
        "mlx5_0"
    };
    let wrong = changed(case, 1, |event| {
        event.subject = Subject::Port {
            device: other.to_owned(),
            port: "1".to_owned(),
        };
        true
    });
    let needs = "kinds: { slow: { noticed: within 1s } }";
    let judgement = judged(case, &wrong, needs);
    assert_eq!(kinds(&judgement), [Unexpected]);
    let finding = &judgement.findings[0];
    assert_eq!(finding.expected, ["no alarm without a fault"]);
    assert_eq!(finding.tick, Some(10));
}

/// The reference monitor reports the devices when the class folder was missing for longer than its patience.
#[rstest]
#[case::it_may_alarm("kinds: { gone_device: { noticed: within 60s } }", false)]
#[case::never("never_alarms: { driver_reload: always }", true)]
#[case::long("never_alarms: { driver_reload: for 60s }", true)]
#[case::short(
    "never_alarms: { driver_reload: for 20s }\nkinds: { gone_device: { noticed: within 30s } }",
    false
)]
fn devices_that_are_gone_with_their_driver_belong_to_its_reload(
    #[case] needs: &str,
    #[case] alarms: bool,
) {
    let case = &*RELOADED_CASE;
    let judgement = judged(case, &case.recording, needs);
    let findings = &judgement.findings;
    assert_eq!(!findings.is_empty(), alarms, "{findings:#?}");
    assert!(findings.iter().all(|finding| finding.kind == Unexpected));
    assert!(judgement.judged.judged > 0, "{:?}", judgement.judged);
}

#[test]
fn a_drill_that_broke_off_judges_no_need() {
    let case = &*DISABLED_CASE;
    let mut hung = case.recording.clone();
    hung.broken = Some(Broken::Hung {
        tick: 12,
        waiting_for: "a poll".to_owned(),
    });
    let needs = "kinds: { disabled: { noticed: within 2s } }\nnever_alarms: { disabled: for 1s }";
    let judgement = judged(case, &hung, needs);
    assert_eq!(kinds(&judgement), [Hung]);
    let reasons = [("the drill broke off".to_owned(), 2)].into();
    assert_eq!(judgement.judged.not_judged, reasons);
    assert_eq!(judgement.judged.judged, 0);
}

/// The operator watches one counter of two that grow.
const CONFIGURED: &str = "
scenario: a counter grows that the operator does not watch
why: an example
platforms: all
checks: counters
config: |
  [counterDetection]
  enabled = true
  [[counterDetection.counters]]
  name = \"symbol_error\"
  enabled = true
  thresholdType = \"delta\"
  threshold = 0
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: [ { healthy: victim, counter: symbol_error } ] } ]
  - at: 5s
    do: [ { counter: victim, name: link_downed, add: 1 } ]
until: 30s
";

/// Which growth counts is then what the configuration says.
#[test]
fn counters_that_a_story_configures_are_not_judged() {
    let case = Case::played(CONFIGURED);
    let needs = "kinds: { counter.link_downed: { noticed: within 5s } }";
    let judgement = judged(&case, &case.recording, needs);
    assert_eq!(kinds(&judgement), []);
    assert_eq!(judgement.judged.judged, 0);
    let reason = "the story configures which counters are watched";
    assert_eq!(judgement.judged.not_judged.get(reason), Some(&1));
}
