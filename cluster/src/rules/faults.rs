//! Tracks which faults are present, to distinguish falls and returns from repeated events about a
//! fault.
//!
//! A fault is a check with entities and codes on a node. A healthy event ends each fault of its check
//! that has all of its entities and, if it has codes, one of them.

use std::{collections::BTreeMap, time::Duration};

use proto::{Entity, HealthEvent};

use crate::stamp::Stamp;

/// What an event means for its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The subject was healthy and is unhealthy now.
    Fall,
    /// The subject was unhealthy for this long and is healthy now.
    Return(Duration),
    /// No change.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fault {
    check: String,
    entities: Vec<Entity>,
    codes: Vec<String>,
}

impl Fault {
    fn of(event: &HealthEvent) -> Self {
        Self {
            check: event.check_name.clone(),
            entities: event.entities_impacted.clone(),
            codes: event.error_code.clone(),
        }
    }

    fn is_ended_by(&self, healthy: &HealthEvent) -> bool {
        let codes = &healthy.error_code;
        let mut entities = healthy.entities_impacted.iter();
        self.check == healthy.check_name
            && entities.all(|entity| self.entities.contains(entity))
            && (codes.is_empty() || codes.iter().any(|code| self.codes.contains(code)))
    }
}

/// The history of one fault, as far as it is kept.
#[derive(Clone, Debug, Default)]
struct Life {
    /// Since when it is present.
    stands: Option<Stamp>,
    /// The last fall, so that a repeated line is not another fall.
    fell: Option<Stamp>,
    /// The last healthy event, so that a late fall is known to be over.
    well: Option<Stamp>,
}

/// The faults of a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults(BTreeMap<String, BTreeMap<Fault, Life>>);

impl Faults {
    pub(super) fn take(&mut self, event: &HealthEvent, at: Stamp) -> Turn {
        let faults = self.0.entry(event.node_name.clone()).or_default();
        if event.is_healthy {
            return well(faults, event, at);
        }
        let life = faults.entry(Fault::of(event)).or_default();
        if let Some(since) = life.stands {
            life.stands = Some(since.min(at));
            return Turn::None;
        }
        if life.fell == Some(at) {
            return Turn::None;
        }
        life.fell = Some(at);
        let is_over = life.well.is_some_and(|well| at < well);
        life.stands = (!is_over).then_some(at);
        Turn::Fall
    }

    /// Removes what has been healthy since before `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0.retain(|_, faults| {
            let is_recent = |at: Option<Stamp>| at.is_some_and(|at| at >= oldest);
            faults.retain(|_, life| {
                life.stands.is_some() || is_recent(life.fell) || is_recent(life.well)
            });
            !faults.is_empty()
        });
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of = |fault: &Fault| {
            let entity =
                |entity: &Entity| entity.entity_type.len() + entity.entity_value.len() + 48;
            let codes = fault.codes.iter().map(|code| code.len() + 24);
            fault.check.len()
                + fault.entities.iter().map(entity).sum::<usize>()
                + codes.sum::<usize>()
                + size_of::<(Fault, Life)>()
        };
        let of_node = |(node, faults): (&String, &BTreeMap<Fault, Life>)| {
            node.len() + size_of::<String>() + faults.keys().map(of).sum::<usize>()
        };
        self.0.iter().map(of_node).sum()
    }
}

fn well(faults: &mut BTreeMap<Fault, Life>, event: &HealthEvent, at: Stamp) -> Turn {
    let mut turn = Turn::None;
    let mut is_known = false;
    for (fault, life) in faults
        .iter_mut()
        .filter(|(fault, _)| fault.is_ended_by(event))
    {
        is_known |= fault.entities == event.entities_impacted && fault.codes == event.error_code;
        if life.stands.is_some_and(|since| at < since) {
            continue;
        }
        life.well = Some(life.well.map_or(at, |well| well.max(at)));
        if let Some(since) = life.stands.take() {
            let stood = at.apart(since);
            turn = match turn {
                Turn::Return(longest) => Turn::Return(longest.max(stood)),
                _ => Turn::Return(stood),
            };
        }
    }
    if !is_known && !event.entities_impacted.is_empty() {
        let life = Life {
            well: Some(at),
            ..Life::default()
        };
        faults.insert(Fault::of(event), life);
    }
    turn
}
