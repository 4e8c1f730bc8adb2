//! Wrong outputs: another check, entity, error code, action, order or timestamp than the agent's.

use std::collections::BTreeMap;

use proto::{Entity, HealthEvent, RecommendedAction};
use terms::{Check, CheckKind};

use crate::mutant::{Mutant, mutant};
use crate::outputs::{Edit, Standing, Subject, is_of, subject};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        sends,
        BreachUnderTheStateCheck,
        "breach-under-the-state-check",
        "a breach that the port's next recovery clears, while the latch keeps it silent (field bug B10)"
    ),
    mutant!(
        sends,
        BreachWithoutItsCode,
        "breach-without-its-code",
        "two breaches of one port that nobody can tell apart: the first recovery clears both"
    ),
    mutant!(
        sends,
        ClearsAndFaultsAtOnce,
        "clears-and-faults-at-once",
        "one stamp for a whole call: the connector's sort is not stable, and a clear may follow the fault that it precedes"
    ),
    mutant!(
        sends,
        ClearsLast,
        "clears-last",
        "events sorted by severity: the clearing of an old name takes the new fault with it"
    ),
    mutant!(
        sends,
        FirstPortOfEveryDevice,
        "first-port-of-every-device",
        "a port number taken from the device's name, since most devices have one"
    ),
    mutant!(
        sends,
        GoneOnBothLayers,
        "gone-on-both-layers",
        "each state check owning every device: a second fatal that nothing ever clears (field bug B09)"
    ),
    mutant!(
        sends,
        RecoveryNamesTheCardToo,
        "recovery-names-the-card-too",
        "a healthy event with more entities than its fault: the node is released, and the condition stands for ever"
    ),
    mutant!(
        sends,
        RecoveryUnderTheCounterCheck,
        "recovery-under-the-counter-check",
        "a recovery under another check's name: the fault's own condition is nobody's to clear"
    ),
    mutant!(
        sends,
        RecoveryWithoutItsCode,
        "recovery-without-its-code",
        "a missing error code: one counter's recovery clears every breach of its port"
    ),
    mutant!(
        sends,
        RecoveryWithoutItsPort,
        "recovery-without-its-port",
        "a healthy event with too few entities: it clears every condition of the device and releases no node"
    ),
    mutant!(
        sends,
        StaleTimestamp,
        "stale-timestamp",
        "an event kept as it was first made through every retry, and older than what was said since"
    ),
    mutant!(
        sends,
        WrongAction,
        "wrong-action",
        "a fatal event without an action, which no automation takes up"
    ),
    mutant!(
        sends,
        WrongEntity,
        "wrong-entity",
        "a recovery that names another entity than its fault, and so clears nothing"
    ),
];

/// Changes every event for which `is_wrong` holds.
fn change(
    mut events: Vec<HealthEvent>,
    is_wrong: impl Fn(&HealthEvent) -> bool,
    change: impl Fn(&mut HealthEvent),
) -> Vec<HealthEvent> {
    for event in events.iter_mut().filter(|event| is_wrong(event)) {
        change(event);
    }
    events
}

/// Whether it is the recovery of a port from a fault of a state check.
fn is_port_recovery(event: &HealthEvent, standing: &Standing) -> bool {
    is_of(event, CheckKind::State) && subject(event) == Subject::Port && standing.is_ended_by(event)
}

fn rename_check(event: &mut HealthEvent, infiniband: Check, ethernet: Check) {
    let is_infiniband = event.check_name.starts_with("InfiniBand");
    let check = if is_infiniband { infiniband } else { ethernet };
    check.name().clone_into(&mut event.check_name);
}

/// Sends a counter's breach under the state check of its port.
#[derive(Debug, Default)]
struct BreachUnderTheStateCheck;

impl Edit for BreachUnderTheStateCheck {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| !event.is_healthy && is_of(event, CheckKind::Degradation),
            |event| rename_check(event, Check::InfiniBandState, Check::EthernetState),
        )
    }
}

/// Omits the counter's name from the error codes.
#[derive(Debug, Default)]
struct BreachWithoutItsCode;

impl Edit for BreachWithoutItsCode {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| !event.is_healthy && is_of(event, CheckKind::Degradation),
            |event| event.error_code.clear(),
        )
    }
}

/// Gives all events of a call the same timestamp if the call clears an old name.
#[derive(Debug, Default)]
struct ClearsAndFaultsAtOnce;

impl Edit for ClearsAndFaultsAtOnce {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        let clears = |event: &HealthEvent| event.message.contains(" is now ");
        let has_clear = events.iter().any(clears);
        change(
            events,
            |_| has_clear,
            |event| {
                if let Some(stamp) = &mut event.generated_timestamp {
                    // The agent's timestamps in one call increase by one nanosecond.
                    stamp.nanos -= stamp.nanos % 1_000;
                }
            },
        )
    }
}

/// Sends the clears of a call after its faults.
#[derive(Debug, Default)]
struct ClearsLast;

impl Edit for ClearsLast {
    fn edit(&mut self, mut events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        let stamps: Vec<_> = events.iter().map(|it| it.generated_timestamp).collect();
        events.sort_by_key(|event| event.is_healthy);
        for (event, stamp) in events.iter_mut().zip(stamps) {
            event.generated_timestamp = stamp;
        }
        events
    }
}

/// Names the first port instead of the port of the event.
#[derive(Debug, Default)]
struct FirstPortOfEveryDevice;

impl Edit for FirstPortOfEveryDevice {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| !event.is_healthy && is_of(event, CheckKind::State),
            |event| {
                let entities = event.entities_impacted.iter_mut();
                for entity in entities.filter(|entity| entity.entity_type == "NICPort") {
                    "1".clone_into(&mut entity.entity_value);
                }
            },
        )
    }
}

/// Reports a disappeared InfiniBand device under the Ethernet check too.
#[derive(Debug, Default)]
struct GoneOnBothLayers;

impl Edit for GoneOnBothLayers {
    fn edit(&mut self, mut events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        let is_gone = |event: &&HealthEvent| {
            event.is_fatal
                && event.check_name == Check::InfiniBandState.name()
                && subject(event) == Subject::Device
        };
        let gone = events.iter().filter(is_gone);
        let on_ethernet: Vec<_> = gone
            .map(|event| HealthEvent {
                check_name: Check::EthernetState.name().to_owned(),
                ..event.clone()
            })
            .collect();
        events.extend(on_ethernet);
        events
    }
}

/// Adds the card as an entity to the healthy event of a port.
#[derive(Debug, Default)]
struct RecoveryNamesTheCardToo;

impl Edit for RecoveryNamesTheCardToo {
    fn edit(&mut self, events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| is_port_recovery(event, standing),
            |event| {
                // The event of a port does not contain the card's address.
                let card = Entity {
                    entity_type: "NIC".to_owned(),
                    entity_value: format!("card of {}", event.entities_impacted[0].entity_value),
                };
                event.entities_impacted.push(card);
            },
        )
    }
}

/// Sends the recovery of a port under the counter check of its layer.
#[derive(Debug, Default)]
struct RecoveryUnderTheCounterCheck;

impl Edit for RecoveryUnderTheCounterCheck {
    fn edit(&mut self, events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| is_port_recovery(event, standing),
            |event| {
                rename_check(
                    event,
                    Check::InfiniBandDegradation,
                    Check::EthernetDegradation,
                );
            },
        )
    }
}

/// Omits the counter's name from the error codes of a recovery.
#[derive(Debug, Default)]
struct RecoveryWithoutItsCode;

impl Edit for RecoveryWithoutItsCode {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| {
                event.is_healthy
                    && is_of(event, CheckKind::Degradation)
                    && event.message.contains(" recovered on ")
            },
            |event| event.error_code.clear(),
        )
    }
}

/// Names only the device in the healthy event of a port.
#[derive(Debug, Default)]
struct RecoveryWithoutItsPort;

impl Edit for RecoveryWithoutItsPort {
    fn edit(&mut self, events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| is_port_recovery(event, standing),
            |event| event.entities_impacted.truncate(1),
        )
    }
}

/// Keeps the timestamp of an event's first attempt in every later poll.
#[derive(Debug, Default)]
struct StaleTimestamp {
    /// Seconds of the first attempt, by message.
    first_s: BTreeMap<String, i64>,
}

impl Edit for StaleTimestamp {
    fn edit(&mut self, mut events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent> {
        for event in &mut events {
            if standing.is_ended_by(event) {
                self.first_s.clear();
            }
            let Some(stamp) = &mut event.generated_timestamp else {
                continue;
            };
            if !event.is_healthy {
                let first_s = self.first_s.entry(event.message.clone());
                stamp.seconds = *first_s.or_insert(stamp.seconds);
            }
        }
        events
    }
}

/// Recommends no action for a disappeared device.
#[derive(Debug, Default)]
struct WrongAction;

impl Edit for WrongAction {
    fn edit(&mut self, events: Vec<HealthEvent>, _: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| {
                !event.is_healthy
                    && is_of(event, CheckKind::State)
                    && subject(event) == Subject::Device
            },
            |event| event.recommended_action = RecommendedAction::None.into(),
        )
    }
}

/// Names the first port in the event that a device is back.
#[derive(Debug, Default)]
struct WrongEntity;

impl Edit for WrongEntity {
    fn edit(&mut self, events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent> {
        change(
            events,
            |event| {
                is_of(event, CheckKind::State)
                    && subject(event) == Subject::Device
                    && standing.is_ended_by(event)
            },
            |event| {
                event.entities_impacted.push(Entity {
                    entity_type: "NICPort".to_owned(),
                    entity_value: "1".to_owned(),
                });
            },
        )
    }
}
