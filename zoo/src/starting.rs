//! Wrong decisions at the start: configuration, metadata, and the old state file.

use checks::Policy;

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        BrokenStateIsAnEmptyOne,
        "broken-state-is-an-empty-one",
        "a corrupt file passed over as if nothing had been said: an old fault of a device stands for ever"
    ),
    mutant!(
        decides,
        FirstPollWaitsForNobody,
        "first-poll-waits-for-nobody",
        "a baseline in pieces: the cards beside an unreadable device are compared without it"
    ),
    mutant!(
        decides,
        Forgetful,
        "forgetful",
        "a state file that holds readings and not what was said of them"
    ),
    mutant!(
        decides,
        GrowthWhileAwayIsLost,
        "growth-while-away-is-lost",
        "last values kept in the process: what grew while the monitor was away was always there"
    ),
    mutant!(
        decides,
        IgnoresTheOverride,
        "ignores-the-override",
        "a key of the configuration that nobody asks for (field bug B19)"
    ),
    mutant!(
        decides,
        PatienceStartsAnew,
        "patience-starts-anew",
        "the start of an unhealthy stretch kept in the process and not in the state file"
    ),
    mutant!(
        decides,
        StartsWithABadConfig,
        "starts-with-a-bad-config",
        "an invalid value that drops the whole file, sysfs paths included (field bug B21)"
    ),
    mutant!(
        decides,
        StartsWithoutMetadata,
        "starts-without-metadata",
        "a missing file taken for an empty one: management NICs are in the scope, and nobody is told"
    ),
    mutant!(
        decides,
        SwallowsWhatItMissed,
        "swallows-what-it-missed",
        "the first readings of a process kept as its baseline: what broke meanwhile was never healthy"
    ),
];

/// Treats an unreadable state file as an empty one.
#[derive(Debug, Default)]
struct BrokenStateIsAnEmptyOne;

impl Policy for BrokenStateIsAnEmptyOne {
    fn takes_broken_state_for_empty(&self) -> bool {
        true
    }
}

/// Sends its baseline in the very first poll, even if a device cannot be read.
#[derive(Debug, Default)]
struct FirstPollWaitsForNobody;

impl Policy for FirstPollWaitsForNobody {
    fn waits_at_first(&self) -> bool {
        false
    }
}

/// Forgets what it has reported when it restarts.
#[derive(Debug, Default)]
struct Forgetful;

impl Policy for Forgetful {
    fn restores_reported(&self) -> bool {
        false
    }
}

/// Measures growth anew after a restart.
#[derive(Debug, Default)]
struct GrowthWhileAwayIsLost;

impl Policy for GrowthWhileAwayIsLost {
    fn restores_counters(&self) -> bool {
        false
    }
}

/// Does not use `nicInclusionRegexOverride`.
#[derive(Debug, Default)]
struct IgnoresTheOverride;

impl Policy for IgnoresTheOverride {
    fn reads_inclusion_override(&self) -> bool {
        false
    }
}

/// Restarts every patience when it restarts.
#[derive(Debug, Default)]
struct PatienceStartsAnew;

impl Policy for PatienceStartsAnew {
    fn restores_patience(&self) -> bool {
        false
    }
}

/// Starts with the defaults if the configuration is invalid.
#[derive(Debug, Default)]
struct StartsWithABadConfig;

impl Policy for StartsWithABadConfig {
    fn refuses_invalid_config(&self) -> bool {
        false
    }
}

/// Starts without GPU metadata, and monitors every NIC.
#[derive(Debug, Default)]
struct StartsWithoutMetadata;

impl Policy for StartsWithoutMetadata {
    fn needs_metadata(&self) -> bool {
        false
    }
}

/// Counts as reported what changed during a restart.
#[derive(Debug, Default)]
struct SwallowsWhatItMissed;

impl Policy for SwallowsWhatItMissed {
    fn reports_changes_while_away(&self) -> bool {
        false
    }
}
