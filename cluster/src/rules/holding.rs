//! Rules that hold others back: after a firing about a port, further ones wait until the port was well
//! for a while, and then become one that says how many they were.
//!
//! The first is never held. The hold ends so long after the last recovery since that firing; while a
//! port does not recover it goes on, for the firing stands and nothing new is to be said. Where the
//! port was not seen unhealthy at the firing, it counts as recovered at that instant. The one that
//! stands for many begins a hold of its own.

use std::collections::{BTreeMap, BTreeSet};

use proto::HealthEvent;

use super::{
    cabling::Cabling,
    firing::{Firing, FiringKind},
    group::{Group, spoken_of},
    rule::{Hold, Rule},
    waiting::is_of_its_check,
};
use crate::stamp::Stamp;

/// What a rule holds back, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds(BTreeMap<Group, Held>);

#[derive(Clone, Debug, Default)]
struct Held {
    is_down: bool,
    hold: Option<Holding>,
    touched: Stamp,
}

#[derive(Clone, Debug, Default)]
struct Holding {
    recovered: Option<Stamp>,
    waiting: Vec<Firing>,
    count: usize,
}

/// What becomes of a firing.
pub(super) enum Gate {
    /// It is published; when the hold is to be looked at, if that is known.
    Open(Option<Stamp>),
    /// It waits.
    Shut,
}

impl Holds {
    /// Takes in an event; when the rule wants to be reminded of which groups.
    pub(super) fn take(
        &mut self,
        rule: &Rule,
        hold: &Hold,
        event: &HealthEvent,
        cabling: Option<&Cabling>,
        clock: Stamp,
    ) -> Vec<(Stamp, Group)> {
        if !rule.matches.iter().any(|one| is_of_its_check(one, event)) {
            return Vec::new();
        }
        let at = Stamp::of(event.generated_timestamp.as_ref());
        if !event.is_healthy {
            if let Some(group) = Group::of(&rule.group_by, event, cabling) {
                let held = self.0.entry(group).or_default();
                held.is_down = true;
                held.touched = clock;
            }
            return Vec::new();
        }
        let mut due = Vec::new();
        for group in spoken_of(&self.0, &rule.group_by, event, cabling) {
            let Some(held) = self.0.get_mut(&group) else {
                continue;
            };
            held.is_down = false;
            held.touched = clock;
            if let Some(holding) = &mut held.hold {
                let recovered = holding.recovered.map_or(at, |last| last.max(at));
                holding.recovered = Some(recovered);
                due.push((recovered.after(hold.hold), group));
            }
        }
        due
    }

    /// Lets a firing through or holds it back.
    pub(super) fn gate(&mut self, hold: &Hold, firing: &Firing, clock: Stamp) -> Gate {
        let held = self.0.entry(firing.group.clone()).or_default();
        held.touched = clock;
        match (&mut held.hold, firing.kind) {
            (Some(holding), FiringKind::Fired) => {
                holding.count += 1;
                holding.waiting.retain(|waits| waits.rule != firing.rule);
                holding.waiting.push(firing.clone());
                Gate::Shut
            }
            (Some(holding), FiringKind::Cleared) => {
                let before = holding.waiting.len();
                holding.waiting.retain(|waits| waits.rule != firing.rule);
                if holding.waiting.len() == before {
                    return Gate::Open(None);
                }
                // What was held back is over before anybody heard of it.
                holding.count -= 1;
                Gate::Shut
            }
            (None, FiringKind::Cleared) => Gate::Open(None),
            (None, FiringKind::Fired) => Gate::Open(held.begin(hold, firing.at)),
        }
    }

    /// Looks at a group of which the rule was reminded: the one firing that stands for those held back.
    pub(super) fn remind(
        &mut self,
        rule: &Rule,
        hold: &Hold,
        group: &Group,
        now: Stamp,
    ) -> Option<(Firing, Option<Stamp>)> {
        let held = self.0.get_mut(group)?;
        let recovered = held.hold.as_ref()?.recovered?;
        if now < recovered.after(hold.hold) {
            return None;
        }
        let mut holding = held.hold.take()?;
        let mut firing = holding.waiting.pop()?;
        firing.at = now;
        firing.count = holding.count;
        firing.event.message += &format!(" ({} {})", holding.count, rule.message);
        let due = held.begin(hold, now);
        Some((firing.by_the_clock(), due))
    }

    /// The clock was put back to `now`: nobody waits longer than the rule says.
    pub(super) fn step_back(&mut self, hold: &Hold, now: Stamp) -> BTreeSet<(Stamp, Group)> {
        let mut due = BTreeSet::new();
        for (group, held) in &mut self.0 {
            if let Some(recovered) = held.hold.as_mut().and_then(|hold| hold.recovered.as_mut()) {
                *recovered = (*recovered).min(now);
                due.insert((recovered.after(hold.hold), group.clone()));
            }
        }
        due
    }

    /// Forgets the groups in which nothing is held and of which nothing was heard since before `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0
            .retain(|_, held| held.hold.is_some() || held.is_down || held.touched >= oldest);
    }

    /// Bytes kept.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(Group, Held)>();
        let of = |(group, held): (&Group, &Held)| {
            let waiting = held.hold.as_ref().map_or(0, |hold| hold.waiting.len());
            entry + group.len() + waiting * (size_of::<Firing>() + 512)
        };
        self.0.iter().map(of).sum()
    }
}

impl Held {
    /// A hold begins with a firing; when to look at it, if that is known.
    fn begin(&mut self, hold: &Hold, at: Stamp) -> Option<Stamp> {
        let recovered = (!self.is_down).then_some(at);
        self.hold = Some(Holding {
            recovered,
            ..Holding::default()
        });
        recovered.map(|at| at.after(hold.hold))
    }
}
