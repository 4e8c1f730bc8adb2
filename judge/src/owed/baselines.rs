//! What the wire decides: the healthy events of a first poll, and those of devices. Start at
//! [`Translator::baseline`].

use observe::promises::{Baselines, FirstPollEvents, Named};
use platforms::NodeName;
use scenarios::{About, What, Window};

use super::{Fate, translator::Translator};
use crate::{
    demands::{Demand, polled},
    kinds::Kinds,
};

impl<'a> Translator<'_, 'a> {
    /// What becomes of a healthy demand that clears nothing; `None` if its rows decide.
    pub(super) fn baseline(&self, demand: &Demand<'a>, kinds: &Kinds) -> Option<Fate> {
        if kinds.condition.is_some() {
            return None;
        }
        let unpromised = |key: &str| Some(Fate::NotJudged(format!("no promise about `{key}`")));
        let wire = self.rows.wire();
        match wire.first_poll {
            // What was added is told as its own row says, whatever a first poll is like.
            _ if kinds.is_added => {
                if let Some(reason) = self.rows.unpromised(&Named::HotAdded.into()) {
                    return Some(Fate::NotJudged(reason));
                }
            }
            None => return unpromised("wire.first_poll"),
            Some(FirstPollEvents::None) => return Some(Fate::Silent),
            Some(FirstPollEvents::Events) => {}
        }
        let Some(baselines) = wire.baselines else {
            let is_port = matches!(demand.pattern.about, About::Port(_) | About::NamedPort(..));
            let is_told = kinds.is_added && is_port && demand.pattern.counter.is_none();
            return match is_told {
                true => None,
                false => unpromised("wire.baselines"),
            };
        };
        if !includes(baselines, demand) {
            return Some(Fate::Silent);
        }
        let is_card = matches!(demand.pattern.about, About::Card(..));
        let is_late =
            || self.baseline_by_source(demand).is_none() && !self.is_of_a_first_poll(demand);
        if is_card && !baselines.late_cards && is_late() {
            return Some(Fate::Free);
        }
        None
    }
}

impl<'a> Translator<'_, 'a> {
    /// Whether a demand can be met in the first poll after a start.
    fn is_of_a_first_poll(&self, demand: &Demand<'a>) -> bool {
        let mut from = 0;
        polled(self.recording, &demand.node).any(|tick| {
            let is_first = from == 0 || self.begins_baseline(&demand.node, from, tick);
            from = tick + 1;
            is_first && (demand.window.from..=demand.window.to).contains(&tick)
        })
    }

    /// Moves a demand for an event of a first poll to the time at which the monitor sends it; `None` if nothing is
    /// healthy any more then.
    pub(super) fn baseline_time(&self, demand: &Demand<'a>) -> Option<Demand<'a>> {
        let mut moved = demand.clone();
        if let Some(tick) = self.baseline_by_source(demand) {
            moved.window = Window {
                from: tick,
                to: tick,
            };
        }
        let is_baseline = matches!(
            demand.expectation.map(|of| &of.what),
            Some(What::Baseline { .. })
        );
        let waits = self.rows.wire().baselines.is_some_and(|it| it.complete);
        if !is_baseline || !waits {
            return Some(moved);
        }
        let complete = self.first_complete(&demand.node, moved.window.from);
        if complete > moved.window.to {
            let [views, _] = self.readings.views(&demand.node, complete)?;
            let is_healthy = match &demand.pattern.about {
                About::Port(slot) => views.healthy(slot.pci, slot.port),
                About::Card(_, pci) => {
                    let cards = views.cards();
                    let mut of_it = cards.iter().filter(|card| card.pci.card() == pci.card());
                    of_it.any(|card| views.meets_peers(card))
                }
                _ => true,
            };
            if !is_healthy {
                return None;
            }
            moved.window = Window {
                from: complete,
                to: complete + 1,
            };
        }
        Some(moved)
    }

    /// The first poll from this one on in which every device can be read.
    pub(super) fn first_complete(&self, node: &NodeName, from: u64) -> u64 {
        let mut later = polled(self.recording, node).skip_while(|tick| *tick < from);
        let is_complete = |tick: &u64| {
            let views = self.readings.views(node, *tick);
            views.is_some_and(|[views, _]| {
                let mut all = views.0.keys();
                all.all(|pci| self.readings.is_ruled(node, *pci, *tick).is_none())
            })
        };
        later.find(is_complete).unwrap_or(from)
    }
}

/// Whether a first poll has events about the subject of a demand.
fn includes(baselines: Baselines, demand: &Demand<'_>) -> bool {
    if demand.pattern.counter.is_some() {
        return baselines.counters;
    }
    match demand.pattern.about {
        About::Port(_) | About::NamedPort(..) => baselines.ports,
        About::Device(..) | About::NamedDevice(_) => baselines.devices,
        About::Card(..) => baselines.cards,
        About::Check => baselines.check,
    }
}
