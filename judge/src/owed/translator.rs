//! Translates one demand after another. Start at [`Translator::translate`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use observe::{
    PollUnit, Recording,
    promises::{Clears, Kind, Lasting, Meanwhile, Named, PromisedSubject, Restates, Says, Verdict},
};
use scenarios::{About, EventPattern, Tone, Window};
use simfs::SimTime;

use super::{
    Fate, Translated,
    delivery::Delivery,
    rows::{self, Holds, Rows},
    shared_subject::once_for_all,
};
use crate::{
    assign::Bounds,
    counters::{compared_over_a_restart, rate_of_another_clock},
    demands::{self, Demand},
    episodes::Episodes,
    fits::{JudgeContext, counter_check, state_check},
    kinds::Kinds,
    readings::Readings,
    scope::decides,
};

/// Translates the demands of the documents.
pub(super) struct Translator<'t, 'a> {
    pub(super) context: &'t JudgeContext<'a>,
    pub(super) rows: Rows<'a>,
    pub(super) readings: &'t Readings<'a>,
    pub(super) episodes: &'t Episodes,
    pub(super) recording: &'t Recording,
    pub(super) delivery: Delivery,
}

/// A fate, and the demand that is owed instead.
pub(super) type Result<'a> = (Fate, Option<Demand<'a>>);

impl<'a> Translator<'_, 'a> {
    /// What becomes of each demand, and what is owed.
    pub(super) fn translate(
        &self,
        documents: Vec<Demand<'a>>,
        kinds: Vec<Kinds>,
    ) -> (Vec<Translated<'a>>, Vec<Demand<'a>>) {
        let mut fates: Vec<Option<Result<'a>>> = vec![None; documents.len()];
        let clear_of: BTreeMap<usize, usize> = (0..)
            .zip(&kinds)
            .filter_map(|(at, kinds)| Some((kinds.clears?, at)))
            .collect();
        let is_fault = |at: &usize| documents[*at].pattern.tone != Tone::Healthy;
        let (faults, clears): (Vec<usize>, Vec<usize>) = (0..documents.len()).partition(is_fault);
        for (at, demand) in documents.iter().enumerate() {
            if self.is_out_of_scope(demand) {
                fates[at] = Some((Fate::Silent, None));
            }
        }
        for at in faults {
            if fates[at].is_some() {
                continue;
            }
            let cleared = clear_of.get(&at).map(|clear| documents[*clear].window);
            fates[at] = Some(self.fault(&documents[at], &kinds[at], cleared));
        }
        for at in clears {
            if fates[at].is_some() {
                continue;
            }
            let of = kinds[at].clears.and_then(|fault| fates[fault].clone());
            fates[at] = Some(self.clear(&documents[at], &kinds[at], of.as_ref()));
        }
        once_until_worse(&documents, &kinds, &mut fates);
        once_for_all(&documents, &kinds, &mut fates);
        let mut owed: Vec<Demand<'a>> = Vec::new();
        let mut translated = Vec::new();
        for ((demand, kinds), fate) in documents.into_iter().zip(kinds).zip(fates) {
            let (fate, instead) = fate.expect("every demand is a fault or a clear");
            if let Some(mut instead) = instead {
                let is_other = instead.pattern.about != demand.pattern.about;
                if is_other && owed.iter().any(|one| is_same(one, &instead)) {
                    instead.bounds.at_least = 0;
                }
                owed.push(instead);
            }
            translated.push(Translated {
                demand,
                kinds,
                fate,
            });
        }
        (translated, owed)
    }

    /// Whether a monitor with a scope of its own does not monitor the port or device of a demand.
    fn is_out_of_scope(&self, demand: &Demand<'a>) -> bool {
        let scope = self.context.descriptor.promises.scope.as_ref();
        if !scope.is_some_and(decides) {
            return false;
        }
        let (about, node) = (&demand.pattern.about, &demand.node);
        let past = || self.context.past(node, demand.window.from);
        match about {
            About::Port(slot) => past().all(|views| {
                let function = views.0.get(&slot.pci).filter(|view| view.monitored);
                function.is_none_or(|view| !view.ports.contains_key(&slot.port))
            }),
            About::Device(_, pci) => past().all(|views| {
                let function = views.0.get(pci);
                function.is_none_or(|view| !view.monitored)
            }),
            About::Card(_, pci) => past().all(|views| {
                let mut of_it = views.0.iter().filter(|(of, _)| of.card() == pci.card());
                !of_it.any(|(_, view)| view.monitored)
            }),
            _ => false,
        }
    }

    /// A demand for a fault; `cleared` is when the documents ask for its clear.
    fn fault(&self, demand: &Demand<'a>, kinds: &Kinds, cleared: Option<Window>) -> Result<'a> {
        if let Some(reason) = self.unjudged_counter(demand) {
            return (Fate::NotJudged(reason.to_owned()), Some(at_will(demand)));
        }
        if self.is_taken_over(demand, kinds) {
            return (told(demand), Some(at_will(demand)));
        }
        let by_source = self.due_by_source(demand, kinds);
        let moved = Demand {
            window: by_source.unwrap_or(demand.window),
            ..demand.clone()
        };
        let demand = if by_source.is_some() { &moved } else { demand };
        let (documents, promised) = match self.rows.hold(kinds) {
            Holds::AsAsked => return as_asked(demand),
            Holds::Unpromised(reason) => return (Fate::NotJudged(reason), None),
            Holds::Silent => return (Fate::Silent, None),
            Holds::Instead {
                documents,
                promised,
            } => (documents, promised),
        };
        if self.is_of_cards(demand, kinds) {
            let is_earlier = self.rows.later(&documents, &promised) < 0;
            let begins = kinds.begins.filter(|_| is_earlier);
            let later = begins.map_or(0, |begins| {
                begins.cast_signed() - demand.window.from.cast_signed()
            });
            let (tone, about) = (demand.pattern.tone, None);
            return (Fate::Owed { later, tone, about }, None);
        }
        if self.is_without_class(demand, kinds, &promised) {
            return (Fate::Silent, None);
        }
        if kinds.is_older && !self.is_restated(demand, &documents, &promised) {
            return (Fate::Silent, None);
        }
        let Some((window, later)) = self.due(demand, kinds, &documents, &promised, cleared) else {
            return (Fate::Free, None);
        };
        let mut owed = demand.clone();
        owed.window = window;
        self.delivered_later(&mut owed, later);
        if later != 0 {
            owed.in_order = None;
            owed.pattern = Cow::Owned(self.stamped_later(&owed.pattern, later));
        }
        if let Some(within) = promised
            .within
            .filter(|_| promised.within != documents.within)
        {
            let last = owed.window.from.saturating_add(self.rows.ticks(within));
            owed.window.to = owed.window.to.max(last);
        }
        if let Some(verdict) = promised
            .verdict
            .filter(|_| promised.verdict != documents.verdict)
        {
            owed.pattern.to_mut().tone = match verdict {
                Verdict::Fatal => Tone::Fatal,
                Verdict::NonFatal => Tone::NonFatal,
            };
        }
        owed.stays = matches!(rows::clears(&promised), Clears::ByOperator | Clears::Never);
        self.rename(&mut owed, &documents, &promised);
        let tone = owed.pattern.tone;
        let about = Some(&owed.pattern.about);
        let about = about
            .filter(|about| **about != demand.pattern.about)
            .cloned();
        (Fate::Owed { later, tone, about }, Some(owed))
    }

    /// A demand for a healthy event; `of` is what became of the fault that it clears.
    fn clear(&self, demand: &Demand<'a>, kinds: &Kinds, of: Option<&Result<'a>>) -> Result<'a> {
        let may = |fate| (fate, Some(at_will(demand)));
        if let Some(reason) = self.unjudged_counter(demand) {
            return may(Fate::NotJudged(reason.to_owned()));
        }
        if self.is_of_cards(demand, kinds) && of.is_some() {
            return (told(demand), None);
        }
        if self.is_left_behind(demand, kinds)
            || self.is_forgotten(demand, kinds)
            || self.has_moved(demand, kinds)
        {
            return may(Fate::Free);
        }
        match of {
            Some((Fate::NotJudged(reason), _)) => return may(Fate::NotJudged(reason.clone())),
            Some((Fate::Silent | Fate::Free, _)) => return may(Fate::Free),
            Some((Fate::Owed { .. }, _)) => {}
            None => {
                if let Some(fate) = self.baseline(demand, kinds) {
                    return match fate {
                        Fate::Silent => (fate, None),
                        fate => may(fate),
                    };
                }
            }
        }
        let Some(moved) = self.baseline_time(demand) else {
            return may(Fate::Free);
        };
        let demand = &moved;
        let (documents, promised) = match self.rows.hold(kinds) {
            Holds::AsAsked => (Box::default(), Box::default()),
            Holds::Unpromised(reason) => return may(Fate::NotJudged(reason)),
            Holds::Silent if kinds.clears.is_none() && kinds.condition.is_some() => {
                return may(Fate::Free);
            }
            // The row of first polls is about faults; the wire decides about the rest.
            Holds::Silent if kinds.episode == Some(Named::FirstPoll) && kinds.clears.is_none() => {
                (Box::default(), Box::default())
            }
            Holds::Silent => return (Fate::Silent, None),
            Holds::Instead {
                documents,
                promised,
            } => (documents, promised),
        };
        let differs = rows::clears(&promised) != rows::clears(&documents);
        if differs && rows::clears(&promised) == Clears::Never && kinds.clears.is_some() {
            return (Fate::Silent, None);
        }
        if kinds.is_older && self.clears_by_check(kinds) {
            return may(Fate::Free);
        }
        let mut owed = demand.clone();
        if of.is_none() && kinds.episode == Some(Named::FirstPoll) {
            self.not_put_off(&mut owed, kinds);
        }
        self.back(&mut owed, kinds, &promised);
        if differs && kinds.clears.is_some() {
            match rows::clears(&promised) {
                Clears::Healed(None) => {}
                Clears::Healed(Some(within)) => {
                    let last = owed.window.from.saturating_add(self.rows.ticks(within));
                    owed.window.to = owed.window.to.max(last);
                }
                Clears::ByCheck => self.by_check(&mut owed, kinds),
                Clears::ByOperator => return may(Fate::Free),
                Clears::Never => return (Fate::Silent, None),
            }
        }
        let is_of_scope = matches!(kinds.episode, Some(Named::ScopeChange | Named::Metadata));
        if is_of_scope && self.rows.wire().clears == Some(observe::promises::ClearedBy::Check) {
            // It says so in its own words.
            owed.pattern.to_mut().message.clear();
        }
        self.rename(&mut owed, &documents, &promised);
        let fate = Fate::Owed {
            later: 0,
            tone: Tone::Healthy,
            about: None,
        };
        (fate, Some(owed))
    }

    /// A baseline that the documents put off while something cannot be read comes in the first poll of a monitor that
    /// does not wait.
    fn not_put_off(&self, owed: &mut Demand<'a>, kinds: &Kinds) {
        let first = demands::polled(self.recording, &owed.node).next();
        let Some(first) = first.filter(|_| self.rows.judges_at_once(kinds.layer)) else {
            return;
        };
        if first < owed.window.from && self.readings.is_any_ruled(&owed.node, first) {
            owed.window.from = first;
            owed.in_order = None;
        }
    }

    /// When a fault is due, and how much later that is than the documents ask; `None` if it has ended before.
    fn due(
        &self,
        demand: &Demand<'a>,
        kinds: &Kinds,
        documents: &Says,
        promised: &Says,
        cleared: Option<Window>,
    ) -> Option<(Window, i64)> {
        let later = self.rows.later(documents, promised);
        let Window { from, to } = demand.window;
        if later == 0 {
            return Some((demand.window, 0));
        }
        let due = if later < 0 {
            let after = self.rows.ticks(promised.after.unwrap_or(Lasting::NOTHING));
            let due = kinds.begins.map_or_else(
                || from.saturating_sub(later.unsigned_abs()),
                |begins| begins.saturating_add(after),
            );
            due.min(from)
        } else if let (Some(Lasting::Polls(_)), None | Some(Lasting::Polls(_))) =
            (promised.after, documents.after)
        {
            let polls = usize::try_from(later).unwrap_or(usize::MAX);
            let mut next =
                demands::polled(self.recording, &demand.node).filter(|tick| *tick > from);
            next.nth(polls - 1)
                .unwrap_or(from.saturating_add_signed(later))
        } else {
            from.saturating_add_signed(later)
        };
        if later > 0 && self.has_ended(demand, kinds, due, cleared) {
            return None;
        }
        let to = if due < from {
            to - (from - due)
        } else {
            to.saturating_add(due - from)
        };
        let due = self.seen_within_a_poll(demand, kinds, due);
        let later = i64::try_from(due).unwrap_or(i64::MAX) - i64::try_from(from).unwrap_or(0);
        Some((Window { from: due, to }, later))
    }

    /// Why nothing about the counter of a demand is judged; `None` if it is, or if it has none.
    fn unjudged_counter(&self, demand: &Demand<'a>) -> Option<&'static str> {
        let counter = demand.pattern.counter.as_deref()?;
        let is_fault = demand.pattern.tone != Tone::Healthy;
        let by_rate = rate_of_another_clock(self.context, counter).filter(|_| is_fault);
        by_rate.or_else(|| compared_over_a_restart(self.context, counter, demand.window.from))
    }

    /// A report that is due at another time than the documents ask waits for the connector.
    fn delivered_later(&self, owed: &mut Demand<'a>, later: i64) {
        if later == 0 {
            return;
        }
        let last = self.delivery.next(&owed.node, owed.window.from);
        if last > owed.window.from {
            owed.window.to = owed.window.to.max(last);
        }
    }

    /// Where a poll lists for each check, what happens within it is seen by the later ones.
    fn seen_within_a_poll(&self, demand: &Demand<'a>, kinds: &Kinds, due: u64) -> u64 {
        if kinds.condition != Some(Named::GoneDevice.into())
            || self.context.descriptor.poll_unit != PollUnit::Check
        {
            return due;
        }
        let About::Device(_, pci) = &demand.pattern.about else {
            return due;
        };
        let begins = kinds.begins.unwrap_or(demand.window.from);
        let before = begins
            .checked_sub(1)
            .and_then(|tick| self.readings.views(&demand.node, tick));
        let within = before.is_some_and(|[_, end]| end.0.get(pci).is_some_and(|it| !it.listed));
        due.saturating_sub(u64::from(within))
    }

    /// Whether a demand about a card is made by [`Self::cards`] instead.
    fn is_of_cards(&self, demand: &Demand<'a>, kinds: &Kinds) -> bool {
        demand.pattern.counter.is_none()
            && kinds.condition == Some(Named::Card.into())
            && self.compares_in_every_poll(kinds.layer)
    }

    /// Whether a device is gone because the class folder is, about which the monitor is silent.
    fn is_without_class(&self, demand: &Demand<'a>, kinds: &Kinds, promised: &Says) -> bool {
        if kinds.condition != Some(Named::GoneDevice.into())
            || promised.class_folder != Some(Meanwhile::Silent)
        {
            return false;
        }
        let since = kinds.begins.unwrap_or(demand.window.from);
        let views = self.readings.views(&demand.node, since);
        views.is_some_and(|[views, _]| views.0.len() > 1 && views.0.values().all(|it| !it.listed))
    }

    /// Whether a fault has ended by a tick.
    fn has_ended(
        &self,
        demand: &Demand<'a>,
        kinds: &Kinds,
        by: u64,
        cleared: Option<Window>,
    ) -> bool {
        let (node, from) = (&demand.node, demand.window.from);
        let stands = |tick: u64| {
            let [start, _] = self.readings.views(node, tick)?;
            match &demand.pattern.about {
                About::Port(slot) if matches!(kinds.condition, Some(Kind::Named(_))) => {
                    let reading = self.readings.port(node, (slot.pci, slot.port), start, tick);
                    Some(reading.kind().is_some())
                }
                About::Device(_, pci) if kinds.condition == Some(Named::GoneDevice.into()) => {
                    Some(start.0.get(pci).is_none_or(|view| !view.listed))
                }
                _ => None,
            }
        };
        let seen = (from..=by).filter_map(stands);
        let mut seen = seen.peekable();
        if seen.peek().is_none() {
            return cleared.is_some_and(|cleared| cleared.from <= by);
        }
        // The step that makes it may come within the first tick.
        seen.skip(1).any(|stands| !stands)
    }

    /// Whether a fault that stood before an episode is reported again after it.
    fn is_restated(&self, demand: &Demand<'a>, documents: &Says, promised: &Says) -> bool {
        if rows::restates(promised) == rows::restates(documents) {
            return true;
        }
        match rows::restates(promised) {
            Restates::All => true,
            Restates::Nothing => false,
            Restates::Evidence => self.has_evidence(demand),
        }
    }

    /// Whether the peers of a demand's card are evidence of its fault.
    fn has_evidence(&self, demand: &Demand<'a>) -> bool {
        let Some([views, _]) = self.readings.views(&demand.node, demand.window.from) else {
            return false;
        };
        let is_listed = |pci| views.0.get(pci).is_some_and(|view| view.listed);
        let pci = match &demand.pattern.about {
            // What is not there is not known after a baseline.
            About::Port(slot) if !is_listed(&slot.pci) => return false,
            About::Device(..) => return false,
            About::Port(slot) => slot.pci,
            About::Card(_, pci) => *pci,
            _ => return false,
        };
        let cards = views.cards();
        let mut of_it = cards.iter().filter(|card| card.pci.card() == pci.card());
        of_it.any(|card| views.falls_behind(card))
    }

    /// Makes a demand one for a healthy event of its check as a whole.
    fn by_check(&self, owed: &mut Demand<'a>, kinds: &Kinds) {
        let check_of = match &kinds.condition {
            Some(Kind::Counter(_)) => counter_check,
            _ => state_check,
        };
        let pattern = owed.pattern.to_mut();
        if pattern.check.is_none() {
            pattern.check = kinds.layer.map(|layer| check_of(layer).to_owned());
        }
        pattern.about = About::Check;
        pattern.message.clear();
        pattern.counter = None;
        pattern.error_codes = None;
        owed.in_order = None;
    }

    /// Whether what stands is cleared by an event of the whole check in this episode.
    pub(super) fn clears_by_check(&self, kinds: &Kinds) -> bool {
        let of_node = matches!(
            kinds.episode,
            Some(Named::Reboot | Named::ScopeChange | Named::Metadata | Named::StateFile)
        );
        of_node && self.rows.wire().clears == Some(observe::promises::ClearedBy::Check)
    }

    /// Names the subject that the row promises.
    fn rename(&self, owed: &mut Demand<'a>, documents: &Says, promised: &Says) {
        let Some(subject) = promised.subject else {
            return;
        };
        if promised.subject == documents.subject {
            return;
        }
        let of = match &owed.pattern.about {
            About::Port(slot) => Some((slot.node.clone(), slot.pci)),
            About::Device(node, pci) | About::Card(node, pci) => Some((node.clone(), *pci)),
            _ => None,
        };
        let about = match (subject, of) {
            (PromisedSubject::Device, Some((node, pci))) => About::Device(node, pci),
            (PromisedSubject::Card, Some((node, pci))) => About::Card(node, pci),
            (PromisedSubject::Node, _) => About::Check,
            (PromisedSubject::Port, _) | (_, None) => return,
        };
        let pattern = owed.pattern.to_mut();
        pattern.about = about;
        pattern.message.clear();
    }

    /// A pattern with its stamps so many ticks later.
    fn stamped_later(&self, pattern: &EventPattern, later: i64) -> EventPattern {
        let tick = self.context.story.tick.as_ns();
        let shift = |at: Option<SimTime>| {
            let by = tick.saturating_mul(later.unsigned_abs());
            at.map(|at| {
                SimTime::from_ns(if later < 0 {
                    at.as_ns().saturating_sub(by)
                } else {
                    at.as_ns().saturating_add(by)
                })
            })
        };
        EventPattern {
            stamped_from: shift(pattern.stamped_from),
            stamped_to: shift(pattern.stamped_to),
            ..pattern.clone()
        }
    }
}

/// Only a higher severity than the one that was reported is reported (docs/decisions.md, 1): a fault whose severity
/// a row lowers may not rise any more where the documents' does.
fn once_until_worse(documents: &[Demand<'_>], kinds: &[Kinds], fates: &mut [Option<Result<'_>>]) {
    let key = |demand: &Demand<'_>| {
        let pattern = &demand.pattern;
        let codes = pattern.error_codes.clone();
        let about = pattern.about.clone();
        (demand.node.clone(), about, pattern.counter.clone(), codes)
    };
    let mut in_time: Vec<usize> = (0..documents.len()).collect();
    in_time.sort_by_key(|at| {
        (
            documents[*at].window.from,
            documents[*at].pattern.tone != Tone::Healthy,
        )
    });
    let mut said = BTreeMap::new();
    for at in in_time {
        let demand = &documents[at];
        if demand.pattern.tone == Tone::Healthy {
            if let Some(fault) = kinds[at].clears {
                said.remove(&key(&documents[fault]));
            }
            continue;
        }
        let Some((Fate::Owed { tone, .. }, Some(owed))) = &mut fates[at] else {
            continue;
        };
        let before = said.insert(key(demand), *tone);
        let is_changed = *tone != demand.pattern.tone;
        // `Tone` begins with the worst.
        if is_changed && before.is_some_and(|before| before <= *tone) {
            owed.bounds.at_least = 0;
        }
    }
}

/// Whether one event can meet two demands: a subject that stands for several owes one report for all.
fn is_same(one: &Demand<'_>, other: &Demand<'_>) -> bool {
    one.node == other.node
        && one.bounds.at_least > 0
        && one.pattern.about == other.pattern.about
        && one.pattern.tone == other.pattern.tone
        && one.pattern.check == other.pattern.check
        && one.pattern.counter == other.pattern.counter
        && one.window.from <= other.window.to
        && other.window.from <= one.window.to
}

/// The fate of a demand that is owed, and is made elsewhere.
fn told(demand: &Demand<'_>) -> Fate {
    Fate::Owed {
        later: 0,
        tone: demand.pattern.tone,
        about: None,
    }
}

/// The demand of the documents as it is.
fn as_asked<'a>(demand: &Demand<'a>) -> Result<'a> {
    let fate = Fate::Owed {
        later: 0,
        tone: demand.pattern.tone,
        about: None,
    };
    (fate, Some(demand.clone()))
}

/// A demand that need not be met.
pub(super) fn at_will<'a>(demand: &Demand<'a>) -> Demand<'a> {
    Demand {
        bounds: Bounds {
            at_least: 0,
            at_most: demand.bounds.at_most.max(1),
        },
        attempts: 0,
        in_order: None,
        ..demand.clone()
    }
}
