//! Stamps and strategies, held against a story and its clocks.

use observe::{Descriptor, MonitorTick, Observation, Tick, platform_connector};
use platforms::WORLD_START_WALL_NS;
use proto::HealthEvents;
use rstest::rstest;
use simfs::SimTime;

use super::*;
use crate::fits::tests::{Case, node_a};

fn case() -> Case {
    let mut case = Case::new();
    for (nth, tick) in (0..).zip(&mut case.truth.ticks) {
        tick.at = SimTime::from_secs(nth);
    }
    case
}

/// A recording in which a monitor polls in these ticks and says in the last one what it stamps so.
fn stamped(polls: &[u32], stamp_ns: u64) -> Recording {
    let mut recording = Recording::default();
    for polls in polls {
        let mut tick = Tick::default();
        let instance = MonitorTick {
            polls: *polls,
            ..MonitorTick::default()
        };
        tick.insert((&node_a()).into(), instance.into());
        recording.ticks.push(tick);
    }
    let observation = Observation {
        stamped_ns: Some(WORLD_START_WALL_NS + stamp_ns),
        ..Observation::default()
    };
    let batch = HealthEvents {
        version: 1,
        events: Vec::new(),
    };
    let mut call = platform_connector::received(&batch).answered(true, "accepted".to_owned());
    call.observations.push(observation);
    let last = recording.ticks.last_mut().expect("there are ticks");
    let mut instance = (*last.monitors["node-a"]).clone();
    instance.calls.push(call);
    last.insert((&node_a()).into(), instance.into());
    recording
}

fn wrong_stamps(case: &Case, recording: &Recording) -> Vec<(u64, String)> {
    let found = breaches(&case.story, &case.context(), recording).into_iter();
    found
        .filter(|breach| breach.what.starts_with("generatedTimestamp"))
        .map(|breach| {
            assert_eq!(breach.node, node_a());
            (breach.tick, breach.what)
        })
        .collect()
}

/// The second of the poll, or of an earlier tick while no poll has ended since.
#[rstest]
#[case::of_its_poll(&[1, 1, 1], 2_000_000_000, true)]
#[case::within_a_batch(&[1, 1, 1], 2_000_100_000, true)]
#[case::beyond_a_batch(&[1, 1, 1], 2_000_100_001, false)]
#[case::too_early(&[1, 1, 1], 1_999_999_999, false)]
#[case::of_the_poll_before(&[1, 1, 1], 1_000_000_000, false)]
#[case::of_a_poll_that_was_held(&[1, 0, 1], 1_000_000_000, true)]
#[case::of_the_poll_before_it_was_held(&[1, 0, 1], 0, false)]
#[case::of_the_first_poll(&[0, 0, 0], 0, true)]
fn a_stamp_is_the_time_of_its_poll(
    #[case] polls: &[u32],
    #[case] stamp_ns: u64,
    #[case] right: bool,
) {
    let found = wrong_stamps(&case(), &stamped(polls, stamp_ns));
    let ns = WORLD_START_WALL_NS + stamp_ns;
    let rendered = (
        2,
        format!("generatedTimestamp {ns} ns is not the poll's time"),
    );
    assert_eq!(found, if right { vec![] } else { vec![rendered] });
}

#[test]
fn a_monitor_with_its_own_clock_stamps_as_it_likes() {
    let mut case = case();
    case.descriptor = Descriptor::of_program("another-monitor");
    assert_eq!(wrong_stamps(&case, &stamped(&[1], 77)), []);
}

#[test]
fn events_of_a_node_without_a_monitor_breach_nothing() {
    let mut case = case();
    case.story.monitors.clear();
    assert_eq!(
        breaches(&case.story, &case.context(), &stamped(&[1], 77)).len(),
        0
    );
}

fn flags(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn a_strategy_is_the_last_flags_or_the_first_of_all() {
    let mut case = Case::new();
    assert_eq!(strategies(&case.context()), ["EXECUTE_REMEDIATION"]);
    case.story.flags = flags(&[
        "--processing-strategy=A",
        "--x=1",
        "--processing-strategy=B",
        "--y=2",
    ]);
    assert_eq!(strategies(&case.context()), ["B"]);
}

#[test]
fn a_strategy_with_which_a_monitor_is_started_later_is_one_too() {
    let text = "
scenario: an example
why: an example
platforms: all
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    do: [ { monitor: restart, flags: [ '--processing-strategy=STORE_ONLY' ] } ]
  - at: 4s
    do: [ { monitor: start, flags: [ '--processing-strategy=EXECUTE_REMEDIATION' ] } ]
  - at: 5s
    do: [ { monitor: stop } ]
until: 6s
";
    let scenario =
        scenarios::read("port/example.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    let platforms = platforms::Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("it ships");
    let story = scenario.in_world(&node_a(), platform).expect("it fits");
    let all = ["EXECUTE_REMEDIATION", "STORE_ONLY", "EXECUTE_REMEDIATION"];
    assert_eq!(strategies(&Case::of(story).context()), all);
}

/// The timestamp of a monitor with its own clock is judged only if its descriptor has a tolerance.
#[test]
fn a_timestamp_of_an_own_clock_may_be_off_by_the_tolerance() {
    let mut case = case();
    case.descriptor.clock = ClockKind::Own;
    let mut recording = stamped(&[1], 5_000_000_000);
    assert_eq!(wrong_stamps(&case, &recording), []);
    case.descriptor.clock_tolerance = observe::Span::parse("2s");
    assert_eq!(wrong_stamps(&case, &recording), []);
    let last = recording.ticks.last_mut().expect("there is one");
    let mut instance = (*last.monitors["node-a"]).clone();
    for observation in &mut instance.calls[0].observations {
        observation.off_clock = true;
    }
    last.insert((&node_a()).into(), instance.into());
    assert_eq!(
        wrong_stamps(&case, &recording),
        [(
            0,
            "generatedTimestamp is more than 2 s off the time of its receipt".to_owned()
        )]
    );
}
