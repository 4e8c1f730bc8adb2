//! Keys that are found by trying: the recordings are judged again under each value of a key, and the value under which
//! the least is wrong is what the monitor does. If several are as good, the documents' is it, else the first. Nothing is
//! played for this. Left out: which keys there are (`keys`). Start at [`fit`].

use std::collections::{BTreeMap, BTreeSet};

use judge::judge;
use observe::{Descriptor, Promises};
use reports::Finding;

use crate::{
    drill::Drill,
    evidence::Evidence,
    fitted::promising,
    keys::{Key, Set, groups},
    suspects,
};

/// How often all keys are tried at most: what one of them explains may depend on another one. Chosen: more than any
/// monitor was seen to need.
const ROUNDS: usize = 3;

/// What was found by trying.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    /// What tells that a key has another value than that of the documents.
    pub(crate) told: Vec<Told>,
    /// The drills that do not apply under what was found.
    pub(crate) excused: BTreeSet<String>,
    /// The keys that no drill tells apart, rows as a whole apart.
    pub(crate) untold: Vec<&'static str>,
}

/// A key with another value than that of the documents.
#[derive(Debug)]
pub(crate) struct Told {
    /// The key, such as `wire.clears`.
    pub(crate) key: &'static str,
    /// What it sets.
    pub(crate) set: Set,
    /// What the documents' value does not explain.
    pub(crate) evidence: Evidence,
}

/// A combination of values, by the place of each, with what is wrong under it.
struct Candidate {
    places: Vec<usize>,
    promises: Promises,
    excused: BTreeSet<String>,
    findings: Vec<(String, Finding)>,
}

/// Sets each key in the promises to the value under which the least is wrong.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], promises: &mut Promises) -> Tried {
    let groups = groups();
    let mut tried = Tried::default();
    for _ in 0..ROUNDS {
        let before = promises.clone();
        tried = Tried::default();
        for group in &groups {
            tell(group, descriptor, drills, promises, &mut tried);
        }
        if *promises == before {
            break;
        }
    }
    tried
}

/// What is wrong in drills under some promises, by drill. The form of events and calls is no part of it.
pub(crate) fn findings(
    descriptor: &Descriptor,
    drills: &[&Drill<'_>],
    promises: &Promises,
) -> Vec<(String, Finding)> {
    let promised = promising(descriptor, promises.clone());
    let found = drills.iter().flat_map(|drill| {
        let judged = judge(drill.story, drill.truth, drill.recording, &promised);
        let name = drill.name();
        let findings = judged
            .findings
            .into_iter()
            .filter(|it| !suspects::is_of_the_wire(it));
        findings.map(move |finding| (name.clone(), finding))
    });
    found.collect()
}

/// Finds the values of the keys of a group.
fn tell(
    group: &[Key],
    descriptor: &Descriptor,
    drills: &[Drill<'_>],
    promises: &mut Promises,
    tried: &mut Tried,
) {
    let asked: Vec<&Drill<'_>> = drills
        .iter()
        .filter(|drill| group.iter().any(|key| key.is_asked_in(drill)))
        .collect();
    let mut numbers = Vec::new();
    for key in group {
        let is_told = asked.iter().any(|drill| key.is_asked_in(drill));
        if !is_told && key.name.contains('.') && matters(key, promises) {
            tried.untold.push(key.name);
        }
        numbers.push(if is_told { key.values.len() } else { 1 });
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    for places in combinations(&numbers) {
        let made = candidate(group, places, &asked, promises);
        let is_same = |it: &Candidate| it.promises == made.promises && it.excused == made.excused;
        if !candidates.iter().any(is_same) {
            candidates.push(made);
        }
    }
    if candidates.len() > 1 {
        for it in &mut candidates {
            let apply = |drill: &&&Drill<'_>| !it.excused.contains(&drill.name());
            let apply: Vec<&Drill<'_>> = asked.iter().filter(apply).copied().collect();
            it.findings = findings(descriptor, &apply, &it.promises);
        }
    }
    let Some(best) = candidates.iter().min_by_key(|it| it.findings.len()) else {
        return;
    };
    for (at, key) in group.iter().enumerate() {
        if let Some(value) = key
            .values
            .get(best.places[at])
            .filter(|_| best.places[at] > 0)
            && let Some(evidence) = unexplained(key, at, best, &candidates)
        {
            tried.told.push(Told {
                key: key.name,
                set: value.set,
                evidence,
            });
        }
    }
    tried.excused.extend(best.excused.iter().cloned());
    *promises = best.promises.clone();
}

/// Whether its values differ under these promises.
fn matters(key: &Key, promises: &Promises) -> bool {
    let made = |set: Set| {
        let mut made = promises.clone();
        set.apply(&mut made);
        made
    };
    let mut all = key.values.iter().map(|value| made(value.set));
    let first = all.next();
    all.any(|other| Some(other) != first)
}

/// The places of every combination of values, the last varying first.
fn combinations(numbers: &[usize]) -> Vec<Vec<usize>> {
    numbers.iter().fold(vec![Vec::new()], |before, number| {
        let longer = |places: Vec<usize>| {
            (0..*number).map(move |place| {
                let mut places = places.clone();
                places.push(place);
                places
            })
        };
        before.into_iter().flat_map(longer).collect()
    })
}

fn candidate(
    group: &[Key],
    places: Vec<usize>,
    asked: &[&Drill<'_>],
    promises: &Promises,
) -> Candidate {
    let mut promises = promises.clone();
    let mut excused = BTreeSet::new();
    for (key, place) in group.iter().zip(&places) {
        let value = &key.values[*place];
        value.set.apply(&mut promises);
        if let Some(excuses) = value.excuses {
            let drills = asked.iter().filter(|drill| excuses(drill));
            excused.extend(drills.map(|drill| drill.name()));
        }
    }
    Candidate {
        places,
        promises,
        excused,
        findings: Vec::new(),
    }
}

/// What is wrong with the documents' value of a key, and right with the one that was found.
fn unexplained(
    key: &Key,
    at: usize,
    best: &Candidate,
    candidates: &[Candidate],
) -> Option<Evidence> {
    let mut places = best.places.clone();
    places[at] = 0;
    let documents = candidates.iter().find(|it| it.places == places);
    let documents = documents.or(candidates.first())?;
    let mut left: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for (drill, finding) in &best.findings {
        left.entry(drill).or_default().push(finding);
    }
    let is_left = |(drill, finding): &&(String, Finding)| {
        let mut left = left.get(drill.as_str()).into_iter().flatten();
        left.any(|it| it.cause == finding.cause && it.tick == finding.tick)
    };
    let gone = documents.findings.iter().find(|it| !is_left(it));
    let (drill, finding) = gone.or(documents.findings.first())?;
    let word = key.values.first().map_or("", |value| value.word);
    Some(Evidence {
        drill: drill.clone(),
        poll: finding.tick,
        came: format!("with `{}: {word}` {}", key.name, suspects::came(finding)),
    })
}
