//! What the wire decides: the healthy events of a first poll, and those of devices. Start at
//! [`Translator::baseline`].

use observe::promises::{Baselines, FirstPollEvents};
use scenarios::About;

use super::{Fate, translator::Translator};
use crate::{demands::Demand, kinds::Kinds};

impl<'a> Translator<'_, 'a> {
    /// What becomes of a healthy demand that clears nothing; `None` if its rows decide.
    pub(super) fn baseline(&self, demand: &Demand<'a>, kinds: &Kinds) -> Option<Fate> {
        if kinds.condition.is_some() {
            return None;
        }
        let unpromised = |key: &str| Some(Fate::NotJudged(format!("no promise about `{key}`")));
        let wire = self.rows.wire();
        match wire.first_poll {
            None => return unpromised("wire.first_poll"),
            Some(FirstPollEvents::None) => return Some(Fate::Silent),
            Some(FirstPollEvents::Events) => {}
        }
        let Some(baselines) = wire.baselines else {
            return unpromised("wire.baselines");
        };
        if !includes(baselines, demand) {
            return Some(Fate::Silent);
        }
        if matches!(
            demand.pattern.about,
            About::Device(..) | About::NamedDevice(_)
        ) {
            match wire.device_events {
                None => return unpromised("wire.device_events"),
                Some(false) => return Some(Fate::Silent),
                Some(true) => {}
            }
        }
        None
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
