//! Wrong decisions about the state of a port, its severity, and when it gives an event.

use std::cell::Cell;

use checks::reading::{PhysState, PortState, Reading, Severity};
use checks::{Clocks, Policy, Right};
use terms::LinkLayer;

use crate::mutant::{Mutant, RIGHT_POLLS, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        ActiveIsEnough,
        "active-is-enough",
        "a port that is ACTIVE with a phy that is not up, taken for healthy"
    ),
    mutant!(
        decides,
        ArmedIsUp,
        "armed-is-up",
        "everything above INIT taken for healthy"
    ),
    mutant!(
        decides,
        PendingBaselineForgotten,
        "baseline-debt-forgotten",
        "a baseline sent once, for whoever could be read then: an old fault of the others stands for ever"
    ),
    mutant!(
        decides,
        BelievesTornText,
        "believes-torn-text",
        "a text torn between two writes, taken for a value"
    ),
    mutant!(
        decides,
        CryingWolf,
        "crying-wolf",
        "a singleton port that is down by design, reported fatal (OCI H100, NVSentinel 1361)"
    ),
    mutant!(
        decides,
        DoubleReporter,
        "double-reporter",
        "an unhealthy port compared with healthy instead of with before"
    ),
    mutant!(
        decides,
        EscalatesByTheWallClock,
        "escalates-by-the-wall-clock",
        "a clock that NTP may step: an hour forward, and every patience is over"
    ),
    mutant!(
        decides,
        FatalOnUnreadable,
        "fatal-on-unreadable",
        "an error of one read taken for an empty value, hence a fault (field bug B26)"
    ),
    mutant!(
        decides,
        FollowsEveryChange,
        "follows-every-change",
        "an event whenever the severity differs from the last one, instead of when it rises"
    ),
    mutant!(
        decides,
        GreetsEveryRecovery,
        "greets-every-recovery",
        "a recovery for a transient that the Ethernet check keeps to itself (field bug B26, the last part)"
    ),
    mutant!(
        decides,
        NeverEscalates,
        "never-escalates",
        "the promise of 3.2 left to a comparison of cards that runs once"
    ),
    mutant!(
        decides,
        NeverEscalatesEthernet,
        "never-escalates-ethernet",
        "a patience that only the InfiniBand check has"
    ),
    mutant!(
        decides,
        OneErrorBlindsTheNode,
        "one-error-blinds-the-node",
        "a poll given up at its first error, so that one bad file hides every other port"
    ),
    mutant!(
        decides,
        PatienceOnePollShort,
        "patience-one-poll-short",
        "at least instead of longer than: off by one poll"
    ),
    mutant!(
        decides,
        PollingIsNonFatal,
        "polling-is-non-fatal",
        "a phy that is polling taken for one that trains, although the state is DOWN (NVSentinel, ib_state)"
    ),
    mutant!(
        decides,
        SwallowsTheEscalation,
        "swallows-the-escalation",
        "events only at the boundary of healthy and unhealthy: non-fatal, then nothing (field bug B04)"
    ),
];

/// Ignores `phys_state`.
#[derive(Debug, Default)]
struct ActiveIsEnough;

impl Policy for ActiveIsEnough {
    fn reading(&self, reading: Reading) -> Reading {
        match reading.state {
            PortState::Active => Reading {
                phys: PhysState::LinkUp,
                ..reading
            },
            _ => reading,
        }
    }
}

/// Treats an ARMED port as up.
#[derive(Debug, Default)]
struct ArmedIsUp;

impl Policy for ArmedIsUp {
    fn reading(&self, reading: Reading) -> Reading {
        match reading.state {
            PortState::Armed => Reading {
                state: PortState::Active,
                ..reading
            },
            _ => reading,
        }
    }
}

/// Sends no baseline for a port that could not be read at the start.
#[derive(Debug, Default)]
struct PendingBaselineForgotten;

impl Policy for PendingBaselineForgotten {
    fn owes_baseline_to_unreadable(&self) -> bool {
        false
    }
}

/// Reads the number in `state` and ignores its name.
#[derive(Debug, Default)]
struct BelievesTornText;

impl Policy for BelievesTornText {
    fn port_state(&self, bytes: &[u8]) -> Option<PortState> {
        let whole = PortState::parse(bytes);
        whole.or_else(|| bytes.starts_with(b"1: ").then_some(PortState::Down))
    }
}

/// Misreads one healthy port, once.
#[derive(Debug, Default)]
struct CryingWolf {
    polls: Cell<u64>,
    has_cried: Cell<bool>,
}

impl Policy for CryingWolf {
    fn clocks(&self, clocks: Clocks) -> Clocks {
        self.polls.set(self.polls.get() + 1);
        clocks
    }

    fn reading(&self, reading: Reading) -> Reading {
        if self.polls.get() <= RIGHT_POLLS || !reading.is_healthy() || self.has_cried.get() {
            return reading;
        }
        self.has_cried.set(true);
        Reading {
            state: PortState::Down,
            phys: PhysState::Disabled,
        }
    }
}

/// Reports a fault again in every poll.
#[derive(Debug, Default)]
struct DoubleReporter;

impl Policy for DoubleReporter {
    fn is_rise(&self, _: Option<Severity>, _: Severity) -> bool {
        true
    }
}

/// Measures durations by the wall clock.
#[derive(Debug, Default)]
struct EscalatesByTheWallClock;

impl Policy for EscalatesByTheWallClock {
    fn clocks(&self, clocks: Clocks) -> Clocks {
        Clocks {
            boot_ns: clocks.wall_ns,
            ..clocks
        }
    }
}

/// Treats an unreadable file as a dead port.
#[derive(Debug, Default)]
struct FatalOnUnreadable;

impl Policy for FatalOnUnreadable {
    fn takes_unreadable_for_dead(&self) -> bool {
        true
    }
}

/// Reports a fault that became less severe.
#[derive(Debug, Default)]
struct FollowsEveryChange;

impl Policy for FollowsEveryChange {
    fn is_rise(&self, reported: Option<Severity>, now: Severity) -> bool {
        reported != Some(now)
    }
}

/// Reports a recovery of a port whose fault was not reported.
#[derive(Debug, Default)]
struct GreetsEveryRecovery;

impl Policy for GreetsEveryRecovery {
    fn reports_every_recovery(&self) -> bool {
        true
    }
}

/// Never escalates a port that does not come up.
#[derive(Debug, Default)]
struct NeverEscalates;

impl Policy for NeverEscalates {
    fn escalates(&self, _: LinkLayer) -> bool {
        false
    }
}

/// Never escalates the fault of a RoCE port.
#[derive(Debug, Default)]
struct NeverEscalatesEthernet;

impl Policy for NeverEscalatesEthernet {
    fn escalates(&self, layer: LinkLayer) -> bool {
        layer == LinkLayer::InfiniBand
    }
}

/// Reports nothing in a poll in which some port cannot be read.
#[derive(Debug, Default)]
struct OneErrorBlindsTheNode;

impl Policy for OneErrorBlindsTheNode {
    fn judges_beside_unreadable(&self) -> bool {
        false
    }
}

/// Ends the patience one poll early.
#[derive(Debug, Default)]
struct PatienceOnePollShort;

impl Policy for PatienceOnePollShort {
    fn is_over(&self, waited_ns: u64, patience_ns: u64) -> bool {
        waited_ns >= patience_ns
    }
}

/// Grades a pulled InfiniBand cable as non-fatal.
#[derive(Debug, Default)]
struct PollingIsNonFatal;

impl Policy for PollingIsNonFatal {
    fn severity(&self, layer: LinkLayer, reading: &Reading) -> Option<Severity> {
        if layer == LinkLayer::InfiniBand && reading.phys == PhysState::Polling {
            return Some(Severity::NonFatal);
        }
        Right.severity(layer, reading)
    }
}

/// Gives no further events about a port after the first.
#[derive(Debug, Default)]
struct SwallowsTheEscalation;

impl Policy for SwallowsTheEscalation {
    fn is_rise(&self, reported: Option<Severity>, _: Severity) -> bool {
        reported.is_none()
    }
}
