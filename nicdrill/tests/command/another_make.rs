//! A monitor of another vendor: it passes with its descriptor, and fails without each of its required
//! features, in the drill that tests the feature.
//!
//! The program is the example `foreign_monitor` (`tests/foreign/monitor.rs`), which cargo builds before
//! it runs these tests.

use rstest::rstest;

use crate::scratch::{Scratch, can_play_processes, example};

/// The drills that apply to it: it keeps no state file and has none of the reference monitor's flags.
const DRILLS: [&str; 9] = [
    "start/baseline@h100-oci",
    "port/cable-pulled@h100-oci",
    "port/down-and-up-between-polls@h100-oci",
    "port/disabled-by-operator@h100-oci",
    "port/storm-of-flaps@h100-oci",
    "device/gone-between-listing-and-read@h100-oci",
    "device/vanishes-and-returns@h100-oci",
    "connector/refused-then-accepted@h100-oci",
    "role/default-route-port-down-is-silent@h100-oci",
];

/// An additional drill: it does not report a device that is absent for two polls.
const AWAY_FOR_TWO_POLLS: &str = "\
scenario: a device is away for two polls
why: this monitor believes its eyes at the third poll
platforms: all
let: { victim: { nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { remove: device of victim } ]
  - at: 11s
    do: [ { restore: device of victim } ]
until: 20s
";

fn descriptor(without: &str) -> String {
    format!(
        "descriptor_version: 1\n\
         name: another-make\n\
         command: [{}, --root, '{{root}}', --socket, '{{socket}}', --node, '{{node}}', --without, '{without}']\n\
         listings_per_poll: 2\n\
         drains: quiet\n\
         clock: own\n\
         promises: {{ like: reference, rows: {{ gone_device: {{ after: 2 polls }} }}, wire: {{ baselines: {{ devices: false, cards: false, counters: false }} }} }}\n",
        example("foreign_monitor").display()
    )
}

#[test]
fn a_monitor_of_another_make_passes_under_its_descriptor() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("another.yaml", &descriptor(""));
    let ran = scratch.run(
        &[
            &["run", "--monitor", "another.yaml", "--require", "process"],
            &DRILLS[..],
        ]
        .concat(),
    );
    assert_eq!(ran.code, 0, "{ran}");
    let all = DRILLS.len();
    scratch.file("own/device/away.yaml", AWAY_FOR_TWO_POLLS);
    let own = scratch.run(&[
        "run",
        "./own",
        "device/away@h100-oci",
        "--monitor",
        "another.yaml",
    ]);
    assert_eq!(own.code, 0, "{own}");
    assert!(
        ran.out.contains(&format!(
            "\n{all} drills of `another-make` (another.yaml): {all} passed, 0 failed"
        )),
        "{ran}"
    );
}

#[rstest]
#[case::debounce("debounce", "device/away@h100-oci")]
#[case::return_of_a_device("return", "device/vanishes-and-returns@h100-oci")]
#[case::recovery("recovery", "port/cable-pulled@h100-oci")]
#[case::front_door("front-door", "role/default-route-port-down-is-silent@h100-oci")]
#[case::retry("retry", "connector/refused-then-accepted@h100-oci")]
fn without_one_of_its_virtues_it_fails_by_name(#[case] without: &str, #[case] drill: &str) {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("another.yaml", &descriptor(without));
    scratch.file("own/device/away.yaml", AWAY_FOR_TWO_POLLS);
    let mut words = vec!["run", "--monitor", "another.yaml", drill];
    if without == "debounce" {
        words.push("./own");
    }
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    let failed = scratch.text("nicdrill.out/failed.txt");
    let mut lines = failed.lines();
    assert!(!failed.is_empty(), "{ran}");
    assert!(
        lines.all(|line| line.starts_with(&format!("{drill} "))),
        "{failed}"
    );
}
