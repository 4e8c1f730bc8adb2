//! When a fault is due. Start at [`Translator::due`].

use observe::{
    PollUnit,
    promises::{Kind, Lasting, Named, Row, Says},
};
use scenarios::{About, EventPattern, Window};
use simfs::SimTime;

use super::{translator::Translator, waited::Waited};
use crate::{
    demands::{self, Demand},
    kinds::Kinds,
};

/// When a fault is due.
pub(super) struct Due {
    /// The polls in which it is.
    pub(super) window: Window,
    /// How much later that is than the documents ask, in ticks.
    pub(super) later: i64,
    /// Whether it is due later for monitors that count from the present kind of the fault.
    pub(super) is_between: bool,
    /// Whether every monitor with this row reports it.
    pub(super) is_owed: bool,
}

impl<'a> Translator<'_, 'a> {
    /// When a fault is due; `None` if it has ended before.
    pub(super) fn due(
        &self,
        demand: &Demand<'a>,
        kinds: &Kinds,
        documents: &Says,
        promised: &Says,
        cleared: Option<Window>,
    ) -> Option<Due> {
        let later = self.rows.later(documents, promised);
        let Window { from, to } = demand.window;
        if later == 0 {
            return Some(Due {
                window: demand.window,
                later: 0,
                is_between: false,
                is_owed: true,
            });
        }
        if later > 0
            && let Some(waited) = self.waited_of_port(demand, kinds, promised)
        {
            let Waited::Due {
                from: due,
                to: last,
                is_owed,
            } = waited
            else {
                return None;
            };
            let to = to.saturating_add(last - from);
            return Some(Due {
                window: Window { from: due, to },
                later: (due - from).cast_signed(),
                is_between: last > due,
                is_owed,
            });
        }
        let due = if later < 0 {
            let after = self.rows.ticks(promised.after.unwrap_or(Lasting::NOTHING));
            let due = kinds.begins.map_or_else(
                || from.saturating_sub(later.unsigned_abs()),
                |begins| begins.saturating_add(after),
            );
            // What cannot be polled yet is not seen.
            let due = due.max(self.readings.first_poll(self.recording, &demand.node));
            // A host that boots is not polled.
            let mut polls = demands::polled(self.recording, &demand.node);
            let seen = polls.find(|poll| kinds.waited && *poll >= due);
            seen.unwrap_or(due).min(from)
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
        Some(Due {
            window: Window { from: due, to },
            later,
            is_between: false,
            is_owed: true,
        })
    }

    /// When a fault of a port is due whose own row says how long it must have stood: its kind may change meanwhile. `None` of
    /// any other.
    fn waited_of_port(
        &self,
        demand: &Demand<'a>,
        kinds: &Kinds,
        promised: &Says,
    ) -> Option<Waited> {
        let About::Port(slot) = &demand.pattern.about else {
            return None;
        };
        let condition = kinds.condition.as_ref()?;
        let (_, own) = self.rows.pair(condition, kinds.layer)?;
        let is_its_own = matches!(own, Row::Says(own) if own.after == promised.after);
        if !is_its_own || demand.pattern.counter.is_some() {
            return None;
        }
        let severity = promised.verdict.unwrap_or(demand.pattern.tone);
        self.waited_for(slot, kinds.layer, demand.window.from, severity)
    }

    /// A report that is due at another time than the documents ask waits for the connector.
    pub(super) fn delivered_later(&self, owed: &mut Demand<'a>, later: i64) {
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

    /// A pattern with its stamps so many ticks later.
    pub(super) fn stamped_later(&self, pattern: &EventPattern, later: i64) -> EventPattern {
        let tick = self.context.story.ticks.interval().as_ns();
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
