//! Notices that the machine stalls: that this process, or a monitor of it, stands still although nobody in the drill
//! wants it to.
//!
//! A thread wakes every [`BEAT`]. One that wakes much later than that, a monitor that a signal has stopped for a while,
//! and a monitor that is ready to run and hardly gets a CPU have lost time that the real-time limits of a drill do not know of. Start at
//! [`Watchdog::begin`] and [`Watchdog::stall`].

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::Pid;

use super::quiet::is_busy;

mod standing;

use standing::Standing;

/// The time from one look to the next.
const BEAT: Duration = Duration::from_millis(50);

/// From how long a standstill on something is a stall. Chosen: less than half of the shortest timeout that a drill makes a
/// monitor wait for (one second), and more than a thread waits for its turn on a CPU with twenty others.
const STALL: Duration = Duration::from_millis(400);

/// The stack size of a thread that only looks, in bytes.
const STACK: usize = 128 * 1024;

/// Watches over the drills of one job. Dropping it ends its thread.
pub(super) struct Watchdog {
    state: Arc<Mutex<State>>,
    /// Dropped first, which ends the thread.
    over: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    /// How many CPUs there are for the drills.
    cpus: usize,
    /// When it looked last.
    beat: Instant,
    monitors: BTreeMap<i32, Standing>,
    /// The first stall of the drill.
    stall: Option<String>,
}

impl Watchdog {
    /// Starts the thread, for drills that have so many CPUs.
    ///
    /// # Errors
    /// If the kernel refuses a thread.
    pub(super) fn start(cpus: usize) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State {
            cpus,
            beat: Instant::now(),
            monitors: BTreeMap::new(),
            stall: None,
        }));
        let (over, ended) = mpsc::channel::<()>();
        let watched = Arc::clone(&state);
        let look = move || {
            while ended.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                lock(&watched).look(Instant::now());
            }
        };
        let thread = thread::Builder::new()
            .name("watchdog".to_owned())
            .stack_size(STACK)
            .spawn(look)?;
        Ok(Self {
            state,
            over: Some(over),
            thread: Some(thread),
        })
    }

    /// A drill begins.
    pub(super) fn begin(&self) {
        let mut state = lock(&self.state);
        state.beat = Instant::now();
        state.monitors.clear();
        state.stall = None;
    }

    /// Watches a monitor too, until it has ended.
    pub(super) fn watch(&self, monitor: Pid) {
        let number = monitor.as_raw_nonzero().get();
        lock(&self.state)
            .monitors
            .insert(number, Standing::default());
    }

    /// Looks once more at a monitor that is about to be killed, and at it no more: a kill ends a stop too.
    pub(super) fn leave(&self, monitor: Pid) {
        let mut state = lock(&self.state);
        state.look(Instant::now());
        state.monitors.remove(&monitor.as_raw_nonzero().get());
    }

    /// What has stood still since the drill began, and for how long, if something has.
    pub(super) fn stall(&self) -> Option<String> {
        let mut state = lock(&self.state);
        state.look(Instant::now());
        state.stall.clone()
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl State {
    fn look(&mut self, now: Instant) {
        let late = now.saturating_duration_since(self.beat);
        self.beat = now;
        let mut seen = (late >= STALL).then(|| format!("nicdrill stood still for {}", told(late)));
        if seen.is_some() {
            // What the monitors did meanwhile was not seen.
            self.monitors.values_mut().for_each(Standing::forget);
        }
        let is_busy = !self.monitors.is_empty() && is_busy(self.cpus);
        self.monitors.retain(|pid, standing| {
            let Some(found) = standing.look(*pid, now, is_busy) else {
                return false;
            };
            seen = seen.take().or(found);
            true
        });
        self.stall = self.stall.take().or(seen);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `4.0 s`.
fn told(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests;
