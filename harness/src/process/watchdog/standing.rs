//! Whether a process stands still against its will, by what the kernel tells of its threads.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use super::{STALL, told};

/// Over how long the waits of a thread for a CPU are summed up. Chosen: a small part of the ten seconds that a monitor may
/// make no progress for by default.
const SPAN: Duration = Duration::from_secs(2);

/// The share of [`SPAN`] that a thread waits for a CPU, in tenths, from which its process is starved. Chosen: a thread that
/// gets more than a tenth of a CPU loads an interpreter and its libraries within those ten seconds.
const STARVED_TENTHS: u32 = 9;

/// What was seen of a process so far.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Since when a signal has it stopped.
    stopped_since: Option<Instant>,
    /// The threads that were ready to run at the last look.
    ready: BTreeMap<String, Ready>,
    /// The present span, once there was a look.
    span: Option<Span>,
    /// Whether the last look found that a stop was over.
    was_stopped: bool,
}

/// The beginning of a span.
#[derive(Debug)]
struct Span {
    since: Instant,
    /// How long each thread had waited for a CPU, in nanoseconds.
    waited_ns: BTreeMap<String, u64>,
    /// How long all threads of the process had run, in nanoseconds.
    all_ran_ns: u64,
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
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) state: char,
    /// How long it has run, in nanoseconds.
    pub(super) ran_ns: u64,
    /// How long it has been ready to run without a CPU, in nanoseconds, as counted when it last got one.
    pub(super) waited_ns: u64,
}

impl Standing {
    /// What was seen is out of date.
    pub(super) fn forget(&mut self) {
        self.ready.clear();
        self.span = None;
    }

    /// Whether what the last look found was a stop by a signal.
    pub(super) fn was_stopped(&self) -> bool {
        self.was_stopped
    }

    /// Looks once: `None` if the process has ended; else what has stood still, if something has.
    ///
    /// A stop counts once it is over: one that lasts is the monitor's own affair, or ends with the drill. A thread that
    /// waits for a CPU which other threads of its process use does not count. On a machine that is not busy no thread waits
    /// for a CPU for long, and the first one is looked at alone. The kernel has to forget each that was looked at before the
    /// process can be reaped, for which that waits in a loop (`shrink_dcache_parent`, fs/dcache.c).
    pub(super) fn look(&mut self, pid: i32, now: Instant, is_busy: bool) -> Option<Option<String>> {
        if is_busy {
            return self.judge(threads(pid)?, now);
        }
        let first = thread(pid.to_string(), &Path::new("/proc").join(pid.to_string()))?;
        let found = self.judge(vec![first], now);
        self.forget();
        found
    }

    /// [`Self::look`], with what the kernel shows.
    pub(super) fn judge(&mut self, threads: Vec<Thread>, now: Instant) -> Option<Option<String>> {
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
        self.was_stopped = stopped.is_some();
        let mut found = stopped.map(|since| {
            format!(
                "a signal had stopped the monitor for {}",
                told(now.saturating_duration_since(since))
            )
        });
        let all_ran_ns = threads.iter().map(|thread| thread.ran_ns).sum();
        found = found.or_else(|| self.starved(&threads, all_ran_ns, now));
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

    /// Whether a span is over in which a thread hardly got a CPU: many short waits cost as much as a long one.
    fn starved(&mut self, threads: &[Thread], all_ran_ns: u64, now: Instant) -> Option<String> {
        if let Some(span) = &self.span
            && now.saturating_duration_since(span.since) < SPAN
        {
            return None;
        }
        let waited_ns = threads
            .iter()
            .map(|thread| (thread.id.clone(), thread.waited_ns))
            .collect();
        let span = self.span.replace(Span {
            since: now,
            waited_ns,
            all_ran_ns,
        })?;
        let took = now.saturating_duration_since(span.since);
        let ran = Duration::from_nanos(all_ran_ns.saturating_sub(span.all_ran_ns));
        let waits = threads.iter().map(|thread| {
            let before = span.waited_ns.get(&thread.id).copied();
            thread.waited_ns.saturating_sub(before.unwrap_or_default())
        });
        let waited = Duration::from_nanos(waits.max()?);
        (waited >= took / 10 * STARVED_TENTHS && ran < waited / 2).then(|| {
            format!(
                "the monitor waited for a CPU for {} of {}",
                told(waited),
                told(took)
            )
        })
    }
}

/// The threads of a process, its first one first; `None` if it has ended.
fn threads(pid: i32) -> Option<Vec<Thread>> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let id = |task: &fs::DirEntry| task.file_name().to_string_lossy().into_owned();
    let mut threads: Vec<Thread> = tasks
        .flatten()
        .filter_map(|task| thread(id(&task), &task.path()))
        .collect();
    let own = pid.to_string();
    threads.sort_by_key(|thread| thread.id != own);
    Some(threads)
}

/// The thread that the kernel shows in this folder; `None` if it has ended.
fn thread(id: String, folder: &Path) -> Option<Thread> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name of a program may have any character (`proc_pid_stat(5)`).
    let (_, fields) = stat.rsplit_once(')')?;
    let state = fields.trim_start().chars().next()?;
    // Nanoseconds on a CPU, and nanoseconds waiting for one (Linux' sched-stats.rst). Without them (`CONFIG_SCHED_INFO`)
    // every ready thread seems to wait, and the kernels that can serve a mount all have it.
    let times = fs::read_to_string(folder.join("schedstat")).ok()?;
    let mut times = times.split_ascii_whitespace();
    Some(Thread {
        id,
        state,
        ran_ns: times.next()?.parse().ok()?,
        waited_ns: times.next()?.parse().ok()?,
    })
}
