//! The kinds of healthy events: what they clear, and when it healed.

use observe::promises::{Kind, Named};
use platforms::{NodeName, PciAddress, PortNumber};
use scenarios::What;

use super::{Finder, Kinds, Whom};
use crate::demands::{self, Demand};

impl Finder<'_, '_> {
    pub(super) fn of_clear(
        &self,
        demand: &Demand<'_>,
        whom: Option<&Whom>,
        fault: Option<(usize, &Kinds)>,
    ) -> Kinds {
        let (node, to) = (&demand.node, demand.window.from);
        let pci = whom.and_then(Whom::pci);
        let layer = self.layer(demand);
        let Some((fault, of)) = fault else {
            return self.of_baseline(demand, whom);
        };
        let is_counter = matches!(of.condition, Some(Kind::Counter(_)));
        let healed = whom.and_then(|whom| self.healed_at(demand, whom));
        let unhealed = healed.is_none() && !is_counter && pci.is_some();
        let episode = if unhealed {
            self.episodes.latest(node, pci, 0, to)
        } else {
            let since = healed.unwrap_or(to);
            let from = self.unseen_from(node, since);
            self.episodes.latest_of_monitor(node, from, to)
        };
        Kinds {
            condition: of.condition.clone(),
            episode: episode.or(of.episode),
            layer: layer.or(of.layer),
            clears: Some(fault),
            begins: of.begins,
            is_waiting: of.is_waiting,
            waited: of.waited,
            is_older: unhealed,
            is_added: false,
        }
    }

    /// The kinds of a healthy demand that clears no demand.
    pub(super) fn of_baseline(&self, demand: &Demand<'_>, whom: Option<&Whom>) -> Kinds {
        let (node, to) = (&demand.node, demand.window.from);
        // A fault that was not reported is remembered, and so is its end.
        let remembered = match whom {
            Some(Whom::Port(pci, port)) if demand.pattern.counter.is_none() => {
                self.last_of_port(demand, *pci, *port)
            }
            _ => None,
        };
        let is_added_card = whom.is_some_and(|whom| self.is_added_card(demand, whom));
        let of_pci = whom.and_then(Whom::pci);
        let is_added = is_added_card || of_pci.is_some_and(|pci| self.is_added(demand, pci));
        let episode = match is_added_card {
            true => Some(Named::HotAdded),
            false => self.episodes.latest(node, of_pci, 0, to),
        };
        let what = demand.expectation.map(|of| &of.what);
        let is_baseline = matches!(what, Some(What::Baseline { .. }));
        let condition = remembered.filter(|_| !is_baseline).map(Kind::from);
        Kinds {
            episode: episode.or(Some(Named::FirstPoll).filter(|_| condition.is_none())),
            condition,
            layer: self.layer(demand),
            is_added,
            ..Kinds::default()
        }
    }

    /// The kind of a port's last unhealthy reading before a demand.
    pub(super) fn last_of_port(
        &self,
        demand: &Demand<'_>,
        pci: PciAddress,
        port: PortNumber,
    ) -> Option<Named> {
        let to = demand.window.to.min(self.readings.ticks());
        (0..to).rev().find_map(|tick| {
            let [start, _] = self.readings.views(&demand.node, tick)?;
            let reading = self.readings.port(&demand.node, (pci, port), start, tick);
            reading.kind()
        })
    }

    /// The tick in which a subject became healthy for the last time until a demand's end.
    pub(super) fn healed_at(&self, demand: &Demand<'_>, whom: &Whom) -> Option<u64> {
        let node = &demand.node;
        let is_well = |tick: u64| {
            let [start, _] = self.readings.views(node, tick)?;
            Some(match whom {
                Whom::Port(pci, port) => {
                    let reading = self.readings.port(node, (*pci, *port), start, tick);
                    start.0.contains_key(pci) && reading.kind().is_none()
                }
                Whom::Device(pci) => start.0.get(pci).is_some_and(|view| view.listed),
                Whom::Card(card) => {
                    let cards = start.cards();
                    let mut of_it = cards.iter().filter(|one| one.pci.card() == *card);
                    !of_it.any(|card| start.falls_behind(card))
                }
                Whom::Name(_) | Whom::Check => false,
            })
        };
        let last = self.readings.ticks().saturating_sub(1);
        let to = demand.window.to.min(last);
        let healed = (0..=to).rev().find(|tick| {
            let before = tick.checked_sub(1).and_then(is_well);
            is_well(*tick) == Some(true) && before != Some(true)
        })?;
        (healed > 0 && is_well(to) == Some(true)).then_some(healed)
    }

    /// From when on an episode comes between what happened in a tick and its report: after the last poll before it.
    pub(super) fn unseen_from(&self, node: &NodeName, since: u64) -> u64 {
        let before = demands::polled(self.recording, node).take_while(|tick| *tick < since);
        before.last().map_or(0, |last| last + 1)
    }
}
