//! What a monitor owes about cards that it compares in every poll: that one falls behind its peers, and that it meets
//! them again. The documents compare in a first poll only, so all of it follows from the truth.
//! Start at [`Translator::cards`].

use std::collections::BTreeMap;

use director::NodeView;
use observe::promises::{Compared, Garbled, KnownBy, Lasting, Named, Row};
use platforms::{Card, LinkLayer, NodeName, PciAddress};
use scenarios::{About, EventPattern, MonitorAction, Window};
use terms::Severity;

use super::{GRACE, first_sights::AtFirstPoll, translator::Translator};
use crate::{
    assign::Bounds,
    counters::configs,
    demands::{Demand, is_healthy, polled},
    fits::state_check,
};

/// A card on a link layer.
type CardOn = (Card, LinkLayer);

/// What is known of a card between two polls.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Whether it was reported to be behind its peers.
    reported: bool,
    /// The first tick of what it is now: behind, or not.
    since: Option<(bool, u64)>,
    /// Whether it was seen without a port on its way up.
    arrived: bool,
    /// Whether it has been behind since the first poll.
    is_of_first_poll: bool,
    /// Whether it need not have been reported.
    is_free: bool,
}

impl<'a> Translator<'_, 'a> {
    /// Whether cards are compared in every poll, so that [`Self::cards`] makes all demands about them.
    pub(super) fn compares_in_every_poll(&self, layer: Option<LinkLayer>) -> bool {
        let pair = self.rows.pair(&Named::Card.into(), layer);
        matches!(pair, Some((_, Row::Says(says))) if says.when == Some(Compared::EveryPoll))
    }

    /// Adds what is owed about cards.
    pub(super) fn cards(&self, owed: &mut Vec<Demand<'a>>) {
        if !self.compares_in_every_poll(None) {
            return;
        }
        for node in &self.context.story.monitors {
            self.cards_of(node, owed);
        }
    }

    fn cards_of(&self, node: &NodeName, owed: &mut Vec<Demand<'a>>) {
        let mut known: BTreeMap<CardOn, Standing> = BTreeMap::new();
        let (mut unseen_from, mut polls) = (0, 0);
        let first_poll = self.readings.first_poll(self.recording, node);
        for tick in polled(self.recording, node) {
            let Some([views, _]) = self.readings.views(node, tick) else {
                continue;
            };
            let is_anew = polls > 0 && self.begins_baseline(node, unseen_from, tick);
            if is_anew {
                known
                    .values_mut()
                    .for_each(|standing| standing.reported = false);
            }
            let moments = tick > 0 && {
                let last = self.readings.views(node, unseen_from.saturating_sub(1));
                last.is_some_and(|[start, end]| start != end)
            };
            let from = unseen_from.saturating_sub(u64::from(moments));
            for card in views.cards() {
                let standing = known.entry((card.pci.card(), card.layer)).or_default();
                let behind = views.falls_behind(&card);
                let since = match standing.since {
                    Some((was, since)) if was == behind && !is_anew => since,
                    _ => from,
                };
                standing.since = Some((behind, since));
                standing.is_of_first_poll =
                    behind && (standing.is_of_first_poll || tick <= first_poll);
                let is_waiting = views.is_card_waiting(card.pci.card());
                standing.arrived |= !is_waiting;
                let waits = !standing.arrived && tick < self.patience_at_first();
                let sight = match standing.is_of_first_poll {
                    true => self.at_first_poll(card.layer),
                    false => AtFirstPoll::Owed,
                };
                if waits
                    || sight == AtFirstPoll::Silent
                    || !self.can_compare(node, card.layer, tick)
                    || !self.delivery.gets_through(node, tick)
                {
                    continue;
                }
                let tone = match (behind, standing.reported) {
                    (true, false) => Severity::Fatal,
                    (false, true) if views.meets_peers(&card) => Severity::Healthy,
                    _ => continue,
                };
                standing.reported = behind;
                // Its end is as free as the report was.
                let was_free = std::mem::replace(&mut standing.is_free, sight == AtFirstPoll::Free);
                let window = Window {
                    from: since,
                    to: tick + GRACE,
                };
                let must = !self.roles_changed(node, tick) && !was_free && !standing.is_free;
                owed.push(self.about_card(node, (card.pci, card.layer), tone, window, must));
            }
            if self.roles_changed(node, tick) || self.reads_garbled(node, tick) {
                self.uncertain_cards(node, views, tick, owed);
            }
            unseen_from = tick + 1;
            polls += 1;
        }
    }

    /// A demand for an event about a card.
    fn about_card(
        &self,
        node: &NodeName,
        (pci, layer): (PciAddress, LinkLayer),
        tone: Severity,
        window: Window,
        must: bool,
    ) -> Demand<'a> {
        let about = About::Card(node.clone(), pci);
        let again =
            self.delivery.may_repeat(node, window.from, window.to) || self.has_two_monitors();
        let pattern = EventPattern {
            tone,
            ..is_healthy(about, Some(state_check(layer)))
        };
        let bounds = Bounds {
            at_least: usize::from(must),
            at_most: 1 + usize::from(again),
        };
        Demand::by_promise(node, window, pattern, bounds)
    }

    /// Where roles are not those of the platform, a card with a port that is not healthy may be behind others than
    /// the truth knows of, and may leave the comparison.
    fn uncertain_cards(
        &self,
        node: &NodeName,
        views: &NodeView,
        tick: u64,
        owed: &mut Vec<Demand<'a>>,
    ) {
        let disturbed = views.0.iter().filter(|(pci, view)| {
            let was = self.readings.views(node, tick.saturating_sub(1));
            let before = was.and_then(|was| was[0].0.get(pci));
            let healthy = |view: &director::FunctionView| {
                view.listed && view.ports.values().all(director::PortView::healthy)
            };
            let is_ruled = [tick.saturating_sub(1), tick]
                .iter()
                .any(|tick| self.readings.is_ruled(node, **pci, *tick).is_some());
            is_ruled || !healthy(view) || before.is_none_or(|before| !healthy(before))
        });
        for (pci, view) in disturbed {
            for layer in view.ports.values().map(|port| port.layer) {
                for tone in [Severity::Fatal, Severity::Healthy] {
                    let window = Window {
                        from: tick,
                        to: tick + GRACE,
                    };
                    owed.push(self.about_card(node, (*pci, layer), tone, window, false));
                }
            }
        }
    }

    /// Whether cards can be compared in a poll: every device can be read, and none is missing without being reported.
    fn can_compare(&self, node: &NodeName, layer: LinkLayer, tick: u64) -> bool {
        if self.is_pinned() {
            return false;
        }
        let Some([views, _]) = self.readings.views(node, tick) else {
            return false;
        };
        let is_blind = views
            .0
            .keys()
            .any(|pci| self.readings.is_ruled(node, *pci, tick).is_some());
        if is_blind {
            return false;
        }
        let patience = self.absence();
        let by_name = self.is_known_by_name();
        let is_held = |(pci, view): (&PciAddress, &director::FunctionView)| {
            let of_layer = view.ports.values().any(|port| port.layer == layer);
            of_layer
                && view.monitored
                && self.is_missed(node, (*pci, view), tick, patience, by_name)
        };
        !views.0.iter().any(is_held)
    }

    /// Whether a device was listed a few polls ago and is not any more, or not under its name.
    fn is_missed(
        &self,
        node: &NodeName,
        (pci, view): (PciAddress, &director::FunctionView),
        tick: u64,
        patience: u64,
        by_name: bool,
    ) -> bool {
        let before: Vec<u64> = polled(self.recording, node)
            .take_while(|poll| *poll < tick)
            .collect();
        let recent = before
            .iter()
            .rev()
            .take(usize::try_from(patience).unwrap_or(usize::MAX));
        recent
            .take_while(|poll| !self.begins_baseline(node, **poll + 1, tick))
            .any(|poll| {
                let then = self.readings.views(node, *poll);
                let then = then.and_then(|views| views[0].0.get(&pci));
                then.is_some_and(|then| {
                    then.listed && (!view.listed || by_name && then.name != view.name)
                })
            })
    }

    /// How many polls a device must have been missing.
    pub(super) fn absence(&self) -> u64 {
        let pair = self.rows.pair(&Named::GoneDevice.into(), None);
        match pair {
            Some((_, Row::Says(says))) => self.rows.ticks(says.after.unwrap_or(Lasting::NOTHING)),
            _ => 0,
        }
    }

    /// Whether a monitor begins with a baseline between two polls, and knows nothing of what it reported before.
    pub(super) fn begins_baseline(&self, node: &NodeName, from: u64, to: u64) -> bool {
        let episode = self.episodes.latest_of_monitor(node, from, to);
        matches!(
            episode,
            Some(Named::Reboot | Named::ScopeChange | Named::StateFile)
        )
    }

    /// Whether the roles of a node's devices, as the monitor knows them, may not be those of its platform.
    fn roles_changed(&self, node: &NodeName, tick: u64) -> bool {
        let by_name = self.is_known_by_name();
        self.episodes.on_node(node).any(|(kind, from)| {
            let changes = match kind {
                Named::Metadata | Named::HotAdded | Named::ScopeChange => true,
                Named::Rename => by_name,
                _ => false,
            };
            changes && from <= tick
        })
    }

    /// Whether a text that is no state may count as one in a poll, or did in the one before.
    fn reads_garbled(&self, node: &NodeName, tick: u64) -> bool {
        let row = self.rows.pair(&Named::OddState.into(), None);
        let is_state =
            matches!(row, Some((_, Row::Says(says))) if says.garbled == Some(Garbled::State));
        is_state
            && [tick.saturating_sub(1), tick]
                .iter()
                .any(|tick| self.readings.is_any_ruled(node, *tick))
    }

    /// Whether devices are known by their names.
    pub(super) fn is_known_by_name(&self) -> bool {
        let pair = self.rows.pair(&Named::Rename.into(), None);
        matches!(pair, Some((_, Row::Says(says))) if says.known_by == Some(KnownBy::Name))
    }

    /// Whether the story pins devices by name, which are judged without their peers.
    pub(super) fn is_pinned(&self) -> bool {
        configs(self.context).any(|config| config.contains(crate::scope::PINS))
    }

    /// Whether two monitors of a node run at the same time.
    fn has_two_monitors(&self) -> bool {
        let mut all = self.context.truth.log.monitors();
        all.any(|(_, _, action)| matches!(action, MonitorAction::Start { .. }))
    }
}
