//! What a monitor owes beyond the documents' demands. Start at [`Translator::beyond`].

use std::borrow::Cow;

use scenarios::{About, Tone, What};

use super::{Fate, Translated, translator::Translator};
use crate::{
    assign::Bounds,
    demands::{Demand, is_healthy},
    fits::state_check,
};

impl<'a> Translator<'_, 'a> {
    /// Adds what is owed beyond the documents' demands.
    pub(super) fn beyond(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        self.whole_checks(documents, owed);
        self.from_truth(documents, owed);
    }

    /// The healthy events about a check as a whole: one may come with each first poll, and one must where it clears
    /// what stands.
    fn whole_checks(&self, documents: &[Translated<'a>], owed: &mut Vec<Demand<'a>>) {
        let wire = self.rows.wire();
        let has_check = wire.baselines.is_some_and(|baselines| baselines.check);
        let by_check = wire.clears == Some(observe::promises::ClearedBy::Check);
        if !has_check && !by_check {
            return;
        }
        let whole = |of: &Translated<'a>, check: &str, at_least| Demand {
            pattern: Cow::Owned(is_healthy(About::Check, Some(check))),
            bounds: Bounds {
                at_least,
                at_most: 1,
            },
            attempts: 0,
            in_order: None,
            ..of.demand.clone()
        };
        let mut seen: Vec<(*const scenarios::Expectation, String)> = Vec::new();
        for it in documents {
            let Some(expectation) = it.demand.expectation else {
                continue;
            };
            if matches!(expectation.what, What::Baseline { .. }) {
                for check in self.context.story.checks.names() {
                    let key = (
                        std::ptr::from_ref(expectation),
                        format!("{}/{check}", it.demand.node),
                    );
                    if !seen.contains(&key) {
                        seen.push(key);
                        owed.push(whole(it, check, 0));
                    }
                }
            }
            let is_cleared = it.demand.pattern.tone == Tone::Healthy
                && it.fate == Fate::Free
                && it.kinds.is_older
                && self.clears_by_check(&it.kinds);
            if let (true, Some(layer)) = (is_cleared, it.kinds.layer) {
                let check = state_check(layer);
                let same = |one: &Demand<'_>| {
                    one.node == it.demand.node
                        && one.pattern.about == About::Check
                        && one.pattern.check.as_deref() == Some(check)
                        && one.window.from <= it.demand.window.to
                        && it.demand.window.from <= one.window.to
                };
                match owed.iter_mut().find(|one| same(one)) {
                    Some(one) => one.bounds.at_least = 1,
                    None => owed.push(whole(it, check, 1)),
                }
            }
        }
    }
}
