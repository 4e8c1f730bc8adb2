//! What a monitor owes where the documents ask for a healthy event.

use observe::promises::{Clears, Kind, Named};
use scenarios::About;
use terms::Severity;

use super::super::{
    Fate,
    rows::{self, Holds},
};
use super::{Result, Translator, at_will, told};
use crate::{
    demands::{self, Demand},
    fits::{counter_check, state_check},
    kinds::Kinds,
};

impl<'a> Translator<'_, 'a> {
    /// A demand for a healthy event; `of` is what became of the fault that it clears.
    pub(super) fn clear(
        &self,
        demand: &Demand<'a>,
        kinds: &Kinds,
        of: Option<&Result<'a>>,
    ) -> Result<'a> {
        let may = |fate| (fate, Some(at_will(demand)));
        if let Some(reason) = self.unjudged_counter(demand) {
            return may(Fate::NotJudged(reason.to_owned()));
        }
        if let Some(reason) = self.unpromised_name(demand) {
            return may(Fate::NotJudged(reason));
        }
        if self.is_of_cards(demand, kinds) && of.is_some() {
            return (told(demand), None);
        }
        if let Some(fate) = self.of_moved(demand, kinds) {
            return may(fate);
        }
        if self.is_silent_about_added(kinds) {
            return match demand.pattern.counter {
                Some(_) => may(Fate::Free),
                None => (Fate::Silent, None),
            };
        }
        if self.is_left_behind(demand, kinds) || self.is_forgotten(demand, kinds) {
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
        let Some(mut moved) = self.baseline_time(demand) else {
            return may(Fate::Free);
        };
        match self.compared_later(&moved, kinds) {
            Some(Err(fate)) => return may(fate),
            Some(Ok(window)) => (moved.window, moved.in_order) = (window, None),
            None => {}
        }
        let demand = &moved;
        let (documents, promised) = match self.rows.hold(kinds) {
            Holds::AsAsked => (Box::default(), Box::default()),
            Holds::Silent if kinds.clears.is_none() && kinds.condition.is_some() => {
                return may(Fate::Free);
            }
            // The row of first polls is about faults; the wire decides about the rest.
            Holds::Silent | Holds::Unpromised(_)
                if kinds.episode == Some(Named::FirstPoll)
                    && kinds.clears.is_none()
                    && kinds.condition.is_none() =>
            {
                (Box::default(), Box::default())
            }
            Holds::Unpromised(reason) => return may(Fate::NotJudged(reason)),
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
            tone: Severity::Healthy,
            about: None,
        };
        (fate, Some(owed))
    }

    /// A baseline that the documents put off while something cannot be read comes in the first poll of a monitor that
    /// does not wait.
    pub(super) fn not_put_off(&self, owed: &mut Demand<'a>, kinds: &Kinds) {
        let first = demands::polled(self.recording, &owed.node).next();
        let Some(first) = first.filter(|_| self.rows.judges_at_once(Named::FirstPoll, kinds.layer))
        else {
            return;
        };
        if first < owed.window.from && self.readings.is_any_ruled(&owed.node, first) {
            owed.window.from = first;
            owed.in_order = None;
        }
    }

    /// Makes a demand one for a healthy event of its check as a whole.
    pub(super) fn by_check(&self, owed: &mut Demand<'a>, kinds: &Kinds) {
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
    pub(in crate::owed) fn clears_by_check(&self, kinds: &Kinds) -> bool {
        let of_node = matches!(
            kinds.episode,
            Some(Named::Reboot | Named::ScopeChange | Named::Metadata | Named::StateFile)
        );
        of_node && self.rows.wire().clears == Some(observe::promises::ClearedBy::Check)
    }
}
