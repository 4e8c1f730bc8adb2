//! A drill is recorded by the command in place of a monitor; replaying the recorded scenario gives the
//! same stream of events.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use director::Trees;
use harness::{
    Player as _,
    descriptors::{read, shipped},
    process::{ProcessArm, ProcessOptions, Stage},
    sandbox::Sandbox,
};
use memory::{Played, play_in_memory};
use observe::platform_connector;
use platforms::{NodeName, Platform, Platforms};
use rstest::rstest;
use scenarios::Story;

use crate::{
    captured::gone,
    scratch::{NICDRILL, Ran, Scratch, can_play_processes},
};

/// The node's name does not matter to a story of one node, but to its events.
const NODE: &str = "node-a";

fn story(text: &str, platform: &Platform) -> Story {
    let scenario = scenarios::read("recorded/story.yaml", text);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let rendered = scenario.in_world(&NodeName::from(NODE), platform);
    rendered.unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// Plays a story with the recorder as monitor; returns the recorded file.
fn recorded(story: &Story, platform: &str, scratch: &Scratch) -> String {
    let out = scratch.path("incident.yaml");
    let text = format!(
        "descriptor_version: 1\nname: recorder\nclock: file\n\
         command: [{NICDRILL}, record, --root, '{{root}}', --platform, '{platform}', --clock-path, '{{root}}/nicdrill/clock', --read-limit, 10m, --out, '{}']\n",
        out.display()
    );
    let descriptor = read("recorder.yaml", &text).expect("a descriptor");
    let story = story.clone();
    // A separate thread, because the arm gives its thread a network namespace of its own.
    let player = thread::spawn(move || {
        let stage = Stage::here().expect("a stage");
        // A wrapped program is ended by SIGTERM, and has time to write its file.
        let options = ProcessOptions {
            wrap: vec!["env".to_owned()],
            ..ProcessOptions::default()
        };
        let mut arm = ProcessArm::new(&stage, 0, options).expect("an arm");
        arm.play(&story, &descriptor)
    });
    let played = player.join().expect("the arm plays");
    assert_eq!(played.recording.broken, None, "{}", log(&played));
    fs::read_to_string(&out).unwrap_or_else(|error| panic!("{error}\n{}", log(&played)))
}

fn log(played: &Played) -> String {
    let ticks = played.recording.ticks.iter();
    let lines = ticks
        .flat_map(|tick| tick.monitors.values())
        .flat_map(|instance| instance.log.clone());
    lines.collect::<Vec<_>>().join("\n")
}

/// The reference monitor's events of a story until it is healed, line by line.
fn stream(story: &Story, ticks: usize) -> Vec<String> {
    let reference = shipped("reference").expect("it ships");
    let played = play_in_memory(story, &reference, None, &mut Trees::default());
    let healing = played.recording.healing_from.map_or(usize::MAX, |tick| {
        usize::try_from(tick).expect("there are few ticks")
    });
    let ticks = played.recording.ticks.iter().take(healing.min(ticks));
    let mut lines = Vec::new();
    for tick in ticks {
        for call in tick.monitors.values().flat_map(|instance| &instance.calls) {
            lines.extend(
                platform_connector::batch(call)
                    .events
                    .iter()
                    .map(|event| format!("{} {event:?}", tick.at_ns)),
            );
        }
    }
    lines
}

#[rstest]
#[case::flaps("h100-oci", "{ flap: victim, times: 3, down: 3s, up: 7s }", "40s")]
#[case::cable_out_and_in("dgx-h100", "{ cut: victim }, { mend: victim }", "30s")]
#[case::down_for_good("gb200-nvl4", "{ disable: victim }", "20s")]
#[case::gone_and_back(
    "h100-oci",
    "{ remove: device of victim }, { restore: device of victim }",
    "30s"
)]
#[case::firmware_reset("dgx-a100", "{ firmware_reset: device of victim, takes: 10s }", "30s")]
#[case::driver_reload("l40s-onprem", "{ driver: unload }, { driver: load }", "30s")]
#[case::renamed(
    "h100-oci",
    "{ rename: device of victim, to: mlx5_42 }, { disable: victim }",
    "30s"
)]
#[case::counters(
    "dgx-h100",
    "{ counter: victim, name: link_downed, add: 1 }, { counter: victim, name: symbol_error, per_second: 20 }",
    "30s"
)]
#[case::counter_that_cannot_be_read(
    "h100-oci",
    "{ counter: victim, name: symbol_error, fails: EIO }",
    "30s"
)]
#[case::operstate(
    "h100-oci",
    "{ operstate: victim, to: lowerlayerdown }, { interface: victim, to: down }",
    "30s"
)]
#[case::stuck("dgx-h100", "{ stick: victim, in: init }, { mend: victim }", "60s")]
#[case::unreadable(
    "dgx-h100",
    "{ read: victim/state, fail: EIO, for: 5s }, { list: class/infiniband, fail: EACCES, for: 3s }",
    "30s"
)]
#[case::nothing("l40-onprem", "", "10s")]
fn what_was_recorded_tells_the_same_again(
    #[case] on: &str,
    #[case] actions: &str,
    #[case] until: &str,
) {
    if !can_play_processes() {
        return;
    }
    let mut text = "scenario: a test\nwhy: a test\nplatforms: all\nchecks: all\nheal: never\nbecause: it is recorded\nlet: { victim: { role: compute, nth: 2 } }\ntimeline:\n  - at: 0s\n    expect: [ baseline ]\n".to_owned();
    // Each action at a time of its own, between polls.
    let actions = actions.split("}, ").filter(|action| !action.is_empty());
    for (nth, action) in actions.enumerate() {
        let action = action.trim_end_matches(" }");
        text += &format!(
            "  - at: {}ms\n    do: [ {action} }} ]\n",
            4_400 + 10_300 * nth
        );
    }
    text += &format!("until: {until}\n");
    let platforms = Platforms::shipped();
    let platform = platforms.get(on).expect("it ships");
    let before = story(&text, platform);
    let scratch = Scratch::new();
    let incident = recorded(&before, on, &scratch);
    let again = story(&incident, platform);
    // The last poll may end while the recorder takes its snapshot.
    let ticks = usize::try_from(again.until.as_ns() / 1_000_000_000).expect("few ticks");
    assert!(
        ticks + 3
            > until
                .trim_end_matches('s')
                .parse::<usize>()
                .expect("a number"),
        "{incident}"
    );
    let (before, after) = (stream(&before, ticks), stream(&again, ticks));
    assert!(!before.is_empty());
    assert_eq!(before, after, "\n{incident}");
    assert!(!incident.contains("Not in this story"), "{incident}");
    scratch.file("recorded/incident.yaml", &incident);
    let ran = scratch.run(&["run", "./recorded", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}\n{incident}");
}

/// A folder that stands in for a live node of this platform.
fn live(scratch: &Scratch, platform: &str) -> (Sandbox, PathBuf) {
    let root = scratch.path("root");
    fs::create_dir(&root).expect("a folder");
    let platforms = Platforms::shipped();
    let platform = platforms.get(platform).expect("it ships");
    (Sandbox::mount(platform, &root).expect("a mount"), root)
}

/// Records the live node for three snapshots, as a node of this platform.
fn record(scratch: &Scratch, platform: &str) -> Ran {
    let how = ["--for", "300ms", "--every", "100ms", "--read-limit", "10m"];
    let whom = ["record", "--root", "root", "--platform", platform];
    scratch.run(&[whom.as_slice(), &how].concat())
}

/// A node of another platform is rejected with the difference.
#[test]
fn what_no_action_can_state_is_reported() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let (sandbox, root) = live(&scratch, "h100-oci:vfs");
    let ran = record(&scratch, "h100-oci");
    gone(sandbox, &root);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err
            .contains("the node is not `h100-oci`: `mlx5_18` is at "),
        "{ran}"
    );
    assert!(!Path::new(&scratch.path("incident.yaml")).exists());
}

#[test]
fn a_live_node_is_recorded_by_the_clock() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let (mut sandbox, root) = live(&scratch, "l40-onprem");
    sandbox.command("disable: mlx5_0").expect("it is done");
    let ran = record(&scratch, "l40-onprem");
    assert_eq!(ran.code, 0, "{ran}");
    let again = record(&scratch, "l40-onprem");
    gone(sandbox, &root);
    let incident = scratch.text("incident.yaml");
    let seen = "  - { set: mlx5_0, state: DOWN, phys_state: \"Disabled\" }\n";
    assert!(incident.contains(seen), "{incident}");
    // Whole polls: more than one if the machine was busy.
    let until = incident
        .lines()
        .find_map(|line| line.strip_prefix("until: "));
    let polls: Option<u32> = until.and_then(|until| until.strip_suffix('s')?.parse().ok());
    assert!(polls.is_some_and(|polls| polls > 0), "{incident}");
    assert_eq!(again.code, 2, "{again}");
    assert!(
        again.err.contains("`incident.yaml` already exists"),
        "{again}"
    );
}
