//! Random fault storms in the memory arm, checked against the laws at every poll.
//!
//! Parameters can be set for a long run: `NICDRILL_STORM_POLLS` for the length of each storm,
//! `NICDRILL_STORM_SEED` for a single seed. A violation prints the seed.

mod dark;

use std::{env, str::FromStr};

use harness::{MemoryPlayer, Player as _, descriptors::shipped};
use test_support::{laws, weather::Weather};

fn set<T: FromStr>(name: &str, usual: T) -> T {
    env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(usual)
}

/// Plays a storm and checks that no law is violated; returns how often the monitor was killed.
fn check(weather: Weather) -> usize {
    let story = weather.story();
    let reference = shipped("reference").expect("the reference monitor ships");
    let played = MemoryPlayer::default().play(&story, &reference);
    let found = laws::broken(&played);
    assert!(
        found.is_empty(),
        "{weather:?} breaks {} laws:\n{}",
        found.len(),
        found[..found.len().min(10)].join("\n")
    );
    let ticks = played.recording.ticks.iter();
    let exits = ticks.flat_map(|tick| tick.monitors.values().flat_map(|program| &program.exits));
    exits
        .filter(|exit| **exit == observe::Exit::Signal(9))
        .count()
}

const PLATFORMS: [&str; 5] = [
    "h100-oci",
    "dgx-h100",
    "a100-oci:vfs",
    "l40s-onprem",
    "gb200-nvl4",
];

#[test]
fn a_storm_breaks_no_law_on_any_platform() {
    let (polls, seed) = (
        set("NICDRILL_STORM_POLLS", 3_000),
        set("NICDRILL_STORM_SEED", 1),
    );
    for (platform, seed) in PLATFORMS.into_iter().zip(seed..) {
        check(Weather {
            platform,
            seed,
            polls,
            tick_s: 1,
            calm_polls: 12,
            kills: 0,
            checks: "state",
            restarts: true,
        });
    }
}

/// A day of polls every ten seconds; with `NICDRILL_STORM_DAYS=10` ten days.
#[test]
fn days_of_storm_break_no_law() {
    let days: u64 = set("NICDRILL_STORM_DAYS", 1);
    check(Weather {
        platform: "h100-oci",
        seed: set("NICDRILL_STORM_SEED", 7),
        polls: days * 8_640,
        tick_s: 10,
        calm_polls: 12,
        kills: 0,
        checks: "state",
        restarts: true,
    });
}

#[test]
fn two_hundred_kills_lose_nothing_and_repeat_nothing() {
    let kills = check(Weather {
        platform: "h100-oci",
        seed: set("NICDRILL_STORM_SEED", 3),
        polls: 18_000,
        tick_s: 1,
        calm_polls: 40,
        kills: 900,
        checks: "state",
        restarts: true,
    });
    assert!(kills >= 200, "{kills} kills came to their moment");
}

#[test]
fn counters_and_character_devices_keep_the_laws_in_a_storm_with_kills() {
    let seed = set("NICDRILL_STORM_SEED", 5);
    for (platform, seed) in ["dgx-h100", "l40s-onprem"].into_iter().zip(seed..) {
        check(Weather {
            platform,
            seed,
            polls: 1_500,
            tick_s: 1,
            calm_polls: 12,
            kills: 40,
            checks: "all",
            restarts: true,
        });
    }
}

/// Wrong monitors must violate the laws, otherwise the laws test nothing.
#[test]
fn wrong_monitors_break_the_laws() {
    let weather = Weather {
        platform: "h100-oci",
        seed: set("NICDRILL_STORM_SEED", 3),
        polls: 3_000,
        tick_s: 1,
        calm_polls: 12,
        kills: 100,
        checks: "state",
        restarts: true,
    };
    let story = weather.story();
    let reference = shipped("reference").expect("the reference monitor ships");
    for name in [
        "double-reporter",
        "forgetful",
        "loses-on-failed-publish",
        "deaf",
    ] {
        let mut player = MemoryPlayer {
            wrong: zoo::find(name).map(|mutant| mutant.variant),
            ..MemoryPlayer::default()
        };
        let found = laws::broken(&player.play(&story, &reference));
        assert!(!found.is_empty(), "{name} breaks no law");
    }
}
