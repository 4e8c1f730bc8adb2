//! Evaluates rules over a stream: [`Analyzer::take`] processes events, [`Analyzer::tick`] advances the
//! clock, and both return what the rules emit.
//!
//! Windows use the events' timestamps. The clock only ends silences and holds, and removes old state.
//! Events of the analyzer itself and `STORE_ONLY` events are ignored. Source of the engine's behaviour:
//! NVSentinel, health-events-analyzer.

use std::{collections::BTreeSet, time::Duration};

use proto::{HealthEvent, ProcessingStrategy};

use super::{
    agenda::Agenda,
    cabling::Cabling,
    counting::Tallies,
    faults::{Faults, Turn},
    firing::{ANALYZER, Firing},
    group::{Group, value},
    holding::{Gate, Holds},
    rule::{Body, GroupBy, On, Rule},
    spreading::Spots,
    waiting::Watches,
};
use crate::stamp::Stamp;

/// The interval at which old state is removed.
const SWEEP: Duration = Duration::from_secs(60);

/// A rule that cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{rule}` cannot be evaluated: it needs the cabling of ports and switches\nhint: {hint}", hint = Self::HINT)]
pub struct Unevaluable {
    /// The name of the rule.
    pub rule: String,
}

impl Unevaluable {
    /// The hint.
    pub const HINT: &str = "give the world's cabling";
}

/// The rules of a cluster and their state.
#[derive(Clone, Debug)]
pub struct Analyzer {
    rules: Vec<Running>,
    cabling: Option<Cabling>,
    faults: Faults,
    agenda: Agenda,
    /// The latest time known.
    clock: Stamp,
    ticked: Option<Stamp>,
    swept: Stamp,
    /// How long state can matter.
    memory: Duration,
}

#[derive(Clone, Debug)]
struct Running {
    rule: Rule,
    /// The rule that holds back this one's events.
    held_by: Option<usize>,
    seen: Seen,
}

#[derive(Clone, Debug)]
enum Seen {
    Tallies(Tallies),
    Spots(Spots),
    Watches(Watches),
    Holds(Holds),
}

impl Analyzer {
    /// These rules in their initial state, in a world with this cabling, if it is known.
    #[must_use]
    pub fn new(rules: Vec<Rule>, cabling: Option<Cabling>) -> Self {
        let memory = rules.iter().map(|rule| memory_of(&rule.body)).max();
        let held_by = |name: &String| {
            let holds = |rule: &Rule| match &rule.body {
                Body::Hold(hold) => hold.holds.contains(name),
                _ => false,
            };
            rules.iter().position(holds)
        };
        let held_by: Vec<Option<usize>> = rules.iter().map(|rule| held_by(&rule.name)).collect();
        let pairs = rules.into_iter().zip(held_by);
        let rules = pairs.map(|(rule, held_by)| Running {
            held_by,
            seen: match rule.body {
                Body::Count(_) => Seen::Tallies(Tallies::default()),
                Body::Spread(_) => Seen::Spots(Spots::default()),
                Body::Silence(_) => Seen::Watches(Watches::default()),
                Body::Hold(_) => Seen::Holds(Holds::default()),
            },
            rule,
        });
        Self {
            rules: rules.collect(),
            cabling,
            faults: Faults::default(),
            agenda: Agenda::default(),
            clock: Stamp::from_ns(i64::MIN),
            ticked: None,
            swept: Stamp::from_ns(i64::MIN),
            memory: memory.unwrap_or_default(),
        }
    }

    /// The rules.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|running| &running.rule)
    }

    /// The rules that never fire because the cabling is not known.
    #[must_use]
    pub fn unevaluable(&self) -> Vec<Unevaluable> {
        if self.cabling.is_some() {
            return Vec::new();
        }
        let needs = |rule: &&Rule| {
            let distinct = match &rule.body {
                Body::Spread(spread) => spread.distinct == GroupBy::Switch,
                _ => false,
            };
            distinct || rule.group_by.contains(&GroupBy::Switch)
        };
        let rules = self.rules().filter(needs);
        rules
            .map(|rule| Unevaluable {
                rule: rule.name.clone(),
            })
            .collect()
    }

    /// Processes one stored event; returns the immediate events of rules.
    pub fn take(&mut self, event: &HealthEvent) -> Vec<Firing> {
        let is_out = event.processing_strategy() == ProcessingStrategy::StoreOnly;
        if is_out || event.agent == ANALYZER {
            return Vec::new();
        }
        let at = Stamp::of(event.generated_timestamp.as_ref());
        self.clock = self.clock.max(at);
        self.sweep();
        let turn = self.faults.take(event, at);
        let mut reported = Vec::new();
        // Holding rules are evaluated first, so that they know the state of a port.
        for holds in [true, false] {
            for index in 0..self.rules.len() {
                if matches!(self.rules[index].rule.body, Body::Hold(_)) == holds {
                    let firings = self.offer(index, event, turn, at);
                    reported.extend(firings.into_iter().map(|firing| (index, firing)));
                }
            }
        }
        self.through_the_gates(reported)
    }

    /// Evaluates one rule for one event.
    fn offer(&mut self, index: usize, event: &HealthEvent, turn: Turn, at: Stamp) -> Vec<Firing> {
        let (clock, cabling) = (self.clock, self.cabling.as_ref());
        let Running { rule, seen, .. } = &mut self.rules[index];
        let group = || Group::of(&rule.group_by, event, cabling);
        match (seen, &rule.body) {
            (Seen::Tallies(tallies), Body::Count(count)) => {
                let Some(group) = could_meet(rule, event).then(group).flatten() else {
                    return Vec::new();
                };
                let found = tallies.take(rule, count, &group, event, turn, clock);
                let fire = |found| Firing::of(rule, &group, at, found, event);
                found.map(fire).into_iter().collect()
            }
            (Seen::Spots(spots), Body::Spread(spread)) => {
                let Some(group) = could_meet(rule, event).then(group).flatten() else {
                    return Vec::new();
                };
                let Some(value) = value(&spread.distinct, event, cabling) else {
                    return Vec::new();
                };
                let due = spots.take(rule, spread, (&group, value), event, turn, clock);
                let Some(due) = due else { return Vec::new() };
                if spread.settle.is_zero() {
                    let found = spots.remind(&group, due);
                    let fire = |(found, event)| Firing::of(rule, &group, at, found, &event);
                    return found.map(fire).into_iter().collect();
                }
                self.agenda.put(due, index, group);
                Vec::new()
            }
            (Seen::Watches(watches), Body::Silence(silence)) => {
                let waited = watches.take(rule, silence, event, cabling, clock);
                for (due, group) in waited.due {
                    self.agenda.put(due, index, group);
                }
                waited.cleared
            }
            (Seen::Holds(holds), Body::Hold(hold)) => {
                for (due, group) in holds.take(rule, hold, event, cabling, clock) {
                    self.agenda.put(due, index, group);
                }
                Vec::new()
            }
            _ => unreachable!("a rule remembers what its body is about"),
        }
    }

    /// The events that are published now; the others are held back.
    fn through_the_gates(&mut self, reported: Vec<(usize, Firing)>) -> Vec<Firing> {
        let mut published = Vec::new();
        for (index, firing) in reported {
            let Some(gate) = self.rules[index].held_by else {
                published.push(firing);
                continue;
            };
            let Running { rule, seen, .. } = &mut self.rules[gate];
            let (Seen::Holds(holds), Body::Hold(hold)) = (seen, &rule.body) else {
                unreachable!("only a rule that holds is a gate")
            };
            if let Gate::Open(due) = holds.gate(hold, &firing, self.clock) {
                if let Some(due) = due {
                    self.agenda.put(due, gate, firing.group.clone());
                }
                published.push(firing);
            }
        }
        published
    }

    /// The earliest time at which a tick can make a rule fire, if there is one.
    #[must_use]
    pub fn next_due(&self) -> Option<Stamp> {
        self.agenda.next()
    }

    /// Advances the clock to `now`: silences and holds that have lasted long enough end. An earlier time
    /// than before is a step back of the clock.
    pub fn tick(&mut self, now: Stamp) -> Vec<Firing> {
        if self.ticked.is_some_and(|last| now < last) {
            self.step_back(now);
        }
        self.ticked = Some(now);
        self.clock = self.clock.max(now);
        self.sweep();
        let mut published = Vec::new();
        while let Some((index, group)) = self.agenda.pop(now) {
            let Running { rule, seen, .. } = &mut self.rules[index];
            match (seen, &rule.body) {
                (Seen::Spots(spots), Body::Spread(_)) => {
                    let found = spots.remind(&group, now);
                    let fire = |(found, event)| {
                        Firing::of(rule, &group, now, found, &event).by_the_clock()
                    };
                    let reported = found.map(fire).map(|firing| (index, firing));
                    published.extend(self.through_the_gates(reported.into_iter().collect()));
                }
                (Seen::Watches(watches), Body::Silence(silence)) => {
                    let reported = watches.remind(rule, silence, &group, now);
                    let reported = reported.into_iter().map(|firing| (index, firing)).collect();
                    published.extend(self.through_the_gates(reported));
                }
                (Seen::Holds(holds), Body::Hold(hold)) => {
                    if let Some((firing, due)) = holds.remind(rule, hold, &group, now) {
                        published.push(firing);
                        if let Some(due) = due {
                            self.agenda.put(due, index, group);
                        }
                    }
                }
                _ => unreachable!("only what waits for the clock stands on the agenda"),
            }
        }
        published
    }

    fn step_back(&mut self, now: Stamp) {
        self.agenda.clear();
        for (index, Running { rule, seen, .. }) in self.rules.iter_mut().enumerate() {
            let due = match (seen, &rule.body) {
                (Seen::Spots(spots), Body::Spread(spread)) => spots.step_back(spread, now),
                (Seen::Watches(watches), Body::Silence(silence)) => watches.step_back(silence, now),
                (Seen::Holds(holds), Body::Hold(hold)) => holds.step_back(hold, now),
                _ => BTreeSet::new(),
            };
            for (due, group) in due {
                self.agenda.put(due, index, group);
            }
        }
    }

    /// Removes state that cannot matter any more: nothing was received about it for twice the longest
    /// window, so that even an event that is one window late would not need it.
    fn sweep(&mut self) {
        if self.clock.apart(self.swept) < SWEEP {
            return;
        }
        self.swept = self.clock;
        let before = |span: Duration| self.clock.before(span.saturating_mul(2));
        for Running { rule, seen, .. } in &mut self.rules {
            let oldest = before(memory_of(&rule.body));
            match seen {
                Seen::Tallies(tallies) => tallies.forget(oldest),
                Seen::Spots(spots) => spots.forget(oldest),
                Seen::Watches(watches) => watches.forget(oldest),
                Seen::Holds(holds) => holds.forget(oldest),
            }
        }
        let oldest = before(self.memory);
        self.faults.forget(oldest);
    }

    /// Size of the rules' state in bytes: texts, keys and entries, without allocator overhead.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        let of = |running: &Running| match &running.seen {
            Seen::Tallies(tallies) => tallies.bytes(),
            Seen::Spots(spots) => spots.bytes(),
            Seen::Watches(watches) => watches.bytes(),
            Seen::Holds(holds) => holds.bytes(),
        };
        self.rules.iter().map(of).sum::<usize>() + self.faults.bytes() + self.agenda.bytes()
    }
}

/// How far back a rule looks.
fn memory_of(body: &Body) -> Duration {
    match body {
        Body::Count(count) => count.window,
        Body::Spread(spread) => spread.window,
        Body::Silence(silence) => silence.silence.max(silence.sticky),
        Body::Hold(hold) => hold.hold,
    }
}

/// Whether the rule can match this event at all; a fast first test.
fn could_meet(rule: &Rule, event: &HealthEvent) -> bool {
    let trigger = match &rule.body {
        Body::Count(count) => count.trigger.as_slice(),
        _ => &[],
    };
    let mut all = rule.matches.iter().chain(trigger);
    all.any(|one| match one.on {
        On::Enter => one.is_of_its_check(event),
        _ => one.meets(event),
    })
}
