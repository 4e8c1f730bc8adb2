//! Translates one demand after another. Start at [`Translator::translate`].

mod clears;

use std::borrow::Cow;
use std::collections::BTreeMap;

use observe::{
    Recording,
    promises::{Clears, Meanwhile, Named, PromisedSubject, Says},
};
use platforms::PortFacts;
use scenarios::{About, Window};
use terms::Severity;

use super::{
    Fate, Translated,
    delivery::Delivery,
    rows::{self, Holds, Rows},
    told_before::{once_for_all, once_until_worse},
};
use crate::{
    assign::Bounds,
    counters::{compared_over_a_restart, rate_of_another_clock},
    demands::Demand,
    episodes::Episodes,
    fits::JudgeContext,
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
        let is_fault = |at: &usize| documents[*at].pattern.tone != Severity::Healthy;
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
        let (about, node) = (&demand.pattern.about, &demand.node);
        if scope.is_some_and(|scope| scope.vendors.is_some()) && self.is_of_another_vendor(about) {
            return true;
        }
        if !scope.is_some_and(decides) {
            return false;
        }
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

    /// Whether a subject is of a card whose vendor the monitor does not watch, whatever its name is.
    fn is_of_another_vendor(&self, about: &About) -> bool {
        let (node, pci) = match about {
            About::Port(slot) => (&slot.node, slot.pci),
            About::Device(node, pci) | About::Card(node, pci) => (node, *pci),
            _ => return false,
        };
        let platform = self.context.story.platform_of(node);
        platform.is_some_and(|platform| {
            let ports = platform.ports();
            let of_card = |port: &&PortFacts| port.pci.card() == pci.card();
            let mut of_it = ports.iter().filter(of_card).peekable();
            of_it.peek().is_some() && of_it.all(|port| !port.is_of_vendor)
        })
    }

    /// A demand for a fault; `cleared` is when the documents ask for its clear.
    fn fault(&self, demand: &Demand<'a>, kinds: &Kinds, cleared: Option<Window>) -> Result<'a> {
        if let Some(reason) = self.unjudged_counter(demand) {
            return (Fate::NotJudged(reason.to_owned()), Some(at_will(demand)));
        }
        if let Some(reason) = self.unpromised_name(demand) {
            return (Fate::NotJudged(reason), Some(at_will(demand)));
        }
        if let Some(fate) = self.of_moved(demand, kinds) {
            return (fate, Some(at_will(demand)));
        }
        if self.is_taken_over(demand, kinds) {
            return (told(demand), Some(at_will(demand)));
        }
        let by_source = match self.compared_later(demand, kinds) {
            Some(Err(fate)) => return (fate, Some(at_will(demand))),
            Some(Ok(later)) => Some(later),
            None => self.due_by_source(demand, kinds),
        };
        let moved = Demand {
            window: by_source.unwrap_or(demand.window),
            in_order: demand.in_order.filter(|_| by_source.is_none()),
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
        let Some(due) = self.due(demand, kinds, &documents, &promised, cleared) else {
            return (Fate::Free, None);
        };
        let later = due.later;
        let mut owed = demand.clone();
        owed.window = due.window;
        self.delivered_later(&mut owed, later);
        if later != 0 {
            owed.in_order = None;
            owed.pattern = Cow::Owned(self.stamped_later(&owed.pattern, later));
            if due.is_between {
                owed.pattern.to_mut().stamped_to = None;
            }
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
            owed.pattern.to_mut().tone = verdict;
        }
        owed.stays = matches!(rows::clears(&promised), Clears::ByOperator | Clears::Never);
        self.rename(&mut owed, &documents, &promised);
        if !due.is_owed {
            return (Fate::Free, Some(at_will(&owed)));
        }
        let tone = owed.pattern.tone;
        let about = Some(&owed.pattern.about);
        let about = about
            .filter(|about| **about != demand.pattern.about)
            .cloned();
        (Fate::Owed { later, tone, about }, Some(owed))
    }

    /// Why nothing about the counter of a demand is judged; `None` if it is, or if it has none.
    fn unjudged_counter(&self, demand: &Demand<'a>) -> Option<&'static str> {
        let counter = demand.pattern.counter.as_deref()?;
        let is_fault = demand.pattern.tone != Severity::Healthy;
        let by_rate = rate_of_another_clock(self.context, counter).filter(|_| is_fault);
        by_rate.or_else(|| compared_over_a_restart(self.context, counter, demand.window.from))
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
