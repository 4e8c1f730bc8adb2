//! Silence rules: a fault, and then no event that breaks the silence for a while.
//!
//! The rule checks once, at the first tick at or after the end of the silence, the events with
//! timestamps in `(onset + grace, onset + silence]`, in whatever order they came. Its firing is cleared
//! by the port's healthy event. Silence causes no event, so the clock is an input.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proto::HealthEvent;

use super::{
    cabling::Cabling,
    firing::Firing,
    group::{Group, spoken_of},
    rule::{Rule, Silence},
};
use crate::stamp::Stamp;

/// The number of silence-breaking events kept per group. Chosen: one is enough to break a silence, the
/// others allow for late events.
const BREAKS_KEPT: usize = 16;

/// The state of a rule, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Watches(BTreeMap<Group, Watch>);

#[derive(Clone, Debug, Default)]
struct Watch {
    fault: Option<Standing>,
    breaks: VecDeque<Stamp>,
    /// The last healthy event, so that a late fault is known to be over.
    well: Option<Stamp>,
    /// A firing that is over, but is cleared only after a while.
    sticky: Option<(Stamp, Firing)>,
    touched: Stamp,
}

#[derive(Clone, Debug)]
struct Standing {
    onset: Stamp,
    event: HealthEvent,
    /// Whether the rule has checked this fault; it does so once.
    is_judged: bool,
    reported: Option<Firing>,
}

/// The consequences of one event.
#[derive(Debug, Default)]
pub(super) struct Waited {
    /// Which groups to check, and when.
    pub(super) due: Vec<(Stamp, Group)>,
    /// Firings that are cleared at once.
    pub(super) cleared: Vec<Firing>,
}

impl Watches {
    pub(super) fn take(
        &mut self,
        rule: &Rule,
        silence: &Silence,
        event: &HealthEvent,
        cabling: Option<&Cabling>,
        clock: Stamp,
    ) -> Waited {
        let mut waited = Waited::default();
        let at = Stamp::of(event.generated_timestamp.as_ref());
        if event.is_healthy {
            if rule.matches.iter().any(|one| one.is_of_its_check(event)) {
                self.well(rule, silence, event, cabling, &mut waited);
            }
            return waited;
        }
        let is_fault = rule.matches.iter().any(|one| one.meets(event));
        let is_break = silence.broken_by.iter().any(|one| one.meets(event));
        if !is_fault && !is_break {
            return waited;
        }
        let Some(group) = Group::of(&rule.group_by, event, cabling) else {
            return waited;
        };
        let watch = self.0.entry(group.clone()).or_default();
        watch.touched = clock;
        if is_break {
            if watch.breaks.len() >= BREAKS_KEPT {
                watch.breaks.pop_front();
            }
            watch.breaks.push_back(at);
        }
        if is_fault && watch.well.is_none_or(|well| well <= at) {
            let onset = watch.begin(event, at);
            waited.due.push((onset.after(silence.silence), group));
        }
        waited
    }

    fn well(
        &mut self,
        rule: &Rule,
        silence: &Silence,
        event: &HealthEvent,
        cabling: Option<&Cabling>,
        waited: &mut Waited,
    ) {
        let at = Stamp::of(event.generated_timestamp.as_ref());
        for group in spoken_of(&self.0, &rule.group_by, event, cabling) {
            let Some(watch) = self.0.get_mut(&group) else {
                continue;
            };
            if watch.fault.as_ref().is_some_and(|fault| at < fault.onset) {
                continue;
            }
            watch.well = Some(watch.well.map_or(at, |well| well.max(at)));
            let Some(reported) = watch.fault.take().and_then(|fault| fault.reported) else {
                continue;
            };
            if silence.sticky.is_zero() {
                waited.cleared.push(reported.cleared(at));
            } else {
                let due = at.after(silence.sticky);
                watch.sticky = Some((due, reported));
                waited.due.push((due, group));
            }
        }
    }

    /// Checks a group; returns what it fires or clears.
    pub(super) fn remind(
        &mut self,
        rule: &Rule,
        silence: &Silence,
        group: &Group,
        now: Stamp,
    ) -> Vec<Firing> {
        let mut reported = Vec::new();
        let Some(watch) = self.0.get_mut(group) else {
            return reported;
        };
        if let Some((_, firing)) = watch.sticky.take_if(|(due, _)| *due <= now) {
            reported.push(firing.cleared(now));
        }
        let Some(fault) = &mut watch.fault else {
            return reported;
        };
        let end = fault.onset.after(silence.silence);
        if fault.is_judged || now < end {
            return reported;
        }
        fault.is_judged = true;
        let begin = fault.onset.after(silence.grace);
        let is_broken = |at: &Stamp| *at > begin && *at <= end;
        if !watch.breaks.iter().any(is_broken) {
            let firing = Firing::of(rule, group, now, 1, &fault.event).by_the_clock();
            fault.reported = Some(firing.clone());
            // A firing that is still present continues.
            if watch.sticky.take().is_none() {
                reported.push(firing);
            }
        }
        reported
    }

    /// The clock was set back to `now`: it is not known how long a fault was present before, so its
    /// silence starts again.
    pub(super) fn step_back(&mut self, silence: &Silence, now: Stamp) -> BTreeSet<(Stamp, Group)> {
        let mut due = BTreeSet::new();
        for (group, watch) in &mut self.0 {
            if let Some((until, _)) = &mut watch.sticky {
                *until = (*until).min(now.after(silence.sticky));
                due.insert((*until, group.clone()));
            }
            if let Some(fault) = &mut watch.fault {
                fault.onset = fault.onset.min(now);
                due.insert((fault.onset.after(silence.silence), group.clone()));
            }
            watch.well = watch.well.map(|well| well.min(now));
        }
        due
    }

    /// Removes the groups without a firing and without events since `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0.retain(|_, watch| {
            watch.fault.is_some() || watch.sticky.is_some() || watch.touched >= oldest
        });
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(Group, Watch)>();
        let of = |(group, watch): (&Group, &Watch)| {
            let breaks = watch.breaks.capacity() * size_of::<Stamp>();
            let event = watch
                .fault
                .as_ref()
                .map_or(0, |fault| fault.event.message.len() + 256);
            entry + group.len() + breaks + event
        };
        self.0.iter().map(of).sum()
    }
}

impl Watch {
    /// Starts a fault; the first event about it is its onset.
    fn begin(&mut self, event: &HealthEvent, at: Stamp) -> Stamp {
        let fault = self.fault.get_or_insert_with(|| Standing {
            onset: at,
            event: event.clone(),
            is_judged: false,
            reported: None,
        });
        fault.onset = fault.onset.min(at);
        fault.onset
    }
}
