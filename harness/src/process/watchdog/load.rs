//! What the processes of monitors take of the CPUs: whether a machine on which others stand still is busy with them.
//!
//! Start at [`Load::look`].

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use rustix::process::Pid;

use crate::process::{mount_space::MountSpace, usage};

/// How many ticks of the kernel's accounting a second has: `USER_HZ`, which is 100 on x86-64 (`time(7)`).
const TICKS: u32 = 100;

/// The share of the CPUs, in hundredths, from which the load is that of the monitors. Chosen: more than all others have.
const MOST: u128 = 50;

/// What the processes of the monitors of a drill have taken.
#[derive(Debug)]
pub(super) struct Load {
    monitors: Vec<Weak<MountSpace>>,
    /// Those without a namespace of their own.
    shared: Vec<Pid>,
    /// When the machine began to be busy without a break, and how long they had run then; else when the drill began.
    since: Instant,
    ran: Duration,
    /// Whether the machine was busy at the last look.
    was_busy: bool,
}

impl Load {
    /// The load of a drill that begins.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            monitors: Vec::new(),
            shared: Vec::new(),
            since: now,
            ran: Duration::ZERO,
            was_busy: false,
        }
    }

    /// How much the processes of the monitors have taken since the machine became busy, if it is, and that is most.
    pub(super) fn most(&self, now: Instant, cpus: usize) -> Option<String> {
        if !self.was_busy {
            return None;
        }
        told(self.share(now, self.ran(), cpus))
    }

    /// Counts the processes of a monitor too; of one without a namespace of its own the first, with those that it has waited
    /// for.
    pub(super) fn watch(&mut self, monitor: Pid, space: Option<&Arc<MountSpace>>) {
        self.monitors.retain(|space| space.strong_count() > 0);
        match space {
            Some(space) => self.monitors.push(Arc::downgrade(space)),
            None => self.shared.push(monitor),
        }
    }

    /// A monitor is about to end, and its number may be given to another process.
    pub(super) fn leave(&mut self, monitor: Pid) {
        self.shared.retain(|of| *of != monitor);
    }

    /// Looks once on a machine that is busy or is not, with so many CPUs. If something `stands` still, and the monitors
    /// have taken most of the CPUs since the machine became busy, how much they have taken.
    pub(super) fn look(
        &mut self,
        now: Instant,
        (is_busy, cpus): (bool, usize),
        stands: bool,
    ) -> Option<String> {
        let became_busy = is_busy && !self.was_busy;
        self.was_busy = is_busy;
        // On a machine that is not busy nobody waits for a CPU because of them.
        if !is_busy || !(became_busy || stands) {
            return None;
        }
        let ran = self.ran();
        let share = self.share(now, ran, cpus);
        if became_busy {
            (self.since, self.ran) = (now, ran);
        }
        told(share).filter(|_| stands)
    }

    /// The share of the CPUs that they have taken, in hundredths.
    fn share(&self, now: Instant, ran: Duration, cpus: usize) -> u128 {
        let taken = ran.saturating_sub(self.ran).as_nanos();
        let all = now.saturating_duration_since(self.since).as_nanos() * cpus as u128;
        (taken * 100).checked_div(all).unwrap_or(0).min(100)
    }

    /// How long the processes that are there now have run, with those that they have waited for.
    pub(super) fn ran(&self) -> Duration {
        let spaces = self.monitors.iter().filter_map(Weak::upgrade);
        let shared = self.shared.iter().map(|monitor| usage::ran_ticks(*monitor));
        let ticks: u64 = spaces.map(|space| space.ran_ticks()).chain(shared).sum();
        Duration::from_secs(ticks) / TICKS
    }
}

/// What is told of a share, if it is most.
fn told(share: u128) -> Option<String> {
    (share >= MOST).then(|| format!("its processes took {share} % of the CPUs meanwhile"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ran_ms: u64, after_ms: u64, cpus: usize, share: u128) {
        let begun = Instant::now();
        let load = Load::new(begun);
        let after = begun + Duration::from_millis(after_ms);
        let ran = Duration::from_millis(ran_ms);
        assert_eq!(load.share(after, ran, cpus), share);
    }

    #[test]
    fn the_share_is_that_of_all_cpus_since_the_machine_became_busy() {
        check(1000, 1000, 1, 100);
        check(1000, 1000, 2, 50);
        check(300, 2400, 2, 6);
        check(5000, 1000, 2, 100);
        check(10, 0, 2, 0);
    }

    #[test]
    fn half_of_the_cpus_is_most() {
        let text = "its processes took 50 % of the CPUs meanwhile";
        assert_eq!(told(50).as_deref(), Some(text));
        assert_eq!(told(49), None);
    }

    #[test]
    fn without_monitors_that_run_the_load_is_that_of_others() {
        let begun = Instant::now();
        let mut load = Load::new(begun);
        let later = begun + Duration::from_secs(2);
        assert_eq!(load.look(begun, (true, 2), true), None);
        assert_eq!(load.look(later, (true, 2), true), None);
        assert_eq!(load.look(later, (false, 2), true), None);
    }
}
