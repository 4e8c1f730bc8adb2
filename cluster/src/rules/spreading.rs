//! Rules that count different values, such as the nodes with faults at one switch.
//!
//! The window is that of a counting rule. Once there are enough values, the rule may wait for a while,
//! so that it reports their actual number. It fires once, until a further event has found fewer than
//! required.

use std::collections::{BTreeMap, BTreeSet};

use proto::HealthEvent;

use super::{
    faults::Turn,
    group::Group,
    rule::{Rule, Spread},
};
use crate::{rules::counting::meets, stamp::Stamp};

/// The values that a rule has seen, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Spots(BTreeMap<Group, Spot>);

#[derive(Clone, Debug)]
struct Spot {
    /// The last timestamp of each value.
    latest: BTreeMap<String, Stamp>,
    /// The values that were enough, and the start of their window.
    enough: Option<Enough>,
    is_said: bool,
    last: HealthEvent,
    touched: Stamp,
}

#[derive(Clone, Copy, Debug)]
struct Enough {
    since: Stamp,
    due: Stamp,
}

impl Spots {
    /// Adds an event of this group; returns when to check the group, if necessary.
    pub(super) fn take(
        &mut self,
        rule: &Rule,
        spread: &Spread,
        (group, value): (&Group, &str),
        event: &HealthEvent,
        turn: Turn,
        clock: Stamp,
    ) -> Option<Stamp> {
        if !rule.matches.iter().any(|one| meets(one, event, turn)) {
            return None;
        }
        let at = Stamp::of(event.generated_timestamp.as_ref());
        let spot = self.0.entry(group.clone()).or_insert_with(|| Spot {
            latest: BTreeMap::new(),
            enough: None,
            is_said: false,
            last: event.clone(),
            touched: clock,
        });
        spot.touched = clock;
        spot.last = event.clone();
        let seen = spot.latest.entry(value.to_owned()).or_insert(at);
        *seen = (*seen).max(at);
        let since = at.before(spread.window);
        if spot.count(since, at) < spread.count {
            spot.is_said = false;
            return None;
        }
        if spot.is_said || spot.enough.is_some() {
            return None;
        }
        let due = at.after(spread.settle);
        spot.enough = Some(Enough { since, due });
        Some(due)
    }

    /// Checks a group; returns the number of values, and the event to fire with.
    pub(super) fn remind(&mut self, group: &Group, now: Stamp) -> Option<(usize, HealthEvent)> {
        let spot = self.0.get_mut(group)?;
        let Enough { since, due } = spot.enough?;
        if now < due {
            return None;
        }
        spot.enough = None;
        spot.is_said = true;
        Some((spot.count(since, due), spot.last.clone()))
    }

    /// The clock was set back to `now`: limits all waits to the rule's time.
    pub(super) fn step_back(&mut self, spread: &Spread, now: Stamp) -> BTreeSet<(Stamp, Group)> {
        let latest = now.after(spread.settle);
        let mut due = BTreeSet::new();
        for (group, spot) in &mut self.0 {
            if let Some(enough) = &mut spot.enough {
                enough.due = enough.due.min(latest);
                due.insert((enough.due, group.clone()));
            }
        }
        due
    }

    /// Removes the groups without events since `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0
            .retain(|_, spot| spot.touched >= oldest || spot.enough.is_some());
        for spot in self.0.values_mut() {
            spot.latest.retain(|_, at| *at >= oldest);
        }
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(Group, Spot)>();
        let of = |(group, spot): (&Group, &Spot)| {
            let values = spot.latest.keys().map(|value| value.len() + 40);
            entry + group.len() + values.sum::<usize>() + spot.last.message.len() + 256
        };
        self.0.iter().map(of).sum()
    }
}

impl Spot {
    fn count(&self, since: Stamp, until: Stamp) -> usize {
        let stamps = self.latest.values();
        stamps.filter(|at| (since..=until).contains(*at)).count()
    }
}
