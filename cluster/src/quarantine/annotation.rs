//! What is outstanding on a cordoned node: the annotation `quarantineHealthEvent`.
//!
//! A fault has one key for each pair of its entities and codes. The annotation is read anew for each
//! event, and reading it makes every key of a fault that still stands again: so a fault goes only when
//! one healthy event meets all of its keys at once.

use std::collections::BTreeSet;

use proto::{Entity, HealthEvent};

/// One key of a fault.
///
/// The agent's class is part of it, unlike in a node condition: a clear of another class under the same
/// check name clears the condition and leaves the cordon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultKey {
    /// The agent.
    pub agent: String,
    /// The component class.
    pub component_class: String,
    /// The check.
    pub check: String,
    /// The node.
    pub node: String,
    /// The version of the event.
    pub version: u32,
    /// The entity; `None` for a fault that names none.
    pub entity: Option<Entity>,
    /// The code; `None` for a fault that has none.
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

/// The faults that hold a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    faults: BTreeSet<BTreeSet<FaultKey>>,
}

impl Annotation {
    /// How many faults are outstanding.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.faults.len()
    }

    /// Each outstanding fault, as its keys.
    pub fn iter(&self) -> impl Iterator<Item = &BTreeSet<FaultKey>> {
        self.faults.iter()
    }

    /// Takes in a fault; the same keys are the same fault, whatever the message.
    pub fn add(&mut self, fault: &HealthEvent) {
        self.faults.insert(keys_of(fault));
    }

    /// Takes away the faults of which this healthy event meets every key.
    ///
    /// Without entities it meets every key of its check. With codes it meets keys of these codes only:
    /// upstream's text gives that rule without an exception, so it holds here without entities too.
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
