//! The subnet manager of the world's InfiniBand fabric: whether it runs, which of several it is, and
//! when it sweeps.
//!
//! `sweep.rs` has what it does in a sweep. Start at [`ManagerTerm`] for who ran when.

use simfs::SimTime;

use crate::{lids, timing::Timing};

/// A time during which one subnet manager ran without interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagerTerm {
    /// Which manager: 1 for the one of the world's start, 2 for the first that took over.
    pub number: u16,
    /// Its beginning.
    pub from: SimTime,
    /// Its end; `None` if it lasts.
    pub until: Option<SimTime>,
    /// Whether it began with the knowledge of the time before: the logs of links that went down, and
    /// which hosts there were.
    pub remembers: bool,
}

/// The subnet manager that runs, or ran last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubnetManager {
    /// Which one, from 1.
    pub(crate) number: u16,
    /// Since when it runs, and counts its sweeps; `None` while it does not run.
    running_since: Option<SimTime>,
    /// Whether a port's trap makes it sweep.
    heeds_traps: bool,
}

impl SubnetManager {
    /// A subnet manager that runs since the world's start.
    pub(crate) fn running() -> Self {
        Self {
            number: 1,
            running_since: Some(SimTime::ZERO),
            heeds_traps: true,
        }
    }

    /// The local identifier of the port through which it manages the subnet.
    pub(crate) fn lid(self) -> u16 {
        lids::of_manager(self.number)
    }

    pub(crate) fn runs(self) -> bool {
        self.running_since.is_some()
    }

    /// Starts or stops it; starting a running one does not change its sweeps.
    pub(crate) fn set(&mut self, running: bool, now: SimTime) {
        self.running_since = match (running, self.running_since) {
            (false, _) => None,
            (true, since) => since.or(Some(now)),
        };
    }

    /// If it runs, it sweeps at once, and counts its own sweeps from `now` on.
    pub(crate) fn sweep_anew(&mut self, now: SimTime, on_traps: bool) {
        self.running_since = self.running_since.map(|_| now);
        self.heeds_traps = on_traps;
    }

    /// When it arms a port that waits since `now`: after the port's trap, if it heeds traps, or in its next
    /// own sweep, whichever is earlier. The first one follows its start like a trap.
    pub(crate) fn arms(self, now: SimTime, timing: &Timing) -> SimTime {
        let next = self.next_sweep(now, timing);
        if self.heeds_traps {
            return (now + timing.trap_to_sweep).min(next);
        }
        let first = self.running_since.unwrap_or(now) + timing.trap_to_sweep;
        if now < first { first } else { next }
    }

    /// The time of its next own sweep after `now`.
    pub(crate) fn next_sweep(self, now: SimTime, timing: &Timing) -> SimTime {
        let since = self.running_since.unwrap_or(now);
        let period = timing.sweep.as_ns().max(1);
        let rounds = now.since(since).as_ns() / period + 1;
        since + SimTime::from_ns(rounds.saturating_mul(period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(now_ms: u64, trap_ms: u64, armed_ms: u64) {
        let timing = Timing {
            trap_to_sweep: SimTime::from_ms(trap_ms),
            ..Timing::default()
        };
        let armed = SubnetManager::running().arms(SimTime::from_ms(now_ms), &timing);
        assert_eq!(armed, SimTime::from_ms(armed_ms));
    }

    #[test]
    fn a_manager_that_heeds_no_trap_arms_at_its_start_and_in_its_own_sweeps() {
        let timing = Timing::default();
        let mut manager = SubnetManager::running();
        manager.sweep_anew(SimTime::from_ms(25_000), false);
        let armed = |now| manager.arms(SimTime::from_ms(now), &timing).as_ms();
        assert_eq!(armed(25_000), 25_100);
        assert_eq!(armed(25_099), 25_100);
        assert_eq!(armed(25_100), 35_000, "its first sweep is over");
        assert_eq!(armed(35_000), 45_000);
    }

    #[test]
    fn a_waiting_port_is_armed_at_its_trap_or_in_the_next_sweep() {
        check(3_000, 100, 3_100);
        check(9_950, 100, 10_000);
        check(10_000, 100, 10_100);
        check(3_000, 60_000, 10_000);
    }
}
