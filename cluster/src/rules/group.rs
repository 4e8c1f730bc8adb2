//! Groups: the common values of a rule's events, by its `group_by`.

use std::{collections::BTreeMap, fmt};

use proto::{Entity, HealthEvent};

use super::{
    cabling::{CabledPort, Cabling},
    rule::GroupBy,
};

/// Terminates each value, so that a group's first values are a prefix of it. Names do not contain it.
const END: char = '\u{1f}';

/// The common values of a group's events.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(String);

impl Group {
    /// The group of an event; `None` if it lacks one of the values.
    pub(super) fn of(
        by: &[GroupBy],
        event: &HealthEvent,
        cabling: Option<&Cabling>,
    ) -> Option<Self> {
        let mut group = String::new();
        for by in by {
            group += value(by, event, cabling)?;
            group.push(END);
        }
        Some(Self(group))
    }

    /// The values, in the order of `group_by`.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.split_terminator(END)
    }

    /// Size of the text in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.capacity()
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.values().enumerate() {
            let between = if at == 0 { "" } else { "/" };
            write!(f, "{between}{value}")?;
        }
        Ok(())
    }
}

/// The value in the event; `None` if it has none.
pub(super) fn value<'a>(
    by: &GroupBy,
    event: &'a HealthEvent,
    cabling: Option<&'a Cabling>,
) -> Option<&'a str> {
    match by {
        GroupBy::Node => Some(&event.node_name),
        GroupBy::Check => Some(&event.check_name),
        GroupBy::Code => event.error_code.first().map(String::as_str),
        GroupBy::Entity(kind) => entity(event, kind),
        GroupBy::Switch => cabling?.switch(&CabledPort {
            node: event.node_name.clone(),
            device: entity(event, "NIC")?.to_owned(),
            port: entity(event, "NICPort")?.to_owned(),
        }),
    }
}

fn entity<'a>(event: &'a HealthEvent, kind: &str) -> Option<&'a str> {
    let is_meant = |entity: &&Entity| entity.entity_type == kind;
    let found = event.entities_impacted.iter().find(is_meant);
    found.map(|entity| entity.entity_value.as_str())
}

/// The known groups that a healthy event is about. Entities that it does not name match everything:
/// one without entities is about every group of its node, one about a device about each port of that
/// device.
pub(super) fn spoken_of<T>(
    known: &BTreeMap<Group, T>,
    by: &[GroupBy],
    event: &HealthEvent,
    cabling: Option<&Cabling>,
) -> Vec<Group> {
    if let Some(group) = Group::of(by, event, cabling) {
        return if known.contains_key(&group) {
            vec![group]
        } else {
            Vec::new()
        };
    }
    let wanted: Vec<Option<&str>> = by.iter().map(|by| value(by, event, cabling)).collect();
    let mut prefix = String::new();
    for value in wanted.iter().map_while(|value| *value) {
        prefix += value;
        prefix.push(END);
    }
    let from = Group(prefix.clone());
    let near = known.range(from..).map(|(group, _)| group);
    let near = near.take_while(|group| group.0.starts_with(&prefix));
    let meets = |group: &&Group| {
        let mut pairs = group.values().zip(&wanted);
        pairs.all(|(is, wanted)| wanted.is_none_or(|wanted| wanted == is))
    };
    near.filter(meets).cloned().collect()
}
