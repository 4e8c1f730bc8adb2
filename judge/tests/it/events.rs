//! Events compared with expectations.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many tests that change its recording"
)]

use std::{collections::BTreeSet, sync::LazyLock};

use director::{Trees, Truth};
use judge::{Judgement, judge};
use memory::{Played, play_in_memory};
use observe::{Broken, Descriptor, Exit, Recording, platform_connector};
use platforms::{NodeName, Platforms};
use proptest::prelude::*;
use proto::{HealthEvent, HealthEvents};
use reports::FindingKind;
use rstest::rstest;
use scenarios::Story;

use crate::wire::{Wire, calls, monitor, reference};

const CUT_AND_MENDED: &str = "
scenario: a port goes down and comes back
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 9s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim } ]
until: 12s
";

const CUT: &str = "
scenario: a port goes down and is healed
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
until: 8s
";

const TWO_BREACHES: &str = "
scenario: two counters of a port breach and are healed
why: an example
platforms: all
checks: counters
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { counter: victim, name: link_downed, add: 1 }, { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { fatal: victim, counter: link_downed }, { fatal: victim, counter: rnr_nak_retry_err } ]
until: 8s
";

fn node() -> NodeName {
    NodeName::from("node-a")
}

fn story(text: &str, platform: &str) -> Story {
    let platforms = Platforms::shipped();
    let scenario =
        scenarios::read("port/example.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    let platform = platforms.get(platform).expect("the platform ships");
    scenario
        .in_world(&node(), platform)
        .unwrap_or_else(|unfit| panic!("{unfit}"))
}

struct Case {
    story: Story,
    truth: Truth,
    recording: Recording,
}

impl Case {
    fn played(text: &str) -> Self {
        let story = story(text, "h100-oci");
        let Played {
            recording, truth, ..
        } = play_in_memory(&story, &reference(), None, &mut Trees::default());
        Self {
            story,
            truth,
            recording,
        }
    }

    fn judged(&self, recording: &Recording) -> Judgement {
        judge(&self.story, &self.truth, recording, &reference())
    }
}

static CUT_AND_MENDED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(CUT_AND_MENDED));
static TWO_BREACHES_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(TWO_BREACHES));
static CUT_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(CUT));

fn kinds(judgement: &Judgement) -> Vec<FindingKind> {
    judgement
        .findings
        .iter()
        .map(|finding| finding.kind)
        .collect()
}

fn event_count(recording: &Recording) -> usize {
    calls(&mut recording.clone())
        .iter()
        .map(|call| call.events.len())
        .sum()
}

/// Removes the nth event, and its call if it was the only one.
fn without_event(recording: &Recording, nth: usize) -> Recording {
    let mut changed = recording.clone();
    let mut left = nth;
    for mut call in calls(&mut changed) {
        if left < call.events.len() {
            call.events.remove(left);
            break;
        }
        left -= call.events.len();
    }
    for tick in 0..changed.ticks.len() {
        let calls = &mut monitor(&mut changed, tick, "node-a").calls;
        calls.retain(|call| !call.observations.is_empty());
    }
    changed
}

/// Adds an event in a call of its own in this tick, with this tick's timestamp.
fn with_event(case: &Case, tick: usize, mut event: HealthEvent) -> Recording {
    let mut changed = case.recording.clone();
    let wall_ns = case.truth.ticks[tick].wall_ns(&node()).unwrap();
    event.generated_timestamp = Some(proto::timestamp_from_ns(wall_ns));
    let batch = HealthEvents {
        version: 1,
        events: vec![event],
    };
    let call = platform_connector::received(&batch).answered(true, "accepted".to_owned());
    monitor(&mut changed, tick, "node-a").calls.push(call);
    changed
}

fn first_event(recording: &Recording) -> HealthEvent {
    calls(&mut recording.clone())[0].events[0].clone()
}

#[rstest]
#[case(&CUT_AND_MENDED_CASE)]
#[case(&CUT_CASE)]
#[case(&TWO_BREACHES_CASE)]
fn the_right_stream_is_accepted(#[case] case: &Case) {
    assert_eq!(case.judged(&case.recording).findings, []);
}

#[test]
fn each_counter_of_a_port_is_cleared_by_itself() {
    let case = &*TWO_BREACHES_CASE;
    let last = event_count(&case.recording) - 1;
    let judgement = case.judged(&without_event(&case.recording, last));
    assert_eq!(kinds(&judgement), NEVER_CLEARED);
}

#[test]
fn a_breach_of_one_counter_is_not_that_of_another() {
    let case = &*TWO_BREACHES_CASE;
    let mut changed = case.recording.clone();
    let mut wires = calls(&mut changed);
    let events = wires.iter_mut().flat_map(|call| &mut call.events);
    for event in events.filter(|event| event.is_fatal) {
        event.error_code = vec!["link_downed".to_owned()];
    }
    drop(wires);
    let judgement = case.judged(&changed);
    assert!(
        kinds(&judgement).contains(&FindingKind::Missing)
            && kinds(&judgement).contains(&FindingKind::Unexpected),
        "{judgement:?}"
    );
}

#[test]
fn a_counter_that_a_first_poll_leaves_out_is_missed() {
    let case = &*TWO_BREACHES_CASE;
    let judgement = case.judged(&without_event(&case.recording, 0));
    assert_eq!(kinds(&judgement), [FindingKind::Missing]);
}

#[test]
fn a_counters_event_without_its_name_breaks_the_contract() {
    let case = &*TWO_BREACHES_CASE;
    let mut changed = case.recording.clone();
    calls(&mut changed)[0].events[0].error_code.clear();
    let judgement = case.judged(&changed);
    assert!(
        kinds(&judgement).contains(&FindingKind::Contract),
        "{judgement:?}"
    );
}

#[test]
fn a_missing_event_is_told_with_the_line_that_wants_it() {
    let case = &*CUT_AND_MENDED_CASE;
    let fatal = event_count(&case.recording) - 2;
    let judgement = case.judged(&without_event(&case.recording, fatal));
    let finding = &judgement.findings[0];
    assert_eq!(finding.kind, FindingKind::Missing);
    let place = finding.line.as_ref().map(|line| line.place.as_str());
    assert_eq!(place, Some("port/example.yaml:11:15"));
    assert_eq!(finding.tick, Some(5));
    assert!(
        finding.expected[0].starts_with("fatal NIC=mlx5_0 NICPort=1, in poll"),
        "{finding:?}"
    );
    assert!(
        finding
            .came
            .iter()
            .any(|line| line.starts_with("poll 10: healthy NIC=mlx5_0")),
        "{finding:?}"
    );
    assert!(
        finding
            .reads
            .iter()
            .any(|read| read.text.contains("mlx5_0/ports/1/state")),
        "{finding:?}"
    );
}

#[test]
fn a_clear_that_healing_owes_must_come() {
    let case = &*CUT_CASE;
    let clear = event_count(&case.recording) - 1;
    let judgement = case.judged(&without_event(&case.recording, clear));
    assert_eq!(kinds(&judgement), NEVER_CLEARED);
}

#[test]
fn a_clear_comes_once() {
    let case = &*CUT_CASE;
    let last = case.recording.ticks.len() - 1;
    let clear = calls(&mut case.recording.clone())
        .pop()
        .expect("the fault was cleared")
        .events[0]
        .clone();
    assert!(clear.is_healthy);
    let judgement = case.judged(&with_event(case, last, clear));
    assert_eq!(kinds(&judgement), [FindingKind::Unexpected]);
}

#[test]
fn a_refused_event_claims_nothing() {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    let mut refused = calls(&mut changed).pop().expect("something was said");
    (refused.accepted, refused.answer) = (false, "UNAVAILABLE".to_owned());
    drop(refused);
    let kinds = kinds(&case.judged(&changed));
    assert_eq!(kinds[0], FindingKind::Missing);
    assert_eq!(kinds[1..], NEVER_CLEARED);
}

#[test]
fn an_event_too_late_is_missing_and_unexpected() {
    let case = &*CUT_AND_MENDED_CASE;
    let fatal = event_count(&case.recording) - 2;
    let event = calls(&mut case.recording.clone())
        .iter()
        .flat_map(|call| call.events.clone())
        .nth(fatal)
        .expect("the fatal event");
    let late = Case {
        recording: without_event(&case.recording, fatal),
        story: case.story.clone(),
        truth: case.truth.clone(),
    };
    let judgement = case.judged(&with_event(&late, 8, event));
    assert_eq!(
        kinds(&judgement),
        [FindingKind::Missing, FindingKind::Unexpected]
    );
}

/// A monitor that names no device as the node does: each of its events came instead of the expected one of the device whose
/// name is nearest, none instead of two.
#[test]
fn events_about_devices_that_do_not_exist_came_instead_of_those_that_are_missing() {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    for mut call in calls(&mut changed) {
        for event in &mut call.events {
            let name = &mut event.entities_impacted[0].entity_value;
            *name = name.trim_start_matches("mlx5_").to_owned();
        }
    }
    let findings = case.judged(&changed).findings;
    let of = |kind: FindingKind| findings.iter().filter(move |finding| finding.kind == kind);
    let nic = |line: &str| {
        line.split("NIC=")
            .nth(1)?
            .split([' ', ','])
            .next()
            .map(str::to_owned)
    };
    let mut came = BTreeSet::new();
    for finding in of(FindingKind::Missing) {
        let expected = nic(&finding.expected[0]).expect("a device is expected");
        let said = nic(&finding.came[0]).expect("an event came");
        assert_eq!(expected, format!("mlx5_{said}"), "{finding:?}");
        assert!(came.insert(finding.came[0].clone()), "{finding:?}");
    }
    let unexpected = of(FindingKind::Unexpected).map(|finding| finding.came[0].clone());
    assert_eq!(came, unexpected.collect());
    for finding in of(FindingKind::Missing).chain(of(FindingKind::Unexpected)) {
        let cause = finding.cause.to_string();
        assert!(cause.starts_with("differs.entities."), "{cause}");
    }
}

/// An event about a device that does not exist cannot have come instead of two.
#[test]
fn one_event_about_a_device_that_does_not_exist_leaves_the_others_missing() {
    let case = &*CUT_AND_MENDED_CASE;
    let fatal = event_count(&case.recording) - 2;
    let mut changed = without_event(&case.recording, fatal + 1);
    let mut wires = calls(&mut changed);
    for event in &mut wires.last_mut().expect("the fatal event").events {
        event.entities_impacted[0].entity_value = "no-such".to_owned();
    }
    drop(wires);
    let findings = case.judged(&changed).findings;
    let causes: Vec<_> = (findings.iter())
        .map(|finding| finding.cause.to_string())
        .collect();
    assert_eq!(
        causes[..3],
        [
            "differs.entities.fatal.port.monitored.ethernet.after-port",
            "differs.entities.fatal.port.monitored.ethernet.after-port",
            "missed.healthy.port.monitored.ethernet.after-port"
        ]
    );
}

type Change = fn(&mut Wire<'_>);

#[rstest]
#[case::agent(|call: &mut Wire<'_>| call.events[0].agent = "someone".to_owned(), "agent is `someone`")]
#[case::class(|call: &mut Wire<'_>| call.events[0].component_class = "GPU".to_owned(), "componentClass is `GPU`")]
#[case::batch_version(|call: &mut Wire<'_>| call.version = 2, "the batch has version 2")]
#[case::version(|call: &mut Wire<'_>| call.events[0].version = 0, "version is 0")]
#[case::node(|call: &mut Wire<'_>| call.events[0].node_name = "node-b".to_owned(), "nodeName is `node-b`")]
#[case::check(|call: &mut Wire<'_>| call.events[0].check_name = "GpuCheck".to_owned(), "checkName `GpuCheck`")]
#[case::strategy(|call: &mut Wire<'_>| call.events[0].processing_strategy = 2, "processingStrategy is 2")]
#[case::action(|call: &mut Wire<'_>| call.events[0].recommended_action = 25, "recommendedAction is 25")]
#[case::both(|call: &mut Wire<'_>| call.events[0].is_fatal = true, "fatal and healthy at once")]
#[case::code(|call: &mut Wire<'_>| call.events[0].error_code = vec!["x".to_owned()], "errorCode")]
#[case::entities(|call: &mut Wire<'_>| call.events[1].entities_impacted.reverse(), "not NIC and then NICPort")]
#[case::message(|call: &mut Wire<'_>| call.events[0].message.clear(), "no message")]
#[case::extra(|call: &mut Wire<'_>| call.events[0].id = "7".to_owned(), "leaves empty")]
#[case::no_stamp(|call: &mut Wire<'_>| call.events[0].generated_timestamp = None, "no generatedTimestamp")]
#[case::wrong_stamp(|call: &mut Wire<'_>| call.events[0].generated_timestamp = Some(proto::timestamp_from_ns(1)), "not the poll's time")]
#[case::equal_stamps(|call: &mut Wire<'_>| call.events[1].generated_timestamp = call.events[0].generated_timestamp, "not later")]
#[case::empty(|call: &mut Wire<'_>| call.events.clear(), "without events")]
fn a_field_that_breaks_the_contract_is_named(#[case] change: Change, #[case] what: &str) {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    change(&mut calls(&mut changed)[0]);
    let judgement = case.judged(&changed);
    let rendered = judgement
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Contract);
    let rendered: Vec<&str> = rendered
        .flat_map(|finding| &finding.came)
        .map(String::as_str)
        .collect();
    assert!(
        rendered.iter().any(|line| line.contains(what)),
        "{rendered:?}"
    );
}

#[test]
fn a_refused_event_must_keep_the_contract_too() {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = with_event(
        case,
        3,
        HealthEvent {
            agent: "x".to_owned(),
            ..first_event(&case.recording)
        },
    );
    calls(&mut changed)[1].accepted = false;
    assert_eq!(kinds(&case.judged(&changed)), [FindingKind::Contract]);
}

#[rstest]
#[case(Broken::Hung { tick: 4, waiting_for: "the listing of the class folder".to_owned() }, FindingKind::Hung)]
#[case(Broken::Crashed { tick: 4, exit: Exit::Signal(11), last_words: vec!["boom".to_owned()] }, FindingKind::Crashed)]
#[case(Broken::StuckInKernel { tick: 4 }, FindingKind::StuckInKernel)]
#[case(Broken::Stage { cause: "no /dev/fuse".to_owned() }, FindingKind::Stage)]
fn a_drill_that_breaks_off_is_told_once(#[case] broken: Broken, #[case] kind: FindingKind) {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    changed.ticks.truncate(5);
    changed.broken = Some(broken);
    assert_eq!(kinds(&case.judged(&changed)), [kind]);
}

#[test]
fn a_moment_that_never_came_is_a_failure() {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    changed
        .missed_moments
        .push("port/example.yaml:9:5: remove".to_owned());
    assert_eq!(kinds(&case.judged(&changed)), [FindingKind::MissedMoment]);
}

/// A fault that is not cleared is outstanding in the stream, and its condition and its cordon
/// remain.
const NEVER_CLEARED: [FindingKind; 3] = [
    FindingKind::Outstanding,
    FindingKind::LeftStanding,
    FindingKind::LeftStanding,
];

/// The judge's failures for a story with one wrong line.
fn refused(line: &str) -> Vec<(FindingKind, String, Vec<String>)> {
    let text = format!(
        "{}    expect: [ {{ fatal: victim }}, {line} ]\n  - at: 9s\n    do: [ {{ mend: victim }} ]\n    expect: [ {{ healthy: victim }} ]\nuntil: 12s\n",
        CUT.split("    expect: [ { fatal").next().unwrap()
    );
    let case = Case::played(&text);
    let findings = case.judged(&case.recording).findings;
    findings
        .into_iter()
        .map(|finding| (finding.kind, finding.expected.join(", "), finding.came))
        .collect()
}

#[rstest]
#[case("{ exit: 3 }", "exit code 3", None)]
#[case("{ log: 'never … said' }", "a log line with \"never … said\"", None)]
#[case(
    "{ no_log: 'mlx5_0 port 1: state DOWN' }",
    "no log line with",
    Some("mlx5_0 port 1: state DOWN")
)]
#[case("{ polls: 3 }", "3 polls", Some("2 polls"))]
#[case("{ calls: 2 }", "2 calls", Some("1 call"))]
#[case("{ state_file: absent }", "no state file", Some("the state file is {"))]
#[case(
    "{ state_file: unchanged }",
    "an unchanged state file",
    Some("before: {")
)]
#[case(
    "{ state_file: { member: version, equals: '7' } }",
    "`version` equal to 7",
    Some("the state file is {")
)]
#[case("{ reads: victim/state, times: 9 }", "9 to 9 reads", Some("2 reads"))]
#[case(
    "{ metric: nic_health_monitor_health_events_sent_total, labels: { is_fatal: true }, is: '> 1' }",
    "nic_health_monitor_health_events_sent_total{is_fatal=\"true\"}: at least 2",
    Some("is_fatal=\"true\",node=\"node-a\"} 1")
)]
#[case(
    "{ metric: nic_health_monitor_state_check_errors_total, is: absent }",
    "nic_health_monitor_state_check_errors_total{}: no value",
    Some("device=\"mlx5_0\"")
)]
#[case("{ metric: up, is: 0 }", "up{}: 0", Some("no value of up"))]
#[case("stuck_in_kernel", "stuck in the kernel", Some("it could be ended"))]
#[case(
    "{ nonfatal: victim }",
    "nonfatal NIC=mlx5_0 NICPort=1",
    Some("poll 5: fatal NIC=mlx5_0")
)]
#[case(
    "{ said: { fatal: victim, times: at least 3 } }",
    "attempted",
    Some("poll 5: fatal NIC=mlx5_0")
)]
#[case(
    "{ fatal: device of victim }",
    "fatal NIC=mlx5_0, in polls 5 to 6",
    Some("poll 0: healthy NIC=mlx5_0 E")
)]
fn a_line_that_does_not_hold_is_told_with_what_came(
    #[case] line: &str,
    #[case] expected: &str,
    #[case] came: Option<&str>,
) {
    let findings = refused(line);
    let found = findings
        .iter()
        .find(|(_, rendered, _)| rendered.contains(expected));
    let (_, _, lines) = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(
        came.is_none_or(|came| lines.iter().any(|line| line.contains(came))),
        "{findings:#?}"
    );
}

#[rstest]
#[case("{ log: 'mlx5_0 port 1: state DOWN' }")]
#[case("{ no_log: panicked }")]
#[case("{ polls: 2 }")]
#[case("{ calls: 1 }")]
#[case("{ state_file: valid }")]
#[case("{ state_file: { member: version, equals: '2' } }")]
#[case("{ reads: victim/state, times: 2 }")]
#[case("{ said: { fatal: victim } }")]
#[case(
    "{ metric: nic_health_monitor_health_events_sent_total, labels: { is_fatal: true }, is: 1 }"
)]
#[case(
    "{ metric: nic_health_monitor_state_check_errors_total, labels: { device: '{victim.device}' }, is: '<= 1' }"
)]
#[case("{ metric: up, is: absent }")]
fn a_line_that_holds_is_no_failure(#[case] line: &str) {
    assert_eq!(refused(line), []);
}

#[test]
fn an_answer_about_health_is_held_against_the_one_expected() {
    let text = CUT.replace(
        "    expect: [ { this_poll: baseline } ]",
        "    expect: [ { this_poll: baseline }, { healthz: 503, exactly_at: 3s }, { metric: up, is: absent, exactly_at: 3s } ]",
    );
    let case = Case::played(&format!("{text}arms: [ process ]\n"));
    let judged = |healthz: Option<u16>, descriptor: &Descriptor| {
        let mut recording = case.recording.clone();
        monitor(&mut recording, 3, "node-a").answers.healthz = healthz;
        let Judgement { findings, judged } =
            judge(&case.story, &case.truth, &recording, descriptor);
        let came: Vec<String> = findings
            .into_iter()
            .flat_map(|finding| finding.came)
            .collect();
        (came, judged.not_judged.into_keys().collect::<Vec<_>>())
    };
    let all_judged = |came: &[&str]| {
        let came: Vec<String> = came.iter().map(ToString::to_string).collect();
        (came, Vec::new())
    };
    assert_eq!(judged(Some(503), &reference()), all_judged(&[]));
    assert_eq!(judged(Some(200), &reference()), all_judged(&["200"]));
    assert_eq!(judged(None, &reference()), all_judged(&["no answer"]));
    let without = Descriptor {
        metrics: None,
        healthz: None,
        ..reference()
    };
    let reasons = ["metrics of its own", "no `/healthz`"].map(str::to_owned);
    assert_eq!(judged(None, &without), (Vec::new(), reasons.to_vec()));
}

#[test]
fn silence_about_attempts_hears_refused_calls() {
    let case = Case::played(&CUT.replace(
        "do: [ { disable: victim } ]\n    expect: [ { fatal: victim } ]",
        "do: [ { connector: refuse, for: 2s }, { disable: victim } ]\n    expect: [ { said: nothing }, { fatal: victim, within: 4 polls } ]",
    ));
    let kinds = kinds(&case.judged(&case.recording));
    assert_eq!(kinds, [FindingKind::Unexpected]);
}

#[test]
fn events_of_an_ordered_group_come_in_its_order() {
    let ordered = |first: &str, second: &str| {
        let line = format!(
            "{{ in_order: [ {{ {first}: victim }}, {{ {second}: victim }} ], within: 6 polls }}"
        );
        let text = CUT_AND_MENDED
            .replace(
                "expect: [ { fatal: victim } ]",
                &format!("expect: [ {line} ]"),
            )
            .replace("    expect: [ { healthy: victim } ]\n", "");
        let case = Case::played(&text);
        kinds(&case.judged(&case.recording))
    };
    assert_eq!(ordered("fatal", "healthy"), []);
    assert_eq!(ordered("healthy", "fatal"), [FindingKind::Missing]);
}

#[test]
fn a_monitor_with_its_own_texts_and_clock_is_judged_by_the_rest() {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    let mut wires = calls(&mut changed);
    let events = wires.iter_mut().flat_map(|call| &mut call.events);
    for (at, event) in events.enumerate() {
        event.message = "something".to_owned();
        event.generated_timestamp = Some(proto::timestamp_from_ns(1_000_000_000 + at as u64));
    }
    drop(wires);
    let own = Descriptor::of_program("another-monitor");
    assert_eq!(judge(&case.story, &case.truth, &changed, &own).findings, []);
    assert!(!case.judged(&changed).findings.is_empty());
}

#[test]
fn a_baseline_without_devices_is_right_where_the_descriptor_says_so() {
    let case = &*CUT_AND_MENDED_CASE;
    let mut changed = case.recording.clone();
    for mut call in calls(&mut changed) {
        call.events
            .retain(|event| !event.message.starts_with("Device "));
    }
    let mut differing = reference();
    let wire = differing.promises.wire.get_or_insert_default();
    wire.baselines.get_or_insert_default().devices = false;
    assert_eq!(
        judge(&case.story, &case.truth, &changed, &differing).findings,
        []
    );
    assert!(!case.judged(&changed).findings.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_order_within_a_call_is_accepted(seed in prop::collection::vec(any::<u64>(), 64)) {
        for case in [&*CUT_AND_MENDED_CASE, &*CUT_CASE] {
            let mut changed = case.recording.clone();
            for mut call in calls(&mut changed) {
                let stamps: Vec<_> = call.events.iter().map(|event| event.generated_timestamp).collect();
                let mut keyed: Vec<_> = seed.iter().cycle().zip(call.events.drain(..)).collect();
                keyed.sort_by_key(|(key, _)| **key);
                call.events.extend(keyed.into_iter().map(|(_, event)| event));
                for (event, stamp) in call.events.iter_mut().zip(stamps) {
                    event.generated_timestamp = stamp;
                }
            }
            prop_assert_eq!(case.judged(&changed).findings, []);
        }
    }

    #[test]
    fn an_event_taken_away_is_missed(nth in any::<prop::sample::Index>()) {
        for case in [&*CUT_AND_MENDED_CASE, &*CUT_CASE] {
            let nth = nth.index(event_count(&case.recording));
            prop_assert!(!case.judged(&without_event(&case.recording, nth)).findings.is_empty());
        }
    }

    #[test]
    fn an_event_said_once_more_is_refused(nth in any::<prop::sample::Index>(), tick in any::<prop::sample::Index>()) {
        for case in [&*CUT_AND_MENDED_CASE, &*CUT_CASE] {
            let events: Vec<HealthEvent> =
                calls(&mut case.recording.clone()).iter().flat_map(|call| call.events.clone()).collect();
            let event = events[nth.index(events.len())].clone();
            let tick = tick.index(case.recording.ticks.len());
            prop_assert!(!case.judged(&with_event(case, tick, event)).findings.is_empty());
        }
    }
}
