//! Drills and polls per second in the process arm, with mounts, processes and sockets.
//!
//! Thirty-poll stories with the state checks on a platform with 18 NICs, for one job and two.
//! Prints one line for each; asserts nothing, because machines differ. `cargo bench -p nicdrill
//! --bench drills`.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::{fs, process::Command, time::Instant};

/// Stories in one run.
const STORIES: u32 = 40;
/// Polls of each: ticks 0 to 26, and three after healing.
const POLLS: u32 = 30;

fn main() {
    let scratch = tempfile::tempdir().expect("a folder");
    let suite = scratch.path().join("suite/bench");
    fs::create_dir_all(&suite).expect("a folder");
    for number in 0..STORIES {
        let story = format!(
            "scenario: thirty polls, number {number}\nwhy: to be timed\nplatforms: {{ names: [ h100-oci ] }}\n\
             let: {{ victim: {{ role: compute, nth: 1 }} }}\n\
             timeline:\n  - at: 10s\n    do: [ {{ cut: victim }} ]\n    expect: [ {{ fatal: victim }} ]\n\
             \x20 - at: 15s\n    do: [ {{ mend: victim }} ]\n    expect: [ {{ healthy: victim }} ]\nuntil: 26s\n"
        );
        fs::write(suite.join(format!("thirty-polls-{number:02}.yaml")), story).expect("a file");
    }
    for jobs in [1, 2] {
        let start = Instant::now();
        let ran = Command::new(env!("CARGO_BIN_EXE_nicdrill"))
            .current_dir(scratch.path())
            .args([
                "run",
                "suite",
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
