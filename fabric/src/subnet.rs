//! The subnet manager of the world's InfiniBand fabric: whether it runs, and when it sweeps.

use simfs::SimTime;

use crate::timing::Timing;

/// A subnet manager.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubnetManager {
    running_since: Option<SimTime>,
}

impl SubnetManager {
    /// A subnet manager that runs since the world's start.
    pub(crate) fn running() -> Self {
        Self {
            running_since: Some(SimTime::ZERO),
        }
    }

    /// Whether it runs.
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

    /// When it arms a port that waits since `now`: after the port's trap or in its next own sweep,
    /// whichever is earlier.
    pub(crate) fn arms(self, now: SimTime, timing: &Timing) -> SimTime {
        (now + timing.trap_to_sweep).min(self.next_sweep(now, timing))
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
    fn a_waiting_port_is_armed_at_its_trap_or_in_the_next_sweep() {
        check(3_000, 100, 3_100);
        check(9_950, 100, 10_000);
        check(10_000, 100, 10_100);
        check(3_000, 60_000, 10_000);
    }
}
