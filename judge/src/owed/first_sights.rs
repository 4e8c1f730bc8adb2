//! What is seen for the first time: in the first poll of a monitor, or after something happened to it. Start at
//! [`Translator::first_sight`].

use observe::promises::{Lasting, Named, Row};
use platforms::{LinkLayer, NodeName, PciAddress};

use super::translator::Translator;
use crate::{demands, intervals::Interval, kinds::Kinds};

/// What becomes of a fault that stands in a first poll, by the row of first polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtFirstPoll {
    /// It is reported as its own row says.
    Owed,
    /// Nothing is promised about first polls: it may be reported.
    Free,
    /// Nothing is said of it.
    Silent,
}

impl Translator<'_, '_> {
    /// What becomes of a fault that has stood since the first poll.
    pub(super) fn at_first_poll(&self, layer: LinkLayer) -> AtFirstPoll {
        match self.rows.pair(&Named::FirstPoll.into(), Some(layer)) {
            None => AtFirstPoll::Free,
            Some((_, Row::Silent)) => AtFirstPoll::Silent,
            Some((_, Row::Says(_) | Row::Usual)) => AtFirstPoll::Owed,
        }
    }

    /// Whether a healthy demand about what was added must not come: the row says that it is silent then. What was reported
    /// of it is taken back as any fault is.
    pub(super) fn is_silent_about_added(&self, kinds: &Kinds) -> bool {
        kinds.is_added && kinds.clears.is_none() && self.rows.is_silent_about_added(kinds.layer)
    }

    /// What a reading is the first one of: the first poll of a monitor, its first one after a restart or reboot, or after an
    /// outage. The documents' demands state these. `None` if it is none.
    pub(super) fn first_sight(&self, node: &NodeName, tick: u64) -> Option<Named> {
        if tick <= self.readings.first_poll(self.recording, node) {
            return Some(Named::FirstPoll);
        }
        let before = demands::polled(self.recording, node).take_while(|poll| *poll < tick);
        let from = before.last().map_or(0, |last| last + 1);
        self.episodes.latest_of_monitor(node, from, tick)
    }

    /// Whether a first poll, or the first one after a reboot, does not wait for ports on their way up, as the documents ask.
    /// After a reboot the row of that decides.
    pub(super) fn is_judged_at_once(&self, sight: Named, interval: &Interval) -> bool {
        let poll = match sight {
            Named::Reboot => Named::Reboot,
            _ => Named::FirstPoll,
        };
        let pair = self.rows.pair(&poll.into(), interval.layer);
        let is_silent = pair.is_some_and(|(_, own)| own == Row::Silent);
        !is_silent && self.rows.judges_at_once(poll, interval.layer)
    }

    /// Whether a fault is reported in a first poll: the peers of a function's card are evidence of it, or it is pinned.
    pub(super) fn has_evidence_against(&self, node: &NodeName, pci: PciAddress, tick: u64) -> bool {
        if self.is_pinned() {
            return true;
        }
        let Some([views, _]) = self.readings.views(node, tick) else {
            return false;
        };
        let cards = views.cards();
        let mut of_it = cards.iter().filter(|card| card.pci.card() == pci.card());
        of_it.any(|card| views.falls_behind(card))
    }

    /// How long a first poll waits for a card with ports on their way up, in ticks.
    pub(super) fn patience_at_first(&self) -> u64 {
        let pair = self.rows.pair(&Named::FirstPoll.into(), None);
        match pair {
            Some((_, Row::Says(says))) => self.rows.ticks(says.after.unwrap_or(Lasting::NOTHING)),
            _ => 0,
        }
    }
}
