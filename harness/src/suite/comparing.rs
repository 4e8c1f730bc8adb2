//! Several monitors in the same drills: which drills these are, and what each monitor made of them. Start at
//! [`choose_common`], then [`hear`].

use std::collections::{BTreeMap, BTreeSet};

use director::Log;
use judge::{Noticed, kinds_of, noticed};
use observe::{Descriptor, Needs, promises::Kind};
use reports::DrillName;
use scenarios::Story;
use terms::Arm;

use super::{
    PlayError,
    interview::{Interviewing, each_played},
    pairs::{Ask, SelectError, Selected, select, story},
};
use crate::{read_files::Library, still::play_any};

/// How many drills of each kind a sample has at most. Chosen: with the example of needs four monitors then take less
/// than two minutes on two cores.
const SAMPLE_OF_KIND: usize = 6;

/// The longest drill of a sample, in polls. Chosen: ten simulated minutes of a fault, and what leads to it.
const SAMPLE_POLLS_MAX: u64 = 900;

/// A monitor to compare, with the library as it watches it.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'c> {
    /// Scenarios and platforms.
    pub library: &'c Library,
    /// The monitor.
    pub descriptor: &'c Descriptor,
}

/// The drills that all of several monitors can play.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// The drills, in the order in which they are played.
    pub drills: Vec<DrillName>,
    /// For each monitor the scenarios that another one can play and it cannot, by reason.
    pub left_out: Vec<BTreeMap<String, u64>>,
}

/// Selects drills that all of these monitors can play as processes: each that is asked for; without `full` as the
/// process arm of a run selects them, and of these, if `sample` is given, some for each kind of these needs.
///
/// # Errors
/// If a name is unknown, or a scenario is wrong.
pub fn choose_common(
    monitors: &[Compared<'_>],
    ask: &Ask,
    sample: Option<&Needs>,
) -> Result<Common, SelectError> {
    let whole = Ask {
        arms: [Arm::Process].into(),
        full: true,
        ..ask.clone()
    };
    let selected = monitors
        .iter()
        .map(|monitor| select(monitor.library, monitor.descriptor, &whole));
    let selected: Vec<Selected> = selected.collect::<Result<_, _>>()?;
    let names = |of: &Selected| -> BTreeSet<DrillName> {
        let drills = of.drills.iter();
        drills.map(|planned| planned.drill.clone()).collect()
    };
    let each: Vec<BTreeSet<DrillName>> = selected.iter().map(names).collect();
    let mut common = each.first().cloned().unwrap_or_default();
    common.retain(|drill| each.iter().all(|of| of.contains(drill)));
    let left_out = selected.iter().zip(&each);
    let left_out = left_out.map(|(selected, own)| left_out_of(selected, own, &each));
    let left_out = left_out.collect();
    let Some(first) = monitors.first() else {
        return Ok(Common::default());
    };
    let chosen = Ask {
        full: ask.full,
        only: Some(common),
        ..whole
    };
    let chosen = select(first.library, first.descriptor, &chosen)?.drills;
    let mut drills: Vec<DrillName> = chosen.into_iter().map(|planned| planned.drill).collect();
    if let Some(needs) = sample {
        drills = sampled(first.library, drills, needs);
    }
    Ok(Common { drills, left_out })
}

/// The scenarios that another monitor can play and this one cannot, by reason.
fn left_out_of(
    selected: &Selected,
    own: &BTreeSet<DrillName>,
    each: &[BTreeSet<DrillName>],
) -> BTreeMap<String, u64> {
    let scenarios = |of: &BTreeSet<DrillName>| -> BTreeSet<String> {
        of.iter().map(|drill| drill.scenario.clone()).collect()
    };
    let own = scenarios(own);
    let others: BTreeSet<&DrillName> = each.iter().flatten().collect();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for scenario in each.iter().flat_map(scenarios).collect::<BTreeSet<_>>() {
        if own.contains(&scenario) {
            continue;
        }
        let mut pairs = selected.not_applicable.iter();
        let pair =
            pairs.find(|pair| pair.drill.scenario == scenario && others.contains(&pair.drill));
        if let Some(pair) = pair {
            *reasons.entry(pair.reason.clone()).or_default() += 1;
        }
    }
    reasons
}

/// Of each kind that needs are about some drills, from short to long.
fn sampled(library: &Library, drills: Vec<DrillName>, needs: &Needs) -> Vec<DrillName> {
    let mut of_kind: BTreeMap<Kind, Vec<(u64, usize)>> = BTreeMap::new();
    for (place, drill) in drills.iter().enumerate() {
        let Some(Ok(story)) = story(library, drill) else {
            continue;
        };
        let polls = story.ticks.last_until(story.until);
        if polls > SAMPLE_POLLS_MAX {
            continue;
        }
        for kind in kinds(&story) {
            if needs.need(&kind).is_some() || needs.quiet(&kind).is_some() {
                of_kind.entry(kind).or_default().push((polls, place));
            }
        }
    }
    let mut chosen = BTreeSet::new();
    for places in of_kind.values_mut() {
        places.sort_unstable();
        chosen.extend(spread_over(places).map(|(_, place)| place));
    }
    let mut place = 0..;
    let mut drills = drills;
    drills.retain(|_| chosen.contains(&place.next().expect("places do not end")));
    drills
}

/// Some of a list, evenly spread, the first and the last among them.
fn spread_over<T: Copy>(all: &[T]) -> impl Iterator<Item = T> {
    let last = all.len().saturating_sub(1);
    let most = SAMPLE_OF_KIND - 1;
    let places: BTreeSet<usize> = (0..=most).map(|step| step * last / most).collect();
    places
        .into_iter()
        .filter_map(|place| all.get(place).copied())
}

/// The kinds of faults and episodes in a story.
fn kinds(story: &Story) -> BTreeSet<Kind> {
    let acts = Log::foreseen(story).acts.into_iter();
    acts.flat_map(|act| kinds_of(&act.what)).collect()
}

/// Plays the drills with one monitor, and tells what it made of each, in their order; `heard` is told the place of each.
///
/// # Errors
/// If a player cannot be made, a drill fell, or it was interrupted.
pub fn hear(
    monitor: Compared<'_>,
    drills: &[DrillName],
    needs: &Needs,
    how: &Interviewing<'_>,
    heard: impl FnMut(usize),
) -> Result<Vec<Noticed>, PlayError> {
    let Compared {
        library,
        descriptor,
    } = monitor;
    let name = |place: usize| drills[place].to_string();
    each_played(
        (drills.len(), &name),
        how,
        |player, place| {
            let drill = drills[place].clone();
            let story = match story(library, &drill) {
                Some(Ok(story)) => story,
                Some(Err(unfit)) => {
                    let unfit = Box::new(unfit);
                    return Err(PlayError::Unfit { drill, unfit });
                }
                None => return Err(PlayError::Gone(drill)),
            };
            let played = play_any(player, &story, descriptor);
            if let Some(observe::Broken::Stage { cause }) = &played.recording.broken {
                let cause = cause.clone();
                return Err(PlayError::Stage { drill, cause });
            }
            let (truth, recording) = (&played.truth, &played.recording);
            Ok(noticed(&story, truth, recording, descriptor, needs))
        },
        heard,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(all: usize, expected: &[usize]) {
        let all: Vec<usize> = (0..all).collect();
        assert_eq!(spread_over(&all).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_sample_has_the_shortest_the_longest_and_what_is_between() {
        check(0, &[]);
        check(1, &[0]);
        check(3, &[0, 1, 2]);
        check(11, &[0, 2, 4, 6, 8, 10]);
    }
}
