//! Storms in the process arm: the reference monitor as a process, polling as fast as it can.
//!
//! Storms and laws are those of the memory arm. `NICDRILL_STORM_POLLS` lengthens the long storm.
//! Without `/dev/fuse` the tests are skipped with a message, unless `NICDRILL_REQUIRE_FUSE=1`.

#![expect(
    clippy::print_stdout,
    reason = "it is a test program with its own list, which tells its figures"
)]

mod stale;

use std::{
    env, fs,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use harness::{
    Player as _,
    descriptors::read,
    process::{ProcessArm, ProcessOptions, Stage},
};
use memory::Played;
use observe::{Descriptor, Exit, shipped_descriptors};
use test_support::{laws, list, weather::Weather};

const TESTS: &[(&str, fn())] = &[
    (
        "a_storm_at_full_speed_grows_nothing",
        a_storm_at_full_speed_grows_nothing,
    ),
    (
        "two_hundred_kills_lose_nothing_and_repeat_nothing",
        two_hundred_kills_lose_nothing_and_repeat_nothing,
    ),
    (
        "stale_bytes_in_the_mount_alone_make_the_arms_differ",
        stale::stale_bytes_in_the_mount_alone_make_the_arms_differ,
    ),
];

fn main() -> ExitCode {
    list::run(TESTS)
}

/// The resources of a process at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Holding {
    rss_kib: u64,
    descriptors: usize,
    threads: u64,
}

/// The reference monitor, started by the command.
fn reference() -> Descriptor {
    let (_, text) = shipped_descriptors()
        .find(|(name, _)| *name == "reference.yaml")
        .expect("the reference monitor ships");
    let text = text.replace("{self}", env!("CARGO_BIN_EXE_nicdrill"));
    read("reference.yaml", &text).expect("a shipped descriptor reads")
}

/// Plays a storm with the command's own monitor; returns the recording, and the monitor's resources
/// over time.
fn play(weather: Weather) -> (Played, Vec<Holding>) {
    let story = weather.story();
    let reference = reference();
    let over = Arc::new(AtomicBool::new(false));
    let watcher = thread::spawn({
        let over = Arc::clone(&over);
        move || {
            let mut held = Vec::new();
            while !over.load(Ordering::Relaxed) {
                held.extend(child().and_then(holding));
                thread::park_timeout(Duration::from_millis(20));
            }
            held
        }
    });
    // A separate thread, because the arm gives its thread a network namespace of its own.
    let player = thread::spawn(move || {
        let stage = Stage::here().expect("there is a stage");
        let mut arm = ProcessArm::new(&stage, 0, ProcessOptions::default()).expect("an arm");
        arm.play(&story, &reference)
    });
    let played = player.join().expect("a player does not panic");
    over.store(true, Ordering::Relaxed);
    (played, watcher.join().expect("a watcher does not panic"))
}

/// The monitor: the only child of this process.
fn child() -> Option<u32> {
    let own = std::process::id();
    let tasks = fs::read_dir(format!("/proc/{own}/task")).ok()?;
    tasks.flatten().find_map(|task| {
        let children = fs::read_to_string(task.path().join("children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    })
}

fn holding(pid: u32) -> Option<Holding> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some(Holding {
        rss_kib: number("VmRSS:")?,
        descriptors: fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count(),
        threads: number("Threads:")?,
    })
}

fn lawful(weather: &Weather, played: &Played) {
    let found = laws::broken(played);
    assert!(
        found.is_empty(),
        "{weather:?} breaks {} laws:\n{}",
        found.len(),
        found[..found.len().min(10)].join("\n")
    );
}

/// The number of ports of the storm's platform.
const PORTS: usize = 18;

fn a_storm_at_full_speed_grows_nothing() {
    let polls = env::var("NICDRILL_STORM_POLLS").ok();
    let weather = Weather {
        platform: "h100-oci",
        seed: 9,
        polls: polls.and_then(|polls| polls.parse().ok()).unwrap_or(2_000),
        tick_s: 1,
        calm_polls: 12,
        kills: 0,
        checks: "state",
        restarts: false,
    };
    let (played, held) = play(weather);
    lawful(&weather, &played);
    let quarter = held.len() / 4;
    assert!(quarter > 2, "{} samples", held.len());
    // The first quarter includes the start, the last one the end.
    let most = |samples: &[Holding]| {
        samples
            .iter()
            .fold(Holding::default(), |most, one| Holding {
                rss_kib: most.rss_kib.max(one.rss_kib),
                descriptors: most.descriptors.max(one.descriptors),
                threads: most.threads.max(one.threads),
            })
    };
    let (first, last) = (most(&held[..quarter]), most(&held[held.len() - quarter..]));
    println!(
        "polls {}: first {first:?}, last {last:?}",
        played.recording.ticks.len()
    );
    // Files that are read in every poll stay open, the state of a port's interface only while the port
    // is down.
    assert!(
        last.descriptors <= first.descriptors + PORTS,
        "descriptors: {first:?}, {last:?}"
    );
    assert!(
        last.threads <= first.threads,
        "threads: {first:?}, {last:?}"
    );
    // An allocator may keep some more pages.
    assert!(
        last.rss_kib <= first.rss_kib + 512,
        "memory: {first:?}, {last:?}"
    );
}

fn two_hundred_kills_lose_nothing_and_repeat_nothing() {
    let weather = Weather {
        platform: "l40s-onprem",
        seed: 4,
        polls: 18_000,
        tick_s: 1,
        calm_polls: 40,
        kills: 900,
        checks: "state",
        restarts: true,
    };
    let (played, _) = play(weather);
    lawful(&weather, &played);
    let ticks = played.recording.ticks.iter();
    let exits = ticks.flat_map(|tick| tick.monitors.values().flat_map(|instance| &instance.exits));
    let kills = exits.filter(|exit| **exit == Exit::Signal(9)).count();
    println!("{kills} kills");
    assert!(kills >= 200, "{kills} kills came to their moment");
}
