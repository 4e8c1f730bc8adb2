//! Monitors that use up more than a drill allows, and machines that stall.

use std::{thread, time::Duration};

use harness::{
    Player as _,
    process::{ProcessArm, ProcessOptions, Stage},
};
use observe::Broken;

use crate::{log, play, story, toy};

const REST: &str =
    "timeline:\n  - at: 2s\n    do: [ { cut: victim } ]\nuntil: 3s\nheal: never\nbecause: a test\n";

/// The usual time without progress.
const USUAL: Duration = Duration::from_secs(10);

#[track_caller]
fn check(mode: &str, limit: Duration, expected: &str) {
    let options = ProcessOptions {
        limit,
        ..ProcessOptions::default()
    };
    check_with(mode, options, expected);
}

#[track_caller]
fn check_with(mode: &str, options: ProcessOptions, expected: &str) {
    let played = play(&story(REST), &toy(mode, ""), options);
    let Some(Broken::Excess { tick: 0, what }) = &played.recording.broken else {
        panic!("{:?}", played.recording.broken);
    };
    assert_eq!(what, expected);
}

pub(crate) fn a_monitor_that_always_makes_progress_ends_with_its_poll() {
    check(
        "dripping",
        Duration::from_secs(1),
        "a poll took more than 6 s",
    );
}

/// The descriptor allows a minute while the connector refuses, and none without its socket.
pub(crate) fn a_monitor_that_waits_for_a_missing_socket_in_its_poll_is_stopped() {
    let story = story(
        "timeline:\n  - at: 1s\n    do: [ { connector: absent }, { cut: victim } ]\n  - at: 4s\n    do: [ { connector: accept } ]\nuntil: 5s\nheal: never\nbecause: a test\n",
    );
    let waiting = toy(
        "waiting",
        "real_time: { backoff: 1m, missing_socket: 0s }\n",
    );
    let options = ProcessOptions {
        limit: Duration::from_secs(1),
        ..ProcessOptions::default()
    };
    let played = play(&story, &waiting, options);
    let expected = "a poll took more than 1 s while the connector's socket was missing";
    let broken = played.recording.broken;
    assert!(
        matches!(&broken, Some(Broken::Excess { tick: 1 | 2, what }) if what == expected),
        "{broken:?}"
    );
}

pub(crate) fn a_drill_ends_at_the_limit_that_is_set_for_it() {
    let options = ProcessOptions {
        drill_limit: Some(Duration::from_millis(300)),
        ..ProcessOptions::default()
    };
    let told = "the drill took more than its limit of 300ms";
    check_with("dripping", options, told);
}

pub(crate) fn a_monitor_that_calls_without_end_is_stopped() {
    check("calling", USUAL, "it made more than 10000 calls in a poll");
}

pub(crate) fn a_monitor_that_opens_thousands_of_files_is_stopped() {
    check(
        "opening",
        USUAL,
        "it has more than 4096 files of its tree open",
    );
}

pub(crate) fn a_monitor_that_keeps_a_hundred_connections_open_is_stopped() {
    check(
        "connecting",
        USUAL,
        "it has more than 100 connections to its socket open",
    );
}

pub(crate) fn a_monitor_that_reports_events_without_end_is_stopped() {
    check(
        "flooding",
        USUAL,
        "it reported more than 100000 events in a poll",
    );
}

pub(crate) fn output_without_end_is_kept_within_bounds() {
    let played = play(
        &story(REST),
        &toy("babbling", ""),
        ProcessOptions::default(),
    );
    assert_eq!(played.recording.broken, None);
    let log = log(&played);
    let kept: usize = log.iter().map(String::len).sum();
    assert!(kept < 4 * 1024 * 1024, "{kept}");
    let told = |line: &String| line.contains("bytes of its output are left out here");
    assert!(log.iter().any(told));
}

pub(crate) fn a_signal_that_stops_the_monitor_for_a_while_is_a_stall() {
    let story = story(REST);
    let stage = Stage::here().unwrap();
    let stalls = thread::spawn(move || {
        let mut arm = ProcessArm::new(&stage, 0, ProcessOptions::default()).unwrap();
        let calm = (arm.play(&story, &toy("plain", "")), arm.stall()).1;
        let stopped = (arm.play(&story, &toy("stopped", "")), arm.stall()).1;
        (calm, stopped)
    });
    let (calm, stopped) = stalls.join().unwrap();
    assert_eq!(calm, None);
    let stopped = stopped.expect("it was stopped");
    assert!(
        stopped.starts_with("a signal had stopped the monitor for "),
        "{stopped}"
    );
}

/// It was stopped for a while, and then ran for far more than half of the time that it may be without progress.
pub(crate) fn a_monitor_that_had_its_time_on_a_cpu_has_not_stalled() {
    let story = story(REST);
    let stage = Stage::here().unwrap();
    let options = ProcessOptions {
        limit: Duration::from_secs(4),
        pin: false,
        ..ProcessOptions::default()
    };
    let spins = thread::spawn(move || {
        let mut arm = ProcessArm::new(&stage, 0, options).unwrap();
        let played = arm.play(&story, &toy("stopped-spinning", ""));
        (played.recording.broken, arm.stall())
    });
    let (broken, stall) = spins.join().unwrap();
    // On a machine that others keep busy, it has until the end of its poll.
    let is_ended = matches!(broken, Some(Broken::Hung { .. } | Broken::Excess { .. }));
    assert!(is_ended, "{broken:?}");
    assert_eq!(stall, None);
}
