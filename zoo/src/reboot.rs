//! Wrong decisions after a reboot of the host.

use std::cell::Cell;

use checks::reading::{PhysState, PortState, Reading};
use checks::{Clocks, Policy};

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        HealthyOnReboot,
        "healthy-on-reboot",
        "baselines sent for every known port without reading it first"
    ),
    mutant!(
        decides,
        RebootClearsTheAbsent,
        "reboot-clears-the-absent",
        "a NIC that fell off the bus for good, declared healthy by a reboot"
    ),
    mutant!(
        decides,
        RebootUnnoticed,
        "reboot-unnoticed",
        "the boot id read and never compared"
    ),
];

/// Treats every port as healthy in the first poll after a reboot.
#[derive(Debug, Default)]
struct HealthyOnReboot {
    is_reboot: Cell<bool>,
    polls: Cell<u32>,
}

impl Policy for HealthyOnReboot {
    fn is_same_boot(&self, old: Option<&str>, now: Option<&str>) -> bool {
        let is_same = now.is_some() && old == now;
        self.is_reboot.set(!is_same);
        is_same
    }

    fn clocks(&self, clocks: Clocks) -> Clocks {
        self.polls.set(self.polls.get() + 1);
        clocks
    }

    fn reading(&self, reading: Reading) -> Reading {
        if self.is_reboot.get() && self.polls.get() == 1 {
            return Reading {
                state: PortState::Active,
                phys: PhysState::LinkUp,
            };
        }
        reading
    }
}

/// After a reboot, clears the faults of everything that is absent.
#[derive(Debug, Default)]
struct RebootClearsTheAbsent;

impl Policy for RebootClearsTheAbsent {
    fn is_complete(&self, _: usize, _: usize) -> bool {
        true
    }
}

/// Treats a reboot as a restart.
#[derive(Debug, Default)]
struct RebootUnnoticed;

impl Policy for RebootUnnoticed {
    fn is_same_boot(&self, _: Option<&str>, _: Option<&str>) -> bool {
        true
    }
}
