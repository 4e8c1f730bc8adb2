//! What need not be told, because it was: of one subject, and of a subject that stands for several ports. Start at
//! [`once_for_all`].

use std::collections::{BTreeMap, BTreeSet};

use terms::Severity;

use super::{
    Fate,
    translator::{Result, at_will},
};
use crate::{demands::Demand, kinds::Kinds};

/// Where a row names a subject that stands for several ports, such as their device, it is one alarm: it opens with
/// the first fault, is told again only if it gets worse, and is over with the last.
pub(super) fn once_for_all<'a>(
    documents: &[Demand<'a>],
    kinds: &[Kinds],
    fates: &mut [Option<Result<'a>>],
) {
    let cleared: BTreeSet<usize> = kinds.iter().filter_map(|kinds| kinds.clears).collect();
    let mut in_time: Vec<(u64, bool, usize)> = (0..)
        .zip(fates.iter())
        .filter_map(|(at, fate)| {
            let owed = fate.as_ref()?.1.as_ref()?;
            let is_shared = owed.pattern.about != documents[at].pattern.about;
            let is_fault = owed.pattern.tone != Severity::Healthy;
            is_shared.then_some((owed.window.from, is_fault, at))
        })
        .collect();
    in_time.sort_unstable();
    let mut standing: BTreeMap<_, BTreeMap<usize, Severity>> = BTreeMap::new();
    for (.., at) in in_time {
        let Some((Fate::Owed { .. }, Some(owed))) = &mut fates[at] else {
            continue;
        };
        let pattern = &owed.pattern;
        let subject = (
            owed.node.clone(),
            pattern.about.clone(),
            pattern.check.clone(),
            pattern.counter.clone(),
        );
        let faults = standing.entry(subject).or_default();
        match kinds[at].clears {
            Some(fault) => {
                faults.remove(&fault);
                if faults.keys().any(|other| cleared.contains(other)) {
                    fates[at] = Some((Fate::Silent, None));
                } else if !faults.is_empty() {
                    // Nothing tells when the others are over.
                    fates[at] = Some((Fate::Free, Some(at_will(owed))));
                }
            }
            None if pattern.tone == Severity::Healthy => {}
            None => {
                let mut tones = faults.values();
                if tones.any(|tone| !pattern.tone.is_worse_than(*tone)) {
                    owed.bounds.at_least = 0;
                }
                faults.insert(at, pattern.tone);
            }
        }
    }
}

/// Only a higher severity than the one that was reported is reported (docs/decisions.md, 1): a fault whose severity
/// a row lowers may not rise any more where the documents' does.
pub(super) fn once_until_worse(
    documents: &[Demand<'_>],
    kinds: &[Kinds],
    fates: &mut [Option<Result<'_>>],
) {
    let key = |demand: &Demand<'_>| {
        let pattern = &demand.pattern;
        let codes = pattern.error_codes.clone();
        let about = pattern.about.clone();
        (demand.node.clone(), about, pattern.counter.clone(), codes)
    };
    let mut in_time: Vec<usize> = (0..documents.len()).collect();
    in_time.sort_by_key(|at| {
        (
            documents[*at].window.from,
            documents[*at].pattern.tone != Severity::Healthy,
        )
    });
    let mut said = BTreeMap::new();
    for at in in_time {
        let demand = &documents[at];
        if demand.pattern.tone == Severity::Healthy {
            if let Some(fault) = kinds[at].clears {
                said.remove(&key(&documents[fault]));
            }
            continue;
        }
        let Some((Fate::Owed { tone, .. }, Some(owed))) = &mut fates[at] else {
            continue;
        };
        let before = said.insert(key(demand), *tone);
        let is_changed = *tone != demand.pattern.tone;
        if is_changed && before.is_some_and(|before| !tone.is_worse_than(before)) {
            owed.bounds.at_least = 0;
        }
    }
}
