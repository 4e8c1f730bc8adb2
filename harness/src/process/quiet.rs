//! Whether a process is at rest: what a player looks at where a monitor works behind its polls.
//!
//! The kernel counts for each thread how often it was taken off its CPU. A thread that sleeps and
//! whose count stands still has not run.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use nix::unistd::Pid;

/// The names of the two counts (`proc_pid_status(5)`).
const SLEEPS: &str = "voluntary_ctxt_switches:";
const PREEMPTIONS: &str = "nonvoluntary_ctxt_switches:";

/// How long to look away from it.
const LOOK: Duration = Duration::from_micros(50);

/// What the threads of a process have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stir {
    switches: u64,
    /// A thread runs, or would if it had a CPU.
    pub(super) runs: bool,
}

/// Looks at every thread of a process.
pub(super) fn stir(pid: Pid) -> Stir {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Stir::default();
    };
    let mut all = Stir::default();
    for thread in threads.flatten() {
        if let Ok(status) = fs::read_to_string(thread.path().join("status")) {
            all.switches += count(&status, SLEEPS).unwrap_or_default();
            all.switches += count(&status, PREEMPTIONS).unwrap_or_default();
            all.runs |= field(&status, "State:").is_some_and(|state| state.starts_with('R'));
        }
    }
    all
}

/// How often a thread went to sleep so far; `None` once it has gone.
pub(super) fn sleeps_of(tid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    count(&status, SLEEPS)
}

/// Waits until a thread that slept at `before` has run and sleeps again, or has gone; `false` if
/// that takes longer than the limit.
pub(super) fn await_next_sleep(tid: u32, before: Option<u64>, limit: Duration) -> bool {
    let begun = Instant::now();
    while before.is_some() && sleeps_of(tid) == before {
        if begun.elapsed() >= limit {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

fn count(status: &str, name: &str) -> Option<u64> {
    field(status, name)?.parse().ok()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}
