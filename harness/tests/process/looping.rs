//! Monitors of several loops, and monitors that end in their own time.

use std::time::{Duration, Instant};

use harness::process::ProcessOptions;
use observe::Broken;
use scenarios::Story;

use crate::{log, play, rendered, story, toy};

const CUT: &str =
    "timeline:\n  - at: 2s\n    do: [ { cut: victim } ]\nuntil: 4s\nheal: never\nbecause: a test\n";

const RESTART: &str = "timeline:\n  - at: 1s\n    do: [ { cut: victim }, { monitor: restart, signal: TERM, away: 1s } ]\nuntil: 1s\nheal: never\nbecause: a test\n";

fn loops(interval: &str) -> String {
    format!(
        "loops:\n\
         - checks: [ InfiniBandStateCheck, EthernetStateCheck, InfiniBandCharDeviceCheck ]\n\
         - checks: [ InfiniBandDegradationCheck, EthernetDegradationCheck ]\n  listings: 2\n{interval}"
    )
}

fn with_all_checks(timeline: &str) -> Story {
    Story {
        checks: scenarios::ChecksRun::All,
        ..story(timeline)
    }
}

fn check(story: &Story, mode: &str, more: &str, expected: &[&str]) {
    let played = play(story, &toy(mode, more), ProcessOptions::default());
    assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
    assert_eq!(rendered(&played), expected, "{:#?}", log(&played));
}

pub(crate) fn loops_poll_in_the_descriptors_order_whichever_came_first() {
    let story = with_all_checks(CUT);
    let expected = [
        "1 [accepted: 18 ports; accepted: 18 ports] []",
        "1 [] []",
        "1 [accepted: mlx5_0/1 1: DOWN; accepted: mlx5_0/1 1] []",
        "1 [] []",
        "1 [] []",
    ];
    for mode in ["states-and-counters", "counters-first"] {
        let played = play(&story, &toy(mode, &loops("")), ProcessOptions::default());
        assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
        assert_eq!(rendered(&played), expected, "{mode}");
        for tick in &played.recording.ticks {
            for monitor in tick.monitors.values() {
                let checks = monitor.calls.iter().flat_map(|call| &call.observations);
                let checks: Vec<_> = checks.filter_map(|said| said.check.as_deref()).collect();
                assert!(
                    checks.is_sorted_by_key(|check| check.contains("Degradation")),
                    "{mode}: {checks:?}"
                );
                let reads = monitor
                    .reads
                    .iter()
                    .filter(|read| read.starts_with("read "));
                let reads: Vec<bool> = reads.map(|read| read.contains("/counters/")).collect();
                assert!(reads.is_sorted(), "{mode}: the states come first");
                let listings = monitor.reads.iter();
                let listings =
                    listings.filter(|read| read.starts_with("list sys/class/infiniband:"));
                assert_eq!(listings.count(), 3, "{mode}");
            }
        }
    }
}

pub(crate) fn a_loop_polls_at_its_interval() {
    let expected = [
        "1 [accepted: 18 ports; accepted: 18 ports] []",
        "1 [] []",
        "1 [accepted: mlx5_0/1 1: DOWN] []",
        "1 [accepted: mlx5_0/1 1] []",
        "1 [] []",
    ];
    let more = loops("  interval: 3s\n");
    check(
        &with_all_checks(CUT),
        "states-and-counters",
        &more,
        &expected,
    );
}

/// A loop that sleeps for a second of real time is waited for when it is due, and only then.
pub(crate) fn a_loop_that_real_time_paces_does_not_slow_the_others() {
    let story = with_all_checks(CUT);
    let polls = |interval: &str, expected: [&str; 5]| {
        let more = loops(&format!("  real_interval: 1s\n  interval: {interval}\n"));
        let begun = Instant::now();
        check(&story, "paced", &more, &expected);
        begun.elapsed()
    };
    let first = "1 [accepted: 18 ports; accepted: 18 ports] []";
    let down = "1 [accepted: mlx5_0/1 1: DOWN] []";
    let nothing = "1 [] []";
    let twice = [first, nothing, down, "1 [accepted: mlx5_0/1 1] []", nothing];
    polls("3s", twice);
    let once = polls("1h", [first, nothing, down, nothing, nothing]);
    let both = "1 [accepted: mlx5_0/1 1: DOWN; accepted: mlx5_0/1 1] []";
    let always = polls("1s", [first, nothing, both, nothing, nothing]);
    assert!(once < always, "{once:?} {always:?}");
}

/// What is left when healing begins must be cleared in a few ticks, whatever the intervals are.
pub(crate) fn every_loop_polls_in_each_tick_while_the_world_heals() {
    let heals = "timeline:\n  - at: 1s\n    do: [ { cut: victim } ]\nuntil: 2s\n";
    let more = loops("  interval: 1h\n");
    let played = play(
        &with_all_checks(heals),
        &toy("states-and-counters", &more),
        ProcessOptions::default(),
    );
    assert_eq!(played.recording.broken, None, "{:#?}", log(&played));
    let counted = |tick: usize| {
        let monitors = &played.recording.ticks[tick].monitors;
        let mut reads = monitors.values().flat_map(|monitor| monitor.reads.iter());
        reads.any(|read| read.contains("/counters/"))
    };
    let from = usize::try_from(played.recording.healing_from.unwrap()).unwrap();
    assert!(counted(0));
    assert!((1..from).all(|tick| !counted(tick)));
    assert!((from..played.recording.ticks.len()).all(counted));
}

/// The toy runs its state loop alone here, as a monitor does whose other checks are off.
pub(crate) fn a_loop_whose_checks_do_not_run_is_not_awaited() {
    let expected = [
        "1 [accepted: 18 ports] []",
        "1 [] []",
        "1 [accepted: mlx5_0/1 1: DOWN] []",
        "1 [] []",
        "1 [] []",
    ];
    check(&story(CUT), "plain", &loops(""), &expected);
}

pub(crate) fn loops_that_do_the_same_are_refused() {
    let descriptor = toy("states-of-both", &loops(""));
    let played = play(
        &with_all_checks(CUT),
        &descriptor,
        ProcessOptions::default(),
    );
    let Some(Broken::Stage { cause }) = played.recording.broken else {
        panic!("{:?}", played.recording.broken);
    };
    assert!(
        cause.starts_with("nothing tells which of the monitor's loops polled"),
        "{cause}"
    );
}

/// The limit of a wait is 10 s; the descriptor allows half a second in all.
pub(crate) fn a_drill_waits_no_longer_than_its_descriptor_allows() {
    let descriptor = toy("hang", "real_time: { at_most: 500ms }\n");
    let played = play(&story(CUT), &descriptor, ProcessOptions::default());
    let Some(Broken::Hung { waiting_for, .. }) = played.recording.broken else {
        panic!("{:?}", played.recording.broken);
    };
    let told =
        "the drill has waited for more than 500 ms of real time, which is what `real_time` allows";
    assert!(waiting_for.contains(told), "{waiting_for}");
}

pub(crate) fn a_loop_that_never_comes_is_told() {
    let options = ProcessOptions {
        limit: Duration::from_secs(1),
        ..ProcessOptions::default()
    };
    let played = play(&with_all_checks(CUT), &toy("plain", &loops("")), options);
    let Some(Broken::Hung {
        tick: 0,
        waiting_for,
    }) = played.recording.broken
    else {
        panic!("{:?}", played.recording.broken);
    };
    assert!(
        waiting_for.ends_with("(1 of its 2 loops are at the gate)"),
        "{waiting_for}"
    );
}

pub(crate) fn a_read_that_hangs_in_one_loop_holds_the_others() {
    let hang = "timeline:\n  - at: 1s\n    do: [ { read: victim/state, hang: 2 ticks } ]\nuntil: 4s\nheal: never\nbecause: a test\n";
    let expected = [
        "1 [accepted: 18 ports; accepted: 18 ports] []",
        "0 [] []",
        "0 [] []",
        "1 [] []",
        "0 [] []",
    ];
    check(
        &with_all_checks(hang),
        "states-and-counters",
        &loops(""),
        &expected,
    );
}

pub(crate) fn a_monitor_that_ends_with_its_poll_is_let_go() {
    let begun = Instant::now();
    let expected = [
        "1 [accepted: 18 ports] []",
        "0 [accepted: mlx5_0/1 1: DOWN] [Code(0)]",
        "1 [accepted: 18 ports] []",
    ];
    check(&story(RESTART), "last-poll", "", &expected);
    assert!(begun.elapsed() < ProcessOptions::default().limit);
}

pub(crate) fn the_last_word_of_a_monitor_is_heard() {
    let expected = [
        "1 [accepted: 18 ports] []",
        "0 [accepted: mlx5_0/1 1: DOWN; accepted: goodbye] [Code(0)]",
        "1 [accepted: 18 ports] []",
    ];
    check(&story(RESTART), "last-word", "", &expected);
}

pub(crate) fn a_monitor_that_does_not_end_is_hung() {
    let options = ProcessOptions {
        limit: Duration::from_secs(1),
        ..ProcessOptions::default()
    };
    let played = play(&story(RESTART), &toy("stubborn", ""), options);
    let waiting_for = "its end after SIGTERM".to_owned();
    assert_eq!(
        played.recording.broken,
        Some(Broken::Hung {
            tick: 1,
            waiting_for
        })
    );
}
