//! Detects whether a process is at rest, for monitors that publish in the background after a poll.
//!
//! The kernel counts for each thread how often it left its CPU. A sleeping thread whose count does
//! not change has not run.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use rustix::process::Pid;

/// The names of the two counts (`proc_pid_status(5)`).
const SLEEPS: &str = "voluntary_ctxt_switches:";
const PREEMPTIONS: &str = "nonvoluntary_ctxt_switches:";

/// The pause between two looks.
const LOOK: Duration = Duration::from_micros(50);

/// Activity of the threads of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stir {
    switches: u64,
    /// Whether a thread runs, or is ready to run.
    pub(super) runs: bool,
}

/// Reads the state of every thread of a process.
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

/// How many threads for each CPU are ready to run on a busy machine, at least. Chosen: more than a run with a job for each
/// CPU has by itself.
const BUSY: usize = 3;

/// Whether far more threads of the machine are ready to run than there are CPUs, so that each gets a small part of one.
pub(super) fn is_busy(cpus: usize) -> bool {
    // The fourth field is `READY/ALL`, in numbers of threads (`proc_loadavg(5)`).
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let threads = load
        .split(' ')
        .nth(3)
        .and_then(|field| field.split('/').next());
    let ready: usize = threads.and_then(|ready| ready.parse().ok()).unwrap_or(0);
    ready > BUSY * cpus
}

/// How often a thread went to sleep so far; `None` if it has ended.
pub(super) fn sleeps_of(tid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    count(&status, SLEEPS)
}

/// Waits until a thread that slept at `before` has run and sleeps again, or has ended; `false` if
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
