//! The memory arm: the effect of a story on a monitor that runs as a function.

use std::fmt::Write as _;

use director::Trees;
use judge::{compare, judge, trace};
use memory::{Played, play_in_memory};
use observe::{Descriptor, Exit, shipped_descriptors};
use platforms::{NodeName, Platforms};
use rstest::rstest;
use scenarios::Story;

fn rendered(steps: &str) -> Story {
    let mut text = "scenario: an example\nwhy: an example\nplatforms: all\n".to_owned();
    text.push_str("let: { victim: { role: compute, nth: 1 } }\n");
    text.push_str(steps);
    let platforms = Platforms::shipped();
    let scenario =
        scenarios::read("port/example.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let platform = platforms.get("h100-oci").expect("the platform ships");
    scenario
        .in_world(&NodeName::from("node-a"), platform)
        .unwrap_or_else(|unfit| panic!("{unfit}"))
}

fn reference() -> Descriptor {
    let shipped = shipped_descriptors().find(|(file, _)| *file == "reference.yaml");
    let (file, text) = shipped.expect("the reference monitor ships");
    files::yaml::read(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays a story whose every expectation holds.
fn check(steps: &str) -> (Story, Played) {
    let story = rendered(steps);
    let played = play_in_memory(&story, &reference(), None, &mut Trees::default());
    let judgement = judge(&story, &played.truth, &played.recording, &reference());
    let mut rendered = String::new();
    for finding in &judgement.findings {
        let _ = writeln!(rendered, "{finding:#?}");
    }
    assert!(judgement.findings.is_empty(), "{rendered}");
    (story, played)
}

fn polls(played: &Played) -> Vec<u32> {
    let ticks = played.recording.ticks.iter();
    ticks
        .map(|tick| tick.monitors.values().map(|instance| instance.polls).sum())
        .collect()
}

fn exits(played: &Played) -> Vec<(usize, Exit)> {
    let ticks = played.recording.ticks.iter().enumerate();
    ticks
        .flat_map(|(at, tick)| {
            tick.monitors
                .values()
                .flat_map(move |instance| instance.exits.iter().map(move |exit| (at, *exit)))
        })
        .collect()
}

const FLAPPING: &str = "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 4s
    do: [ { connector: refuse, calls: 3 }, { flap: victim, times: 2, down: 3s, up: 4s } ]
    expect:
      - { fatal: victim, times: 2, within: 8 polls }
      - { healthy: victim, times: 2, within: 14 polls }
  - at: 20s
    do: [ { read: victim/state, fail: EIO, for: 3s } ]
until: 30s
";

#[test]
fn the_same_story_gives_the_same_bytes() {
    let (story, one) = check(FLAPPING);
    let other = play_in_memory(&story, &reference(), None, &mut Trees::default());
    assert_eq!(compare(&one.recording, &other.recording), None);
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
    assert_eq!(
        trace(&story, &one.recording),
        trace(&story, &other.recording)
    );
}

#[test]
fn a_killed_monitor_keeps_its_disk_and_repeats_nothing() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 8s
    in_poll: { before: read victim/state }
    do: [ { monitor: restart, signal: KILL } ]
until: 12s
",
    );
    assert_eq!(exits(&played), [(8, Exit::Signal(9))]);
    assert_eq!(polls(&played)[7..10], [1, 0, 1]);
}

/// It is away for so many whole ticks after the one in which it was killed.
#[test]
fn a_monitor_that_is_killed_within_a_poll_may_stay_away() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 8s
    in_poll: { before: read victim/state }
    do: [ { monitor: restart, signal: KILL, away: 2s } ]
until: 14s
",
    );
    assert_eq!(exits(&played), [(8, Exit::Signal(9))]);
    assert_eq!(polls(&played)[7..13], [1, 0, 0, 0, 1, 1]);
}

/// A read that gives half of one value and half of another is none that anybody could mistake.
#[test]
fn a_torn_read_is_of_the_value_that_stood_and_of_the_other() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 4s
    do: [ { read: victim/state, torn: '1: DOWN\\n', nth: 1 } ]
    expect: [ { nothing: victim, within: 3 polls } ]
until: 9s
",
    );
    assert_eq!(exits(&played), []);
}

#[test]
fn a_kill_after_acceptance_and_before_the_save_repeats_the_event() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim, times: 2 } ]
  - at: 5s
    in_poll: { accepted: 1 }
    do: [ { monitor: restart, signal: KILL } ]
until: 12s
",
    );
    assert_eq!(exits(&played), [(5, Exit::Signal(9))]);
}

#[test]
fn a_read_held_for_ticks_lets_them_pass_without_a_poll() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { read: victim/state, hang: 3 ticks, nth: 1 } ]
  - at: 6s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim, within: 4 polls } ]
until: 14s
",
    );
    assert_eq!(polls(&played)[4..10], [1, 0, 0, 0, 1, 1]);
}

#[test]
fn a_read_that_is_given_up_blinds_nobody_else() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { read: victim/state, hang: given_up, for: 4s } ]
  - at: 10s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
until: 14s
",
    );
    assert_eq!(polls(&played)[4..10], [1; 6]);
    let hung: Vec<usize> = played
        .recording
        .ticks
        .iter()
        .enumerate()
        .filter(|(_, tick)| {
            tick.monitors
                .values()
                .any(|instance| instance.reads.iter().any(|line| line.ends_with("hangs")))
        })
        .map(|(at, _)| at)
        .collect();
    assert_eq!(hung, [5], "one read of a path is outstanding at most");
}

#[rstest]
#[case("connector: absent, for: 3s", 0)]
#[case("connector: down, for: 3s", 0)]
#[case("connector: disconnect, calls: 1", 1)]
#[case("connector: { code: INTERNAL }, calls: 1", 1)]
#[case("connector: hang, calls: 1", 1)]
fn an_event_that_was_not_accepted_comes_again(#[case] connector: &str, #[case] refused: usize) {
    let (_, played) = check(&format!(
        "
timeline:
  - at: 0s
    expect: [ {{ this_poll: baseline }} ]
  - at: 5s
    do: [ {{ {connector} }}, {{ disable: victim }} ]
    expect: [ {{ fatal: victim, within: 4 polls }} ]
until: 14s
"
    ));
    let instances = played
        .recording
        .ticks
        .iter()
        .flat_map(|tick| tick.monitors.values());
    let not_taken = instances
        .flat_map(|instance| &instance.calls)
        .filter(|call| !call.accepted)
        .count();
    assert_eq!(not_taken, refused);
}

#[test]
fn a_monitor_that_refuses_to_start_does_not_run_until_the_world_is_healed() {
    let (_, played) = check(
        "
given: [ { metadata: missing } ]
timeline:
  - at: 0s
    expect: [ { this_poll: { exit: 1 } } ]
until: 3s
",
    );
    assert_eq!(exits(&played), [(0, Exit::Code(1))]);
    let from =
        usize::try_from(played.recording.healing_from.expect("it was healed")).expect("a tick");
    assert!(polls(&played)[..from].iter().all(|polls| *polls == 0));
    assert!(polls(&played)[from..].iter().all(|polls| *polls == 1));
}

#[test]
fn two_monitors_on_one_node_poll_one_after_the_other() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { monitor: start } ]
  - at: 8s
    do: [ { monitor: stop } ]
    expect: [ { exit: 0 } ]
until: 12s
",
    );
    assert_eq!(polls(&played)[4..9], [1, 2, 2, 2, 1]);
}

#[test]
fn a_file_that_vanished_is_back_once_the_world_is_healed() {
    let (_, played) = check(
        "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { read: device of victim/fw_ver, vanish: true } ]
  - at: 6s
    do: [ { read: victim/state, vanish: true } ]
until: 12s
",
    );
    let reads = |tick: usize| {
        let instances = played.recording.ticks[tick].monitors.values();
        instances
            .flat_map(|instance| instance.reads.iter())
            .filter(|line| line.contains("mlx5_0/ports/1/state"))
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(reads(8), Vec::<String>::new());
    let last = played.recording.ticks.len() - 1;
    assert_eq!(reads(last), reads(4));
}
