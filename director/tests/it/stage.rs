//! A world on stage: where it is stopped, what is asked of its monitors, what hangs, what is refused.

use director::{
    MetricsQuery, MomentDo, MonitorId, Stage, StageError, Trees, freeze_at, metrics_query,
};
use platforms::{NodeName, Platforms};
use rstest::rstest;
use scenarios::{AtRest, HangEnd, Story, World};
use simfs::{MomentId, RuleId, SimTime};

const HEAD: &str = "scenario: an example\nwhy: an example\n";

/// A story in a world of one node.
pub(crate) fn rendered(steps: &str) -> Story {
    let text = format!(
        "{HEAD}platforms: all\nlet: {{ victim: {{ role: compute, nth: 1 }}, other: {{ role: compute, nth: 2 }} }}\n{steps}"
    );
    let scenario =
        scenarios::read("port/example.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("the platform ships");
    scenario
        .in_world(&NodeName::from("node-a"), platform)
        .unwrap_or_else(|unfit| panic!("{unfit}"))
}

/// A story in the shipped world of four nodes, each with a monitor.
fn told_in_a_pod(steps: &str) -> Story {
    told_in("pod-of-four.yaml", steps)
}

/// A story in a shipped world of several nodes.
pub(crate) fn told_in(file: &str, steps: &str) -> Story {
    let world = suite::worlds().into_iter().find(|(name, _)| *name == file);
    let (_, text) = world.expect("the world ships");
    let world = World::read(file, text).unwrap_or_else(|error| panic!("{error}"));
    let rest = AtRest::of_world(&world, &Platforms::shipped());
    let rest = rest.unwrap_or_else(|error| panic!("{error}"));
    let text = format!("{HEAD}world: {}\n{steps}", world.name());
    let scenario =
        scenarios::read("port/example.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    scenario
        .at_rest(&rest)
        .unwrap_or_else(|unfit| panic!("{unfit}"))
}

fn node() -> NodeName {
    NodeName::from("node-a")
}

const QUIET: &str = "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    in_poll: { before: read victim/state }
    do: [ { disable: victim } ]
until: 10s
";

#[rstest]
#[case::at_its_end(None, 10_000)]
#[case::at_a_tick(Some("4s"), 4_000)]
#[case::between_two_ticks(Some("4999ms"), 4_999)]
#[case::before_the_second_tick(Some("500ms"), 500)]
#[case::at_the_start(Some("0s"), 0)]
fn a_frozen_world_stands_at_its_instant(#[case] at: Option<&str>, #[case] ms: u64) {
    let story = rendered(QUIET);
    let (director, _) = freeze_at(&story, at).expect("the story can be played");
    assert_eq!(director.fabric().now(), SimTime::from_ms(ms));
    assert_eq!(director.truth().ticks.len() as u64, ms / 1_000 + 1);
}

#[test]
fn a_frozen_world_leaves_out_what_lies_within_a_poll_and_names_it() {
    let story = rendered(QUIET);
    let (_, left_out) = freeze_at(&story, Some("1s")).expect("the story can be played");
    assert_eq!(left_out, Vec::<String>::new());
    let (director, left_out) = freeze_at(&story, None).expect("the story can be played");
    assert_eq!(left_out, ["port/example.yaml:9:5: disable: victim"]);
    assert_eq!(director.missed().len(), 1);
    let ticks = &director.truth().ticks;
    assert_eq!(ticks[10].nodes[&node()], ticks[0].nodes[&node()]);
}

#[test]
fn after_its_end_a_story_has_no_world() {
    let story = rendered(QUIET);
    let error = freeze_at(&story, Some("10001ms")).err();
    assert_eq!(
        error.expect("it has ended").to_string(),
        "the story ends at 10s, before `10001ms`\nhint: write a time up to 10s, or a longer `until:` in the story"
    );
}

#[test]
fn an_invalid_duration_freezes_nothing() {
    let story = rendered(QUIET);
    let error = freeze_at(&story, Some("soon")).err();
    assert_eq!(
        error.expect("the duration is invalid").to_string(),
        "invalid duration `soon`\nhint: write a number and a unit, as in `400ms`, `3s`, `4m29s`"
    );
}

#[test]
fn a_monitor_is_asked_at_the_end_of_the_window_of_what_is_expected_of_its_answer() {
    let story = rendered(
        "arms: [ process ]
timeline:
  - at: 0s
    expect:
      - { this_poll: baseline }
      - { metric: up, is: absent, exactly_at: 3s }
      - { healthz: 200, exactly_at: 4s }
      - { metric: up, is: absent, exactly_at: 5s }
      - { healthz: 503, exactly_at: 5s }
until: 10s
",
    );
    let asked = |tick| metrics_query(&story, &node(), tick);
    let query = |metrics, healthz| MetricsQuery { metrics, healthz };
    assert_eq!(asked(2), query(false, None));
    assert_eq!(asked(3), query(true, None));
    assert_eq!(asked(4), query(false, Some(200)));
    assert_eq!(asked(5), query(true, Some(503)));
    assert_eq!(asked(6), MetricsQuery::default());
}

#[test]
fn a_monitor_is_not_asked_what_is_expected_of_anothers() {
    let story = told_in_a_pod(
        "
timeline:
  - at: 0s
    expect: [ { metric: up, is: absent, node: node-2, exactly_at: 3s }, { exit: 1, node: node-2, exactly_at: 4s } ]
until: 5s
",
    );
    let asked = |node: &str| metrics_query(&story, &NodeName::from(node), 3).metrics;
    assert_eq!(["node-1", "node-2"].map(asked), [false, true]);
    let mut stage = Stage::set(&story, &mut Trees::default()).expect("the story can be played");
    for tick in 0..=5 {
        stage.director.tick().expect("the story can be played");
        let expects = |node: &str| stage.director.expects_exit(&NodeName::from(node));
        assert_eq!(["node-1", "node-2"].map(expects), [false, tick == 4]);
    }
}

const HANGING: &str = "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 1s
    do: [ { read: victim/state, hang: given_up, for: 4s }, { read: other/state, hang: 3 ticks }, { read: other/rate, fail: EIO } ]
until: 10s
";

/// Rules are counted from 1, in the order of their actions.
#[test]
fn a_hanging_read_ends_as_its_rule_says_and_with_its_rules_time() {
    let story = rendered(HANGING);
    let mut stage = Stage::set(&story, &mut Trees::default()).expect("the story can be played");
    let mut ends = Vec::new();
    for _ in 0..=6 {
        stage.director.tick().expect("the story can be played");
        let end = |rule| stage.director.hang_end(&node(), RuleId(rule));
        ends.push([end(1), end(2), end(3), end(4)]);
    }
    let given_up = Some(HangEnd::GivenUp);
    let ticks = Some(HangEnd::Ticks(3));
    assert_eq!(ends[0], [None, None, None, None]);
    assert_eq!(ends[1..5], [[given_up, ticks, None, None]; 4]);
    assert_eq!(ends[5..], [[None, ticks, None, None]; 2]);
}

/// The reader refuses what takes time at a moment of a poll; a story that was made otherwise is refused on
/// stage.
#[rstest]
#[case::ended_some_time_later("{ monitor: restart, signal: TERM }", Some("SIGTERM ends a monitor"))]
#[case::stopped_some_time_later("{ monitor: stop }", Some("SIGTERM ends a monitor"))]
#[case::started("{ monitor: start }", Some("this cannot happen at a moment"))]
#[case::paused("{ monitor: pause, for: 3s }", Some("this cannot happen at a moment"))]
#[case::rebooted("{ reboot: { takes: 5s } }", Some("this cannot happen at a moment"))]
#[case::killed("{ monitor: restart, signal: KILL }", None)]
#[case::done_to_the_world("{ disable: other }", None)]
fn what_takes_time_cannot_be_done_within_a_poll(#[case] action: &str, #[case] why: Option<&str>) {
    let mut story =
        rendered(&QUIET.replace("until", &format!("  - at: 4s\n    do: [ {action} ]\nuntil")));
    let moment = story.steps[0].moment.clone();
    assert!(moment.is_some());
    story.steps[1].moment = moment;
    let refused = Stage::set(&story, &mut Trees::default()).err();
    match (refused, why) {
        (None, None) => {}
        (Some(StageError::StepAction { place, what, .. }), Some(why)) => {
            assert_eq!(place, story.steps[1].place);
            assert!(what.starts_with(why), "{what}");
        }
        (refused, _) => panic!("{refused:?}"),
    }
}

/// A moment waits for a poll, however many ticks pass without one.
#[test]
fn a_moment_is_missed_in_the_first_poll_in_which_it_does_not_come() {
    let story = rendered(QUIET);
    let mut stage = Stage::set(&story, &mut Trees::default()).expect("the story can be played");
    let mut missed = Vec::new();
    for polled in [true, true, false, false, true, true] {
        stage.director.tick().expect("the story can be played");
        stage.director.end_tick(|of| polled && *of == node());
        missed.push(stage.director.missed().len());
    }
    assert_eq!(missed, [0, 0, 0, 0, 1, 1]);
}

/// What is done within a poll is so at the end of its tick, not at its start.
#[test]
fn what_a_moment_does_is_so_at_the_end_of_its_tick() {
    let story = rendered(QUIET);
    let mut stage = Stage::set(&story, &mut Trees::default()).expect("the story can be played");
    let mut files = stage.files.remove(&node()).expect("it has a monitor");
    for tick in 0..=2 {
        let director = &mut stage.director;
        director.tick().expect("the story can be played");
        director.show(&node(), &mut files).expect("it can be shown");
        if tick == 2 {
            let done = director.moment(&node(), MomentId(1), MonitorId(0), &mut files);
            assert_eq!(done.expect("the story can be played"), MomentDo::Go);
        }
        director.end_tick(|_| true);
    }
    let ticks = &stage.director.truth().ticks;
    let is_same = |tick: usize| {
        let node = &ticks[tick].nodes[&node()];
        node.views == node.after
    };
    assert_eq!([0, 1, 2].map(is_same), [true, true, false]);
    assert_eq!(stage.director.missed().len(), 0);
}

#[test]
fn a_monitor_that_has_left_polls_no_more() {
    let story = rendered(QUIET);
    let mut stage = Stage::set(&story, &mut Trees::default()).expect("the story can be played");
    let mut polls = || {
        let plan = stage.director.tick().expect("the story can be played");
        let polls = plan.instances[&node()].polls.clone();
        for monitor in &polls {
            stage.director.left(&node(), *monitor);
        }
        polls.len()
    };
    assert_eq!([polls(), polls()], [1, 0]);
}

/// A step that is due before a node is back, in the same tick, is done at its own instant.
#[test]
fn what_is_due_before_a_reboot_ends_is_done_before_it_ends() {
    let story = told_in_a_pod(
        "
let: { victim: { node: node-2, role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    do: [ { reboot: { takes: 5700ms }, node: node-1 } ]
  - at: 7200ms
    do: [ { disable: victim } ]
until: 10s
",
    );
    let (director, _) = freeze_at(&story, None).expect("the story can be played");
    let fabric = director.fabric();
    let ports = fabric.ports(&NodeName::from("node-2"));
    let events = ports.iter().flat_map(|port| fabric.port_events(&port.slot));
    let first = events.map(|event| event.at).min();
    assert_eq!(first, Some(SimTime::from_ms(7_200)));
}

#[test]
fn the_workloads_of_a_story_run_in_its_world() {
    let story = told_in(
        "storage-pair.yaml",
        "
workloads: { storage: { lnet: { client: client, server: server } } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
until: 10s
",
    );
    let (director, _) = freeze_at(&story, None).expect("the story can be played");
    let stats = director.workloads().stats("storage").expect("it runs");
    assert!(stats.done > 0, "{stats:?}");
    assert_eq!(director.truth().ticks[10].workloads["storage"], stats);
}

#[test]
fn worlds_at_rest_tell_nothing_of_what_they_hold() {
    assert_eq!(format!("{:?}", Trees::default()), "Trees { .. }");
}
