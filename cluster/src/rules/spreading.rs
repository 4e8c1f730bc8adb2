//! Rules that count different things: one switch behind the faults of many nodes.
//!
//! The window is as for a plain count. Once there are enough, the rule may wait for a moment, so that
//! it says how many there are and not how many it needs. It speaks once, until a further event has
//! found fewer than it needs.

use std::collections::{BTreeMap, BTreeSet};

use proto::HealthEvent;

use super::{
    faults::Turn,
    group::Group,
    rule::{Rule, Spread},
};
use crate::{rules::counting::meets, stamp::Stamp};

/// What a rule has seen, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Spots(BTreeMap<Group, Spot>);

#[derive(Clone, Debug)]
struct Spot {
    /// The last stamp of each different one.
    latest: BTreeMap<String, Stamp>,
    /// Those that were enough, and since when the window that held them began.
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
    /// Takes in an event of this group; when the rule wants to be reminded, if it does.
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

    /// Looks at a group of which the rule was reminded: how many there are, and the event to speak with.
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

    /// The clock was put back to `now`: nobody waits longer than the rule says.
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

    /// Forgets the groups of which nothing was heard since before `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0
            .retain(|_, spot| spot.touched >= oldest || spot.enough.is_some());
        for spot in self.0.values_mut() {
            spot.latest.retain(|_, at| *at >= oldest);
        }
    }

    /// Bytes kept.
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
