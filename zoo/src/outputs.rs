//! Wrong outputs: a publisher that sends other events than those that the agent passed to it.
//!
//! An event that is omitted from a batch is lost, because the agent sees the batch as accepted. The
//! edits are in [`lost`](crate::lost) and [`events`](crate::events).

use std::collections::BTreeSet;
use std::fmt::Debug;

use checks::{Outcome, Publisher};
use proto::{HealthEvent, HealthEvents};
use terms::{Check, CheckKind};

/// Changes the events of a batch.
pub(crate) trait Edit: Debug + Default {
    /// The events to send instead of `events`; `standing` has the faults that were accepted before.
    fn edit(&mut self, events: Vec<HealthEvent>, standing: &Standing) -> Vec<HealthEvent>;
}

/// Wraps a publisher with an edit.
pub(crate) fn edited<'a, E: Edit + 'static>(
    inner: Box<dyn Publisher + 'a>,
) -> Box<dyn Publisher + 'a> {
    Box::new(Edited {
        inner,
        edit: E::default(),
        standing: Standing::default(),
    })
}

struct Edited<'a, E> {
    inner: Box<dyn Publisher + 'a>,
    edit: E,
    standing: Standing,
}

impl<E: Edit> Publisher for Edited<'_, E> {
    fn publish(&mut self, batch: HealthEvents) -> Option<Outcome> {
        let events = self.edit.edit(batch.events.clone(), &self.standing);
        let outcome = if events.is_empty() {
            Outcome::Accepted
        } else {
            self.inner.publish(HealthEvents {
                version: batch.version,
                events,
            })?
        };
        if outcome == Outcome::Accepted {
            self.standing.accepted(batch.events);
        }
        Some(outcome)
    }
}

/// The faults that the agent has passed on since it started and whose recovery it has not.
#[derive(Debug, Default)]
pub(crate) struct Standing(BTreeSet<Fault>);

/// Check, entities, error codes.
type Fault = (String, Vec<(String, String)>, Vec<String>);

fn fault(event: &HealthEvent) -> Fault {
    let entities = event.entities_impacted.iter();
    let entities = entities.map(|it| (it.entity_type.clone(), it.entity_value.clone()));
    (
        event.check_name.clone(),
        entities.collect(),
        event.error_code.clone(),
    )
}

impl Standing {
    /// Whether the event is the recovery from a fault.
    pub(crate) fn is_ended_by(&self, event: &HealthEvent) -> bool {
        event.is_healthy && self.0.contains(&fault(event))
    }

    fn accepted(&mut self, events: Vec<HealthEvent>) {
        for event in &events {
            if event.is_healthy {
                self.0.remove(&fault(event));
            } else {
                self.0.insert(fault(event));
            }
        }
    }
}

/// The check that an event names.
fn check(event: &HealthEvent) -> Option<Check> {
    Check::ALL
        .into_iter()
        .find(|check| check.name() == event.check_name)
}

/// Whether the event is of a check of this kind.
pub(crate) fn is_of(event: &HealthEvent, kind: CheckKind) -> bool {
    check(event).is_some_and(|check| check.kind() == kind)
}

/// Whether the event is about a port, a device or a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Port,
    Device,
    Card,
}

/// The entity of an event. A card is named by its PCI address.
pub(crate) fn subject(event: &HealthEvent) -> Subject {
    match event.entities_impacted.as_slice() {
        [_, _, ..] => Subject::Port,
        [entity] if entity.entity_value.contains(':') => Subject::Card,
        _ => Subject::Device,
    }
}
