//! Durations of a world's processes, and the pace of a link's walk from dark to active.
//!
//! Start at [`Timing`]; its defaults fit every shipped driver.

use simfs::SimTime;

/// Durations of a world's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time from both ends signalling to `LinkUp`. The first third is spent in `Polling`.
    pub training: SimTime,
    /// Time from a link's going down until its ports search for each other again; they are Offline
    /// meanwhile. Zero by default; on hardware it is up to seconds (hfi1 `chip.c`, `goto_offline`).
    pub quiet: SimTime,
    /// Time from a port's trap until the subnet manager arms it.
    pub trap_to_sweep: SimTime,
    /// Interval of the subnet manager's own sweeps; they arm a port whose trap it has not handled
    /// yet.
    pub sweep: SimTime,
    /// Time from `ARMED` to `ACTIVE`.
    pub arming: SimTime,
    /// Time from a PCI function's appearance to its net and RDMA devices'. Chosen; a real probe takes
    /// seconds, and any value above 0 shows the order.
    pub probe: SimTime,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            training: SimTime::from_ms(150),
            quiet: SimTime::ZERO,
            trap_to_sweep: SimTime::from_ms(100),
            sweep: SimTime::from_secs(10),
            arming: SimTime::from_ms(50),
            probe: SimTime::from_ms(100),
        }
    }
}

/// Durations of the stages of one walk from dark to `ACTIVE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) polling: SimTime,
    /// In `PortConfigurationTraining`.
    pub(crate) training: SimTime,
    /// In `INIT`.
    pub(crate) waiting: SimTime,
    /// In `ARMED`.
    pub(crate) arming: SimTime,
}

impl Pace {
    /// The pace of a link that no action slows, whose subnet manager waits for the trap. `managed`
    /// states whether a subnet manager takes part (InfiniBand).
    pub(crate) fn natural(timing: &Timing, managed: bool) -> Self {
        let polling = SimTime::from_ns(timing.training.as_ns() / 3);
        let part = |span| if managed { span } else { SimTime::ZERO };
        Self {
            polling,
            training: timing.training.since(polling),
            waiting: part(timing.trap_to_sweep),
            arming: part(timing.arming),
        }
    }

    /// Time from the first signal to `ACTIVE`.
    pub(crate) fn total(self) -> SimTime {
        self.polling + self.training + self.waiting + self.arming
    }

    /// Fits this walk into `length`: if there is more time, the dark time before it grows (returned
    /// first); if there is less, every stage shrinks in proportion.
    pub(crate) fn within(self, length: SimTime) -> (SimTime, Self) {
        let total = self.total();
        if total <= length {
            return (length.since(total), self);
        }
        let shrunk = |span: SimTime| {
            let scaled =
                u128::from(span.as_ns()) * u128::from(length.as_ns()) / u128::from(total.as_ns());
            SimTime::from_ns(
                u64::try_from(scaled).expect("a part of a span is no longer than the span"),
            )
        };
        let (polling, training, waiting) = (
            shrunk(self.polling),
            shrunk(self.training),
            shrunk(self.waiting),
        );
        let arming = length.since(polling + training + waiting);
        (
            SimTime::ZERO,
            Self {
                polling,
                training,
                waiting,
                arming,
            },
        )
    }

    /// This walk in exactly `length`, with the extra time spent polling.
    pub(crate) fn filling(self, length: SimTime) -> Self {
        let (dark, pace) = self.within(length);
        Self {
            polling: dark + pace.polling,
            ..pace
        }
    }

    /// This walk stretched to `length`, with the extra time spent training.
    pub(crate) fn stretched(self, length: SimTime) -> Self {
        let (dark, pace) = self.within(length);
        Self {
            polling: SimTime::ZERO,
            training: dark + pace.polling + pace.training,
            ..pace
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(length_ms: u64, dark_ms: u64, total_ms: u64) {
        let (dark, pace) =
            Pace::natural(&Timing::default(), true).within(SimTime::from_ms(length_ms));
        assert_eq!(dark, SimTime::from_ms(dark_ms));
        assert_eq!(pace.total(), SimTime::from_ms(total_ms));
    }

    #[test]
    fn a_walk_takes_exactly_the_length_it_is_given() {
        check(3000, 2700, 300);
        check(300, 0, 300);
        check(100, 0, 100);
        check(0, 0, 0);
    }

    #[test]
    fn a_slow_training_ends_in_time_and_never_polls() {
        let pace = Pace::natural(&Timing::default(), true).stretched(SimTime::from_secs(8));
        assert_eq!(pace.total(), SimTime::from_secs(8));
        assert_eq!(pace.polling, SimTime::ZERO);
    }
}
