//! How long a fault is waited for that may pass by itself: ports that are on their way up where a monitor sees them for the
//! first time (docs/decisions.md, 3 and 9). The kinds that wait are those of demands about events (`owed/rows.rs`).
//!
//! The time counts from the first poll that reads the port, whatever states it goes through on its way. Start at
//! [`Promised::patience`].

use observe::promises::{Lasting, Named, Row};
use platforms::{NodeName, PciAddress};

use super::promised::Promised;
use crate::{
    clock::Clock,
    episodes::Episodes,
    fits::JudgeContext,
    intervals::Interval,
    kinds::Whom,
    owed::{Rows, is_on_its_way},
};

/// How long a fault is waited for, and from which poll on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) since: u64,
    pub(super) after: Lasting,
}

/// What rows say about the wait for a fault.
pub(super) enum Patience {
    /// No row says whether it is waited for.
    Unpromised,
    /// It is waited for.
    Waits(Wait),
}

/// The polls of a node in which a monitor sees what it does not know, apart from its first one: the first after a reboot,
/// and after a restart if it remembers nothing.
pub(super) fn sights(
    context: &JudgeContext<'_>,
    node: &NodeName,
    (rows, episodes, clock): (&Rows<'_>, &Episodes, &Clock),
) -> Vec<(Named, u64)> {
    let acts = context.truth.log.acts.iter();
    let boots = acts.filter(|act| !act.is_given && act.reboots() && act.on.node() == Some(node));
    let boots = boots.map(|act| (Named::Reboot, act.tick));
    let restarts = episodes.on_node(node).filter(|(kind, _)| {
        let restarts = [Named::MonitorRestart, Named::ScopeChange];
        rows.begins_anew().is_some() && restarts.contains(kind)
    });
    let restarts = restarts.map(|(_, from)| (Named::FirstPoll, from));
    let all = restarts.chain(boots);
    let mut polls: Vec<(Named, u64)> = all
        .map(|(kind, from)| (kind, clock.next_poll(from)))
        .collect();
    polls.sort_by_key(|(_, poll)| *poll);
    polls
}

impl Promised<'_> {
    /// How a fault is waited for; `None` if it is reported as soon as its own row says.
    pub(super) fn patience(&self, interval: &Interval) -> Option<Patience> {
        if !self.is_on_its_way(interval) {
            return None;
        }
        let before = self.faults.iter().find(|before| {
            before.whom == interval.whom && before.to == interval.from && before.is_of_reading()
        });
        let waited = match before {
            Some(before) => match self.patience(before)? {
                Patience::Waits(wait) => {
                    let is_over = self.clock.stood(wait.since, before.to, wait.after);
                    // What was reported before is known.
                    if is_over.is_some() {
                        return None;
                    }
                    Some(wait)
                }
                Patience::Unpromised => return None,
            },
            None => None,
        };
        let Some(sight) = self.sight(interval) else {
            return waited.map(|wait| Patience::Waits(self.begun_again(wait, interval)));
        };
        match self.rows.pair(&sight.into(), interval.layer) {
            Some((_, Row::Says(says))) => {
                let wait = Wait {
                    since: interval.from,
                    after: says.after.unwrap_or(Lasting::NOTHING),
                };
                Some(Patience::Waits(self.begun_again(wait, interval)))
            }
            _ => Some(Patience::Unpromised),
        }
    }

    /// A wait for a fault that stands, as it is after the further first polls that come before it is over: what was not
    /// reported yet is waited for anew.
    fn begun_again(&self, wait: Wait, interval: &Interval) -> Wait {
        self.sights.iter().fold(wait, |wait, (sight, poll)| {
            let goes_on = (wait.since + 1..interval.to).contains(poll)
                && self.clock.stood(wait.since, *poll, wait.after).is_none();
            match self.rows.pair(&(*sight).into(), interval.layer) {
                Some((_, Row::Says(says))) if goes_on => Wait {
                    since: *poll,
                    after: says.after.unwrap_or(Lasting::NOTHING),
                },
                _ => wait,
            }
        })
    }

    /// As what a fault is seen that begins then: in a first poll, or with a device that was not known.
    fn sight(&self, interval: &Interval) -> Option<Named> {
        let from = interval.from;
        if from <= self.first_poll {
            return Some(Named::FirstPoll);
        }
        let mut sights = self.sights.iter().rev();
        let after_its_end = sights.find(|(_, poll)| *poll == from);
        let is_added = || self.is_added(interval).then_some(Named::HotAdded);
        after_its_end.map(|(kind, _)| *kind).or_else(is_added)
    }

    /// Whether it is a state that passes on the way up.
    fn is_on_its_way(&self, interval: &Interval) -> bool {
        let Whom::Card(card) = &interval.whom else {
            return is_on_its_way(&interval.kind);
        };
        let views = self.readings.views(&interval.node, interval.from);
        views.is_some_and(|[views, _]| {
            let mut cards = views.0.keys().map(|pci| pci.card());
            let card = cards.find(|of| of == card);
            card.is_some_and(|card| views.is_card_waiting(card))
        })
    }

    /// Whether a fault is one of a device that was added, and that no poll has seen before.
    fn is_added(&self, interval: &Interval) -> bool {
        let node = &interval.node;
        let is_its = |pci: &PciAddress| match &interval.whom {
            Whom::Port(of, _) => of == pci,
            Whom::Card(card) => pci.card() == *card,
            _ => false,
        };
        let was_listed = || {
            let before = self.clock.last_poll(interval.from);
            let views = before.and_then(|before| self.readings.views(node, before));
            views.is_none_or(|[views, _]| {
                let mut its = views.0.iter().filter(|(pci, _)| is_its(pci));
                its.any(|(_, function)| function.listed)
            })
        };
        let is_new = |pci: &PciAddress| {
            let cause = self.episodes.cause(node, *pci, interval.from);
            is_its(pci) && cause == Some(Named::HotAdded)
        };
        let views = self.readings.views(node, interval.from);
        views.is_some_and(|[views, _]| views.0.keys().any(is_new)) && !was_listed()
    }
}
