//! Whether a process stands still against its will, by what the kernel tells of its threads.

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use super::{STALL, told};

/// What was seen of a process so far.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Since when a signal has it stopped.
    stopped_since: Option<Instant>,
    /// The threads that were ready to run at the last look.
    ready: BTreeMap<String, Ready>,
}

/// A thread that is ready to run, or runs.
#[derive(Debug)]
struct Ready {
    since: Instant,
    /// How long it has run, in nanoseconds.
    ran_ns: u64,
    /// How long all threads of its process had run then, in nanoseconds.
    all_ran_ns: u64,
}

/// A thread as the kernel shows it.
struct Thread {
    id: String,
    state: char,
    ran_ns: u64,
}

impl Standing {
    /// What was seen is out of date.
    pub(super) fn forget(&mut self) {
        self.ready.clear();
    }

    /// Looks once: `None` if the process has ended; else what has stood still, if something has.
    ///
    /// A stop counts once it is over: one that lasts is the monitor's own affair, or ends with the drill. A thread that
    /// waits for a CPU which other threads of its process use does not count.
    pub(super) fn look(&mut self, pid: i32, now: Instant) -> Option<Option<String>> {
        let threads = threads(pid)?;
        let first = threads.first()?;
        if ['Z', 'X'].contains(&first.state) {
            return None;
        }
        // Linux shows a process that a signal has stopped as `T` (`proc_pid_stat(5)`).
        if first.state == 'T' {
            self.stopped_since.get_or_insert(now);
            self.forget();
            return Some(None);
        }
        let stopped = self.stopped_since.take();
        let mut found = stopped.map(|since| {
            format!(
                "a signal had stopped the monitor for {}",
                told(now.saturating_duration_since(since))
            )
        });
        let all_ran_ns = threads.iter().map(|thread| thread.ran_ns).sum();
        let mut before = std::mem::take(&mut self.ready);
        for thread in threads.into_iter().filter(|thread| thread.state == 'R') {
            let same = before.remove(&thread.id);
            let same = same.filter(|ready| ready.ran_ns == thread.ran_ns);
            let ready = same.unwrap_or(Ready {
                since: now,
                ran_ns: thread.ran_ns,
                all_ran_ns,
            });
            let waits = now.saturating_duration_since(ready.since);
            let others = Duration::from_nanos(all_ran_ns.saturating_sub(ready.all_ran_ns));
            if waits >= STALL && others < waits / 2 {
                found.get_or_insert_with(|| {
                    format!("the monitor waited for a CPU for {}", told(waits))
                });
            }
            self.ready.insert(thread.id, ready);
        }
        Some(found)
    }
}

/// The threads of a process, its first one first; `None` if it has ended.
fn threads(pid: i32) -> Option<Vec<Thread>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut threads: Vec<Thread> = tasks
        .flatten()
        .filter_map(|task| {
            let path = task.path();
            let stat = fs::read_to_string(path.join("stat")).ok()?;
            // The name of a program may have any character (`proc_pid_stat(5)`).
            let (_, fields) = stat.rsplit_once(')')?;
            let state = fields.trim_start().chars().next()?;
            // Time on a CPU in nanoseconds is the first number. Without it (`CONFIG_SCHED_INFO`) every ready thread
            // seems to wait, and the kernels that can serve a mount all have it.
            let times = fs::read_to_string(path.join("schedstat")).ok()?;
            let ran_ns = times.split_ascii_whitespace().next()?.parse().ok()?;
            let id = task.file_name().to_string_lossy().into_owned();
            Some(Thread { id, state, ran_ns })
        })
        .collect();
    let own = pid.to_string();
    threads.sort_by_key(|thread| thread.id != own);
    Some(threads)
}
