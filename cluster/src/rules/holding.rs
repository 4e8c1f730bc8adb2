//! Holding rules: after a firing about a port, further ones are held back until the port was healthy for
//! a while, and then become one with their number.
//!
//! The first firing is never held. The hold ends a certain time after the last recovery since that
//! firing; while a port does not recover it continues, because the firing still applies. If the port was
//! not unhealthy at the firing, it counts as recovered at that time. The summary firing starts a new
//! hold.

use std::collections::{BTreeMap, BTreeSet};

use proto::HealthEvent;

use super::{
    cabling::Cabling,
    firing::{Firing, FiringKind},
    group::{Group, spoken_of},
    rule::{Hold, Rule},
};
use crate::stamp::Stamp;

/// The holds of a rule, by group.
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

/// The decision about a firing.
pub(super) enum Gate {
    /// It is published; with the time to check the hold, if that is known.
    Open(Option<Stamp>),
    /// It is held back.
    Shut,
}

impl Holds {
    /// Processes an event; returns which groups to check, and when.
    pub(super) fn take(
        &mut self,
        rule: &Rule,
        hold: &Hold,
        event: &HealthEvent,
        cabling: Option<&Cabling>,
        clock: Stamp,
    ) -> Vec<(Stamp, Group)> {
        if !rule.matches.iter().any(|one| one.is_of_its_check(event)) {
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

    /// Decides whether a firing is published or held back.
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
                // A fault that is over before its firing was published is not counted.
                holding.count -= 1;
                Gate::Shut
            }
            (None, FiringKind::Cleared) => Gate::Open(None),
            (None, FiringKind::Fired) => Gate::Open(held.begin(hold, firing.at)),
        }
    }

    /// Checks a group; returns the firing that summarises those held back.
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

    /// The clock was set back to `now`: limits all waits to the rule's time.
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

    /// Removes the groups without held firings and without events since `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0
            .retain(|_, held| held.hold.is_some() || held.is_down || held.touched >= oldest);
    }

    /// Size in bytes.
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
    /// Starts a hold with a firing; returns when to check it, if that is known.
    fn begin(&mut self, hold: &Hold, at: Stamp) -> Option<Stamp> {
        let recovered = (!self.is_down).then_some(at);
        self.hold = Some(Holding {
            recovered,
            ..Holding::default()
        });
        recovered.map(|at| at.after(hold.hold))
    }
}
