//! Drills and polls per second in the process arm, with mounts, processes and sockets; and what the pid namespace of the monitors
//! costs a drill.
//!
//! Thirty-poll stories with the state checks on a platform with 18 NICs, for one job and two.
//! Prints one line for each; asserts nothing, because machines differ. `cargo bench -p nicdrill
//! --bench drills`. The program plays the drills of the last lines itself, so it is started a second time, on a stage of its own.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{
    fs,
    process::{Command, ExitCode},
    thread,
    time::{Duration, Instant},
};

use harness::{
    Player as _,
    descriptors::shipped,
    process::{Entered, ProcessArm, ProcessOptions, Stage, enter, is_inner, trial},
};
use platforms::{NodeName, Platforms};
use scenarios::Story;

/// Stories in one run.
const STORIES: u32 = 40;
/// Polls of each: ticks 0 to 26, and three after healing.
const POLLS: u32 = 30;
/// Pairs of jobs, one with the pid namespace and one without.
const PAIRS: usize = 40;
/// Drills of each job that are measured, after one that is not.
const DRILLS: u32 = 5;

fn main() -> ExitCode {
    if let Some(code) = trial() {
        return code;
    }
    // Afterwards the outer process can start nothing any more: the pid namespace of what it starts has ended.
    if !is_inner() {
        throughput();
    }
    match enter(false) {
        Ok(Entered::Inside(stage)) => {
            pid_namespace(&stage);
            ExitCode::SUCCESS
        }
        Ok(Entered::Outside(code)) => ExitCode::from(code),
        Err(reason) => {
            println!("no process arm: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn story(number: u32) -> String {
    format!(
        "scenario: thirty polls, number {number}\nwhy: to be timed\nplatforms: {{ names: [ h100-oci ] }}\n\
         let: {{ victim: {{ role: compute, nth: 1 }} }}\n\
         timeline:\n  - at: 10s\n    do: [ {{ cut: victim }} ]\n    expect: [ {{ fatal: victim }} ]\n\
         \x20 - at: 15s\n    do: [ {{ mend: victim }} ]\n    expect: [ {{ healthy: victim }} ]\nuntil: 26s\n"
    )
}

/// Whole runs by the command.
fn throughput() {
    let scratch = tempfile::tempdir().expect("a folder");
    let suite = scratch.path().join("suite/bench");
    fs::create_dir_all(&suite).expect("a folder");
    for number in 0..STORIES {
        let file = suite.join(format!("thirty-polls-{number:02}.yaml"));
        fs::write(file, story(number)).expect("a file");
    }
    for jobs in [1, 2] {
        let start = Instant::now();
        let ran = Command::new(env!("CARGO_BIN_EXE_nicdrill"))
            .current_dir(scratch.path())
            .args([
                "run",
                "suite",
                "--monitor",
                "reference",
                "--arm",
                "process",
                "--jobs",
                &jobs.to_string(),
            ])
            .output()
            .expect("the command starts");
        let took = start.elapsed().as_secs_f64();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stdout)
        );
        println!(
            "{jobs} jobs: {:.1} drills/s, {:.0} polls/s ({STORIES} drills in {took:.2} s, probe and start included)",
            f64::from(STORIES) / took,
            f64::from(STORIES * POLLS) / took,
        );
    }
}

/// What a job took.
struct Took {
    /// Until its first drill could begin.
    start: Duration,
    /// Its drills, each in the mean.
    drill: Duration,
}

/// A part of what a job took.
type Part = fn(&Took) -> Duration;

/// Jobs with the pid namespace of their monitors and without it, in pairs whose order changes, so that whatever else the machine
/// does meets both.
fn pid_namespace(stage: &Stage) {
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("the platform ships");
    let scenario = scenarios::read("bench/thirty-polls.yaml", &story(0)).expect("a scenario");
    let story = scenario
        .in_world(&NodeName::from("node-a"), platform)
        .expect("it has compute cards");
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let order = [pair % 2 == 0, pair % 2 == 1];
        for own_pids in order {
            let took = job(stage, &story, own_pids);
            let jobs = if own_pids { &mut with } else { &mut without };
            jobs.push(took);
        }
    }
    let ms =
        |took: &[Took], of: Part| median(took.iter().map(|took| of(took).as_secs_f64() * 1000.0));
    let ratio = |of: Part| {
        let pairs = with.iter().zip(&without);
        median(pairs.map(|(with, without)| of(with).as_secs_f64() / of(without).as_secs_f64()))
    };
    let parts: [(&str, Part); 2] = [
        ("a drill", |took| took.drill),
        ("the start of a job", |took| took.start),
    ];
    for (what, of) in parts {
        println!(
            "pid namespace, {what}: {:.2} ms with it, {:.2} ms without; of a pair {:.3} (medians of {PAIRS} pairs, {DRILLS} drills each)",
            ms(&with, of),
            ms(&without, of),
            ratio(of),
        );
    }
}

/// A job of its own, on a thread of its own: the thread keeps the job's network.
fn job(stage: &Stage, story: &Story, own_pids: bool) -> Took {
    let play = || {
        let mut reference = shipped("reference").expect("the reference monitor ships");
        for word in &mut reference.command {
            *word = word.replace("{self}", env!("CARGO_BIN_EXE_nicdrill"));
        }
        let begun = Instant::now();
        let options = ProcessOptions {
            own_pids,
            ..ProcessOptions::default()
        };
        let mut arm = ProcessArm::new(stage, 0, options).expect("an arm");
        let start = begun.elapsed();
        let mut drill = || {
            let played = arm.play(story, &reference);
            assert_eq!(played.recording.broken, None);
        };
        drill();
        let begun = Instant::now();
        for _ in 0..DRILLS {
            drill();
        }
        Took {
            start,
            drill: begun.elapsed() / DRILLS,
        }
    };
    thread::scope(|scope| scope.spawn(play).join()).expect("it does not panic")
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
