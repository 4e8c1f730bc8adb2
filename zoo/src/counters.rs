//! Wrong decisions about counters: which are read, when growth is a fault, when they have
//! recovered.

use std::time::Duration;

use checks::{Policy, Threshold, Unit};

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        AtTheThresholdIsAbove,
        "at-the-threshold-is-above",
        "at least instead of more than: off by one"
    ),
    mutant!(
        decides,
        CountersAtTheStatesInterval,
        "counters-at-the-states-interval",
        "one ticker for all checks: who polls states seldom sees counters seldom (NVSentinel's design, 12.1)"
    ),
    mutant!(
        decides,
        CountsTheManagementNic,
        "counts-the-management-nic",
        "a counter check that asks for no role: a front-end link that flaps replaces the machine (field bug B22)"
    ),
    mutant!(
        decides,
        ExtrapolatesAWindow,
        "extrapolates-a-window",
        "growth of one poll multiplied by sixty: a burst that an hour would have swallowed"
    ),
    mutant!(
        decides,
        FirstValueIsGrowth,
        "first-value-is-growth",
        "a delta against zero: a machine with a history is condemned when its monitor is restarted anew"
    ),
    mutant!(
        decides,
        QuietCounterIsHealthy,
        "quiet-counter-is-healthy",
        "a breach without a latch: gone a poll later, before anybody could look"
    ),
    mutant!(
        decides,
        ResetNeverRecovers,
        "reset-never-recovers",
        "a latch that an operator's reset does not open: the node stays condemned"
    ),
    mutant!(
        decides,
        UnreadableCounterIsZero,
        "unreadable-counter-is-zero",
        "an error of one read, then all growth since the boot at once"
    ),
    mutant!(
        decides,
        WaitsOutTheSecond,
        "waits-out-the-second",
        "a window of one second still open after 0.998 s: a burst is averaged over two, and half of all bursts are lost"
    ),
];

/// Reports growth that equals the threshold.
#[derive(Debug, Default)]
struct AtTheThresholdIsAbove;

impl Policy for AtTheThresholdIsAbove {
    fn threshold(&self, configured: Threshold) -> Threshold {
        match configured {
            Threshold::Delta(limit) if limit > 0.0 => Threshold::Delta(limit - 1e-6),
            Threshold::Velocity(limit, unit) if limit > 0.0 => {
                Threshold::Velocity(limit - 1e-6, unit)
            }
            zero => zero,
        }
    }
}

/// Reads counters as often as states.
#[derive(Debug, Default)]
struct CountersAtTheStatesInterval;

impl Policy for CountersAtTheStatesInterval {
    fn counter_interval(&self, state: Duration, _: Duration) -> Duration {
        state
    }
}

/// Reads the counters of management NICs.
#[derive(Debug, Default)]
struct CountsTheManagementNic;

impl Policy for CountsTheManagementNic {
    fn counts_management_nics(&self) -> bool {
        true
    }
}

/// Judges a rate per minute or hour from one second.
#[derive(Debug, Default)]
struct ExtrapolatesAWindow;

impl Policy for ExtrapolatesAWindow {
    fn threshold(&self, configured: Threshold) -> Threshold {
        match configured {
            Threshold::Velocity(limit, Unit::Minute) => {
                Threshold::Velocity(limit / 60.0, Unit::Second)
            }
            Threshold::Velocity(limit, Unit::Hour) => {
                Threshold::Velocity(limit / 3600.0, Unit::Second)
            }
            other => other,
        }
    }
}

/// Counts the value at the first reading as growth.
#[derive(Debug, Default)]
struct FirstValueIsGrowth;

impl Policy for FirstValueIsGrowth {
    fn counts_from_zero(&self) -> bool {
        true
    }
}

/// Reports that a counter has recovered when it stops growing.
#[derive(Debug, Default)]
struct QuietCounterIsHealthy;

impl Policy for QuietCounterIsHealthy {
    fn has_recovered(&self, before: u64, now: u64) -> bool {
        now <= before
    }
}

/// Does not notice that a counter was reset.
#[derive(Debug, Default)]
struct ResetNeverRecovers;

impl Policy for ResetNeverRecovers {
    fn has_recovered(&self, _: u64, _: u64) -> bool {
        false
    }
}

/// Treats an unreadable counter as zero.
#[derive(Debug, Default)]
struct UnreadableCounterIsZero;

impl Policy for UnreadableCounterIsZero {
    fn takes_unreadable_counter_for_zero(&self) -> bool {
        true
    }
}

/// Ends no window before its unit is over.
#[derive(Debug, Default)]
struct WaitsOutTheSecond;

impl Policy for WaitsOutTheSecond {
    fn window_tolerance(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}
