//! The outstanding faults of a cordoned node: the annotation `quarantineHealthEvent`.
//!
//! A fault has one key for each pair of its entities and codes. The annotation is read again for each
//! event, and reading it restores every key of an outstanding fault: so a fault is only removed when
//! one healthy event matches all of its keys.

use std::collections::BTreeSet;

use proto::{Entity, HealthEvent};

/// A key of a fault.
///
/// Unlike in a node condition, the component class is part of it: a healthy event of another class with
/// the same check name clears the condition but not the cordon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultKey {
    /// `agent` of the event.
    pub agent: String,
    /// `componentClass` of the event.
    pub component_class: String,
    /// `checkName` of the event.
    pub check: String,
    /// `nodeName` of the event.
    pub node: String,
    /// The version of the event.
    pub version: u32,
    /// The entity; `None` for a fault without entities.
    pub entity: Option<Entity>,
    /// The code; `None` for a fault without codes.
    pub code: Option<String>,
}

/// The keys of a fault.
#[must_use]
pub fn keys_of(event: &HealthEvent) -> BTreeSet<FaultKey> {
    let entities = or_none(&event.entities_impacted);
    let codes = or_none(&event.error_code);
    let pairs = entities
        .iter()
        .flat_map(|entity| codes.iter().map(move |code| (entity, code)));
    pairs
        .map(|(entity, code)| FaultKey {
            agent: event.agent.clone(),
            component_class: event.component_class.clone(),
            check: event.check_name.clone(),
            node: event.node_name.clone(),
            version: event.version,
            entity: entity.clone(),
            code: code.clone(),
        })
        .collect()
}

fn or_none<T: Clone>(all: &[T]) -> Vec<Option<T>> {
    if all.is_empty() {
        vec![None]
    } else {
        all.iter().cloned().map(Some).collect()
    }
}

/// The outstanding faults of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    faults: BTreeSet<BTreeSet<FaultKey>>,
}

impl Annotation {
    /// The number of outstanding faults.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.faults.len()
    }

    /// The keys of each outstanding fault.
    pub fn iter(&self) -> impl Iterator<Item = &BTreeSet<FaultKey>> {
        self.faults.iter()
    }

    /// Adds a fault; a fault with the same keys is the same fault, whatever its message.
    pub fn add(&mut self, fault: &HealthEvent) {
        self.faults.insert(keys_of(fault));
    }

    /// Removes the faults of which this healthy event matches every key.
    ///
    /// Without entities it matches every key of its check. With codes it matches keys of these codes
    /// only; NVSentinel's documentation states that rule without an exception, so it applies without
    /// entities too.
    pub fn settle(&mut self, healthy: &HealthEvent) {
        let of_its_check = |key: &FaultKey| {
            key.agent == healthy.agent
                && key.component_class == healthy.component_class
                && key.check == healthy.check_name
                && key.version == healthy.version
        };
        let named = &healthy.entities_impacted;
        let meets = |key: &FaultKey| {
            let entity = named.is_empty() || key.entity.as_ref().is_some_and(|e| named.contains(e));
            let codes = &healthy.error_code;
            let code = codes.is_empty() || key.code.as_ref().is_some_and(|c| codes.contains(c));
            of_its_check(key) && entity && code
        };
        self.faults.retain(|fault| !fault.iter().all(meets));
    }
}
