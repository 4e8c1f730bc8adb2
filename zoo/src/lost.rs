//! Wrong outputs: events that are made and never sent.

use proto::HealthEvent;
use terms::CheckKind;

use crate::mutant::{Mutant, RIGHT_POLLS, mutant};
use crate::outputs::{Edit, Standing, Subject, is_of, subject};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        sends,
        CardNeverRecovers,
        "card-never-recovers",
        "a card's condition without an end: the wedge of 7 July (field bug B16)"
    ),
    mutant!(
        sends,
        CarrierChangesUnheard,
        "carrier-changes-unheard",
        "`carrier_changes` looked for where no kernel has it: silent, and nobody wonders (field bug B28)"
    ),
    mutant!(
        sends,
        Deaf,
        "deaf",
        "a polling loop that freezes on its first readings while it looks alive"
    ),
    mutant!(
        sends,
        MissingCharDeviceUnseen,
        "missing-char-device-unseen",
        "a port that is ACTIVE and LinkUp and that no pod can open (field bug B34)"
    ),
    mutant!(
        sends,
        RenameClearsNothing,
        "rename-clears-nothing",
        "conditions orphaned by a rename (field bug B23)"
    ),
    mutant!(
        sends,
        ScopeClearsNothing,
        "scope-clears-nothing",
        "a scope that is reset and leaves its old conditions to nobody (field bug B18, the other half)"
    ),
];

fn without(
    mut events: Vec<HealthEvent>,
    is_lost: impl Fn(&HealthEvent) -> bool,
) -> Vec<HealthEvent> {
    events.retain(|event| !is_lost(event));
    events
}

/// Never sends that a card reaches the mode of its peers again.
#[derive(Debug, Default)]
struct CardNeverRecovers;

impl Edit for CardNeverRecovers {
    fn edit(&mut self, events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent> {
        without(events, |event| {
            subject(event) == Subject::Card && standing.is_ended_by(event)
        })
    }
}

/// Never sends carrier changes.
#[derive(Debug, Default)]
struct CarrierChangesUnheard;

impl Edit for CarrierChangesUnheard {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        without(events, |event| {
            !event.is_healthy && event.error_code == ["carrier_changes"]
        })
    }
}

/// Stops sending faults.
#[derive(Debug, Default)]
struct Deaf {
    /// The timestamp of the first event, in seconds.
    since_s: Option<i64>,
}

impl Edit for Deaf {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        let stamp = events.first().and_then(|event| event.generated_timestamp);
        let now_s = stamp.map_or(0, |stamp| stamp.seconds);
        let since_s = *self.since_s.get_or_insert(now_s);
        let is_over = now_s.saturating_sub(since_s).unsigned_abs() >= RIGHT_POLLS;
        without(events, |event| is_over && !event.is_healthy)
    }
}

/// Never sends that a character device is missing.
#[derive(Debug, Default)]
struct MissingCharDeviceUnseen;

impl Edit for MissingCharDeviceUnseen {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        without(events, |event| {
            !event.is_healthy && is_of(event, CheckKind::CharDevice)
        })
    }
}

/// Does not clear faults under the old name of a device.
#[derive(Debug, Default)]
struct RenameClearsNothing;

impl Edit for RenameClearsNothing {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        without(events, |event| event.message.contains(" is now "))
    }
}

/// Does not clear the faults of a device that leaves the scope.
#[derive(Debug, Default)]
struct ScopeClearsNothing;

impl Edit for ScopeClearsNothing {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        without(events, |event| {
            event.message.contains("no longer monitored")
        })
    }
}
