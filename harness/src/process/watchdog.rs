//! Notices that the machine stalls: that this process, or a monitor of it, stands still although nobody in the drill
//! wants it to.
//!
//! A thread wakes every [`BEAT`]. One that wakes much later than that, a monitor that a signal has stopped for a while,
//! and a monitor that is ready to run and hardly gets a CPU have lost time that the real-time limits of a drill do not know of.
//! If the processes of the monitors themselves have taken the CPUs, it is no stall but their load. Start at
//! [`Watchdog::begin`], [`Watchdog::stall`] and [`Watchdog::load`].

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::Pid;

use super::{
    mount_space::MountSpace,
    pace::{LOOKS, Pace},
    quiet::is_busy,
};

mod load;
mod standing;

use load::Load;
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
    /// What looks at every thread of the monitors may cost, and when the next one is due.
    looks: &'static Pace,
    due: Instant,
    /// What the processes of the monitors take of the CPUs.
    load: Load,
    /// The first stall of the drill.
    stall: Option<String>,
    /// The first standstill of the drill that the monitors' own load explains.
    own: Option<String>,
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
            looks: &LOOKS,
            due: Instant::now(),
            load: Load::new(Instant::now()),
            stall: None,
            own: None,
        }));
        let (over, ended) = mpsc::channel::<()>();
        let watched = Arc::clone(&state);
        let look = move || {
            while ended.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                lock(&watched).beat(Instant::now());
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
        state.load = Load::new(state.beat);
        state.stall = None;
        state.own = None;
    }

    /// Watches a monitor too, until it has ended, and until the next drill what its processes take of the CPUs.
    pub(super) fn watch(&self, monitor: Pid, space: Option<Arc<MountSpace>>) {
        let number = monitor.as_raw_nonzero().get();
        let mut state = lock(&self.state);
        state.monitors.insert(number, Standing::default());
        state.load.watch(monitor, space.as_ref());
    }

    /// Looks once more at a monitor that is about to be killed, and at it no more: a kill ends a stop too.
    pub(super) fn leave(&self, monitor: Pid) {
        let mut state = lock(&self.state);
        let now = Instant::now();
        state.look(now);
        if state.stall.is_some() && state.own.is_none() {
            state.own = state.load.most(now, state.cpus);
        }
        state.monitors.remove(&monitor.as_raw_nonzero().get());
        state.load.leave(monitor);
    }

    /// What has stood still since the drill began, and for how long, if something has and the monitors' own load does not
    /// explain it.
    pub(super) fn stall(&self) -> Option<String> {
        let mut state = lock(&self.state);
        state.look(Instant::now());
        let is_own = state.own.is_some();
        state.stall.clone().filter(|_| !is_own)
    }

    /// Whether the machine is busy with the processes of the monitors themselves.
    pub(super) fn is_busy_with_them(&self) -> bool {
        let state = lock(&self.state);
        state.load.most(Instant::now(), state.cpus).is_some()
    }

    /// How long the processes of the monitors have run that are there now.
    pub(super) fn ran(&self) -> Duration {
        lock(&self.state).load.ran()
    }

    /// How much of the CPUs the processes of the monitors have taken, if nicdrill or they have stood still for that since
    /// the drill began.
    pub(super) fn load(&self) -> Option<String> {
        lock(&self.state).own.clone()
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
    /// Looks, and leaves out on a busy machine what is not due yet: every thread of the monitors.
    fn beat(&mut self, now: Instant) {
        self.look_at(now, now >= self.due);
    }

    /// Looks at everything.
    fn look(&mut self, now: Instant) {
        self.look_at(now, true);
    }

    fn look_at(&mut self, now: Instant, is_due: bool) {
        let late = now.saturating_duration_since(self.beat);
        self.beat = now;
        let mut seen = (late >= STALL).then(|| format!("nicdrill stood still for {}", told(late)));
        if seen.is_some() {
            // What the monitors did meanwhile was not seen.
            self.monitors.values_mut().for_each(Standing::forget);
        }
        let is_busy = !self.monitors.is_empty() && is_busy(self.cpus);
        let with_monitors = !is_busy || is_due;
        let mut is_stopped = false;
        let began = Instant::now();
        self.monitors.retain(|pid, standing| {
            if !with_monitors {
                return true;
            }
            let Some(found) = standing.look(*pid, now, is_busy) else {
                return false;
            };
            is_stopped |= found.as_ref().is_some_and(|_| standing.was_stopped());
            seen = seen.take().or(found);
            true
        });
        if is_busy && with_monitors {
            self.due = now + self.looks.pause_after(began);
        }
        let own = self.load.look(now, (is_busy, self.cpus), seen.is_some());
        match own.filter(|_| !is_stopped) {
            None => self.stall = self.stall.take().or(seen),
            Some(own) => self.own = self.own.take().or(Some(own)),
        }
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
