//! Wrong decisions about delivery: retries, what counts as reported, and when it is saved.

use checks::{Outcome, Policy};

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        ForgetsTheLostReply,
        "forgets-the-lost-reply",
        "a fault that the connector has and the monitor does not know of: nothing ever clears it"
    ),
    mutant!(
        decides,
        LosesOnFailedPublish,
        "loses-on-failed-publish",
        "state advanced before the publish: one failed call, and the event is never sent (field bug B01)"
    ),
    mutant!(
        decides,
        LosesWhileTheSocketIsAway,
        "loses-while-the-socket-is-away",
        "events dropped while the connector's socket is absent (field bug B02)"
    ),
    mutant!(
        decides,
        NeverRetries,
        "never-retries",
        "a connector that restarts costs a whole poll, and on a slow poll a minute"
    ),
    mutant!(
        decides,
        OneFailedCheckSilencesTheOther,
        "one-failed-check-silences-the-other",
        "checks run in a row, and the first error ends the row"
    ),
    mutant!(
        decides,
        RetriesWhatCannotSucceed,
        "retries-what-cannot-succeed",
        "a retry that does not look at the code, and hammers the connector"
    ),
    mutant!(
        decides,
        SavesFirst,
        "saves-first",
        "a state file written before the publish: a kill in between, and the event is lost"
    ),
    mutant!(
        decides,
        SavesLate,
        "saves-late",
        "two checks, two calls, one save: a kill between the calls repeats the first"
    ),
    mutant!(
        decides,
        SaysAgainAfterARetry,
        "says-again-after-a-retry",
        "a retry that reports its own success to nobody: the event comes twice"
    ),
    mutant!(
        decides,
        TakesSilenceForAReply,
        "takes-silence-for-a-reply",
        "a deadline treated as success, because the bytes had left the socket"
    ),
    mutant!(
        decides,
        TrustsTheDisk,
        "trusts-the-disk",
        "a full disk that was full for a minute: what was said then is not on it an hour later"
    ),
];

/// Treats an unanswered call as one that never arrived.
#[derive(Debug, Default)]
struct ForgetsTheLostReply;

impl Policy for ForgetsTheLostReply {
    fn keeps_doubt(&self) -> bool {
        false
    }
}

/// Counts as reported what the connector did not accept.
#[derive(Debug, Default)]
struct LosesOnFailedPublish;

impl Policy for LosesOnFailedPublish {
    fn remembers_unaccepted(&self, _: &Outcome) -> bool {
        true
    }
}

/// Counts as reported what could not be sent because the socket was missing.
#[derive(Debug, Default)]
struct LosesWhileTheSocketIsAway;

impl Policy for LosesWhileTheSocketIsAway {
    fn remembers_unaccepted(&self, outcome: &Outcome) -> bool {
        *outcome == Outcome::SocketMissing
    }
}

/// Gives up a call after its first failure.
#[derive(Debug, Default)]
struct NeverRetries;

impl Policy for NeverRetries {
    fn is_retryable(&self, _: &Outcome) -> bool {
        false
    }
}

/// Gives up a poll's other calls when one fails.
#[derive(Debug, Default)]
struct OneFailedCheckSilencesTheOther;

impl Policy for OneFailedCheckSilencesTheOther {
    fn delivers_the_rest(&self) -> bool {
        false
    }
}

/// Retries a call at once, whatever the connector answered.
#[derive(Debug, Default)]
struct RetriesWhatCannotSucceed;

impl Policy for RetriesWhatCannotSucceed {
    fn is_retryable(&self, outcome: &Outcome) -> bool {
        outcome.is_retryable() || matches!(outcome, Outcome::Status { .. })
    }
}

/// Saves events as reported before they are sent.
#[derive(Debug, Default)]
struct SavesFirst;

impl Policy for SavesFirst {
    fn saves_before_publishing(&self) -> bool {
        true
    }
}

/// Saves once a poll, after the last call.
#[derive(Debug, Default)]
struct SavesLate;

impl Policy for SavesLate {
    fn saves_each(&self) -> bool {
        false
    }
}

/// Forgets what was accepted at a second attempt.
#[derive(Debug, Default)]
struct SaysAgainAfterARetry;

impl Policy for SaysAgainAfterARetry {
    fn remembers(&self, attempt: u32) -> bool {
        attempt == 1
    }
}

/// Counts as reported what was received and never answered.
#[derive(Debug, Default)]
struct TakesSilenceForAReply;

impl Policy for TakesSilenceForAReply {
    fn remembers_unaccepted(&self, outcome: &Outcome) -> bool {
        *outcome == Outcome::TimedOut
    }
}

/// Treats every save as successful.
#[derive(Debug, Default)]
struct TrustsTheDisk;

impl Policy for TrustsTheDisk {
    fn trusts_disk(&self) -> bool {
        true
    }
}
