//! What is reported again after an episode. Start at [`Translator::is_restated`].

use observe::promises::{Restates, Says};
use scenarios::About;

use super::{rows, translator::Translator};
use crate::demands::Demand;

impl<'a> Translator<'_, 'a> {
    /// Whether a fault that stood before an episode is reported again after it.
    pub(super) fn is_restated(
        &self,
        demand: &Demand<'a>,
        documents: &Says,
        promised: &Says,
    ) -> bool {
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
}
