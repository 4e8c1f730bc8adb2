//! The lockstep, tick by tick: what a poll sees, what belongs to it, and ticks without a poll.

use std::time::Instant;

use harness::{
    Player as _,
    process::{ProcessArm, ProcessOptions, Stage},
};
use observe::Broken;

use crate::{log, play, rendered, story, toy};

const PORTS: &str = "accepted: 18 ports";

fn check(timeline: &str, mode: &str, more: &str, expected: &[&str]) {
    let played = play(
        &story(timeline),
        &toy(mode, more),
        ProcessOptions::default(),
    );
    assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
    assert_eq!(rendered(&played), expected, "{:#?}", log(&played));
}

const CUT: &str =
    "timeline:\n  - at: 2s\n    do: [ { cut: victim } ]\nuntil: 3s\nheal: never\nbecause: a test\n";

pub(crate) fn a_fault_is_said_in_the_poll_that_first_sees_it() {
    check(
        CUT,
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            "1 [] []",
            "1 [accepted: mlx5_0/1 1: DOWN] []",
            "1 [] []",
        ],
    );
}

pub(crate) fn two_plays_tell_the_same() {
    let (story, toy) = (story(CUT), toy("plain", ""));
    let [one, other] = [0, 1].map(|_| play(&story, &toy, ProcessOptions::default()));
    assert_eq!(rendered(&one), rendered(&other));
    let reads = |played: &memory::Played| {
        let ticks = played.recording.ticks.iter();
        ticks
            .flat_map(|tick| tick.monitors.values())
            .map(|program| program.reads.to_lines())
            .collect::<Vec<_>>()
    };
    assert_eq!(reads(&one), reads(&other));
    assert!(
        reads(&one)[0]
            .iter()
            .any(|line| line.starts_with("list sys/class/infiniband:")),
        "{:?}",
        reads(&one)[0]
    );
}

pub(crate) fn a_hang_for_ticks_is_ticks_without_a_poll() {
    check(
        "timeline:\n  - at: 1s\n    do: [ { read: victim/state, hang: 2 ticks } ]\nuntil: 4s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            "0 [] []",
            "0 [] []",
            "1 [] []",
            "0 [] []",
        ],
    );
}

pub(crate) fn a_pause_is_ticks_without_a_poll() {
    check(
        "timeline:\n  - at: 1s\n    do: [ { monitor: pause, for: 2s } ]\nuntil: 4s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            "0 [] []",
            "0 [] []",
            "1 [] []",
            "1 [] []",
        ],
    );
}

pub(crate) fn a_restart_ends_one_and_starts_another() {
    check(
        "timeline:\n  - at: 1s\n    do: [ { monitor: restart, signal: KILL, away: 2s } ]\nuntil: 3s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            "0 [] [Signal(9)]",
            "0 [] []",
            &format!("1 [{PORTS}] []"),
        ],
    );
}

pub(crate) fn two_monitors_poll_one_after_the_other() {
    check(
        "timeline:\n  - at: 1s\n    do: [ { monitor: start } ]\n  - at: 2s\n    do: [ { cut: victim } ]\nuntil: 2s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            &format!("2 [{PORTS}] []"),
            "2 [accepted: mlx5_0/1 1: DOWN; accepted: mlx5_0/1 1: DOWN] []",
        ],
    );
}

pub(crate) fn sigterm_ends_a_monitor_at_the_gate() {
    check(
        "timeline:\n  - at: 1s\n    do: [ { monitor: restart, signal: TERM } ]\nuntil: 1s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            &format!("1 [{PORTS}] [Signal(15)]"),
        ],
    );
}

pub(crate) fn a_kill_in_mid_poll_ends_it_there() {
    check(
        "timeline:\n  - at: 1s\n    in_poll: { before: read victim/state }\n    do: [ { monitor: restart, signal: KILL } ]\nuntil: 2s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            "0 [] [Signal(9)]",
            &format!("1 [{PORTS}] []"),
        ],
    );
}

pub(crate) fn a_device_goes_between_listing_and_read() {
    check(
        "timeline:\n  - at: 1s\n    in_poll: { after: list class/infiniband, before: read victim/state }\n    do: [ { remove: device of victim } ]\nuntil: 2s\nheal: never\nbecause: a test\n",
        "plain",
        "",
        &[
            &format!("1 [{PORTS}] []"),
            "1 [accepted: mlx5_0/1 gone] []",
            "1 [] []",
        ],
    );
}

pub(crate) fn stuck_in_the_kernel_is_told_and_ends() {
    let story = story(
        "timeline:\n  - at: 1s\n    do: [ { read: victim/state, hang: 2 ticks, killable: false } ]\n  - at: 2s\n    do: [ { monitor: restart, signal: KILL } ]\nuntil: 4s\nheal: never\nbecause: a test\n",
    );
    let played = play(&story, &toy("plain", ""), ProcessOptions::default());
    assert_eq!(
        played.recording.broken,
        Some(Broken::StuckInKernel { tick: 2 })
    );
}

pub(crate) fn several_listings_make_a_poll() {
    let expected = [
        &*format!("1 [{PORTS}] []"),
        "1 [] []",
        "1 [accepted: mlx5_0/1 1: DOWN] []",
        "1 [] []",
    ];
    check(CUT, "twice", "listings_per_poll: 2\n", &expected);
}

pub(crate) fn what_is_sent_behind_a_poll_belongs_to_it() {
    let expected = [
        &*format!("1 [{PORTS}] []"),
        "1 [] []",
        "1 [accepted: mlx5_0/1 1: DOWN] []",
        "1 [] []",
    ];
    check(CUT, "behind", "drains: quiet\n", &expected);
}

pub(crate) fn two_loops_come_to_the_gate() {
    let down = "1 [accepted: mlx5_0/1 1: DOWN; accepted: mlx5_0/1 1: DOWN] []";
    let expected = [
        &*format!("1 [{PORTS}; {PORTS}] []"),
        "1 [] []",
        down,
        "1 [] []",
    ];
    check(
        CUT,
        "loops",
        "poll_unit: check\nconcurrent: true\n",
        &expected,
    );
}

pub(crate) fn a_wrapper_stands_before_the_monitor() {
    let options = ProcessOptions {
        wrap: vec!["env".to_owned(), "--".to_owned()],
        ..ProcessOptions::default()
    };
    let played = play(&story(CUT), &toy("plain", ""), options);
    assert_eq!(played.recording.broken, None);
    assert_eq!(rendered(&played)[2], "1 [accepted: mlx5_0/1 1: DOWN] []");
}

/// A ratio that depends on the machine: printed only.
pub(crate) fn drills_a_second_are_printed() {
    const DRILLS: u32 = 10;
    let story = story(&CUT.replace("until: 3s", "until: 29s"));
    let toy = toy("plain", "");
    let stage = Stage::here().unwrap();
    std::thread::spawn(move || {
        let mut arm = ProcessArm::new(&stage, 0, ProcessOptions::default()).unwrap();
        let begun = Instant::now();
        for _ in 0..DRILLS {
            assert_eq!(arm.play(&story, &toy).recording.broken, None);
        }
        println!(
            "one drill of 30 polls on one CPU: {:?}",
            begun.elapsed() / DRILLS
        );
    })
    .join()
    .unwrap();
}
