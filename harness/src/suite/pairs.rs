//! Selects the drills of a run: scenarios by platforms, filtered, with their arms.
//!
//! Every requested pair is either a drill or *not applicable* with its reason; none is dropped
//! silently. [`super::cover`] selects what the process arm plays without `--full`.

use std::collections::{BTreeMap, BTreeSet};

use platforms::Platform;
use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng, SeedableRng},
};
use reports::{ArmName, DrillName, Glob, NotApplicable, PlannedDrill};
use scenarios::{Arm, ChecksRun, Evidence, Story, Unfit};

use super::{
    cover::{Candidate, PLATFORM_AT_LEAST, Turn, cover},
    filter::{Filter, Seen},
    refusing::nobody_to_drill,
    shard::Shard,
};
use observe::Descriptor;

use crate::{
    descriptors::cannot_play,
    read_files::{Library, SuiteScenario},
};

mod names;

pub use names::SelectError;
use names::{every_name_means_something, family, on};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Families, scenarios or drills, with wildcards; empty: all.
    pub names: Vec<String>,
    /// Platforms, with wildcards; `name` includes its variants; empty: all.
    pub platforms: Vec<String>,
    /// A filter that drills must match.
    pub filter: Option<Filter>,
    /// The only drills allowed, if given.
    pub only: Option<BTreeSet<DrillName>>,
    /// The arms.
    pub arms: BTreeSet<ArmName>,
    /// Play every applicable pair in every arm, instead of a selection in the process arm.
    pub full: bool,
    /// Which shard of the selection.
    pub shard: Shard,
    /// The seed for the order; 0 keeps the listed order.
    pub seed: u64,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            platforms: Vec::new(),
            filter: None,
            only: None,
            arms: [ArmName::Memory, ArmName::Process].into(),
            full: false,
            shard: Shard::WHOLE,
            seed: 0,
        }
    }
}

/// The selection.
#[derive(Clone, Debug, Default)]
pub struct Selected {
    /// The drills, in the order in which they are played and reported.
    pub drills: Vec<PlannedDrill>,
    /// How many drills the shards of the run have together; 0 if the drills were not selected by [`select`].
    pub of_all_shards: usize,
    /// Requested pairs that are not applicable.
    pub not_applicable: Vec<NotApplicable>,
    /// Why the process arm plays a pair, in plain words; empty if it plays every pair.
    pub because: BTreeMap<DrillName, String>,
}

impl Selected {
    /// These drills, each to be played as processes.
    #[must_use]
    pub fn of_processes(drills: impl IntoIterator<Item = DrillName>) -> Self {
        let planned = drills.into_iter().map(|drill| PlannedDrill {
            drill,
            arms: vec![ArmName::Process],
        });
        Self {
            drills: planned.collect(),
            ..Self::default()
        }
    }

    /// The drills of each scenario, in the order of their first ones.
    #[must_use]
    pub fn by_scenario(&self) -> Vec<Vec<&PlannedDrill>> {
        let mut scenarios: Vec<Vec<&PlannedDrill>> = Vec::new();
        for planned in &self.drills {
            let same = |others: &&mut Vec<&PlannedDrill>| {
                let first = others.first();
                first.is_some_and(|other| other.drill.scenario == planned.drill.scenario)
            };
            match scenarios.iter_mut().find(same) {
                Some(others) => others.push(planned),
                None => scenarios.push(vec![planned]),
            }
        }
        scenarios
    }
}

/// The story of a drill; `None` if its scenario or platform is not in the library.
///
/// # Errors
/// If the scenario is not applicable to the platform, or wrong.
pub fn story(library: &Library, drill: &DrillName) -> Option<Result<Story, Unfit>> {
    let scenario = library.scenario(&drill.scenario)?;
    Some(match library.at_rest(&drill.world)? {
        Ok(rest) => scenario.scenario.at_rest(&rest),
        Err(error) => Err(error.into()),
    })
}

/// Selects the drills of a run.
///
/// # Errors
/// If a name is unknown, or a scenario is wrong.
pub fn select(
    library: &Library,
    descriptor: &Descriptor,
    ask: &Ask,
) -> Result<Selected, SelectError> {
    every_name_means_something(library, ask)?;
    let mut fitting = Vec::new();
    let mut not_applicable = Vec::new();
    let mut ports = Ports::default();
    for scenario in &library.scenarios {
        for name in library.worlds_of(&scenario.scenario) {
            let drill = DrillName {
                scenario: scenario.name.clone(),
                world: name.to_owned(),
            };
            if !is_asked_for(ask, scenario, &drill) {
                continue;
            }
            let rest = library.at_rest(name).expect("it was just listed")?;
            let fits = match scenario.scenario.at_rest(&rest) {
                Ok(story) => arms(&story, descriptor, ask).map(|arms| Fitting {
                    evidence: (!ask.full).then(|| scenario.scenario.evidence(&rest, &story)),
                    work: ports.work(&story),
                    planned: PlannedDrill {
                        drill: drill.clone(),
                        arms,
                    },
                }),
                Err(Unfit::NotApplicable { reason }) => Err(reason),
                Err(Unfit::Wrong(error)) => return Err(error.into()),
            };
            match fits {
                Ok(pair) => fitting.push(pair),
                Err(reason) => not_applicable.push(NotApplicable { drill, reason }),
            }
        }
    }
    let because = if ask.full {
        BTreeMap::new()
    } else {
        leave_out(&mut fitting)
    };
    let mut drills: Vec<PlannedDrill> = fitting.into_iter().map(|pair| pair.planned).collect();
    shuffle(&mut drills, ask.seed);
    let of_all_shards = drills.len();
    let mut place = 0..;
    drills.retain(|_| ask.shard.holds(place.next().expect("places do not end")));
    Ok(Selected {
        drills,
        of_all_shards,
        not_applicable,
        because,
    })
}

/// A pair that fits, before the process arm's selection.
struct Fitting {
    planned: PlannedDrill,
    /// The cost of playing it.
    work: u64,
    /// Why its fault can matter there, if that decides whether it is played.
    evidence: Option<Evidence>,
}

/// The number of ports of each platform, by name.
#[derive(Default)]
struct Ports(BTreeMap<String, u64>);

impl Ports {
    fn of(&mut self, platform: &Platform) -> u64 {
        let known = self.0.entry(platform.name());
        *known.or_insert_with(|| platform.ports().len() as u64)
    }

    /// The cost of playing a story: about as many files as a right monitor reads.
    fn work(&mut self, story: &Story) -> u64 {
        let is_watched = |node| story.monitors.contains(node);
        let watched = story.nodes.iter().filter(|(node, _)| is_watched(node));
        let ports: u64 = watched.map(|(_, platform)| self.of(platform)).sum();
        (story.ticks.last_until(story.until) + 1) * ports * files_of_a_port(story.checks)
    }
}

/// About as many files as the reference monitor reads of a port in a poll: the median over the drills of
/// a machine with four ports, divided by four.
const fn files_of_a_port(checks: ChecksRun) -> u64 {
    match checks {
        ChecksRun::State => 5,
        ChecksRun::CharDevices => 9,
        ChecksRun::Counters => 18,
        ChecksRun::All => 21,
    }
}

fn is_asked_for(ask: &Ask, scenario: &SuiteScenario, drill: &DrillName) -> bool {
    let full_name = drill.to_string();
    let named = |name: &String| {
        let glob = Glob::new(name);
        glob.fits(&drill.scenario) || glob.fits(family(&drill.scenario)) || glob.fits(&full_name)
    };
    let seen = Seen {
        scenario: &drill.scenario,
        platform: &drill.world,
        covers: scenario.scenario.covers(),
    };
    (ask.names.is_empty() || ask.names.iter().any(named))
        && (ask.platforms.is_empty() || ask.platforms.iter().any(|name| on(name, &drill.world)))
        && ask.filter.as_ref().is_none_or(|filter| filter.means(seen))
        && ask.only.as_ref().is_none_or(|only| only.contains(drill))
}

/// The requested arms in which a story can be played with this monitor; an error text if there is
/// none.
fn arms(story: &Story, descriptor: &Descriptor, ask: &Ask) -> Result<Vec<ArmName>, String> {
    if let Some(reason) = nobody_to_drill(story).or_else(|| cannot_play(descriptor, story)) {
        return Err(reason);
    }
    let of_story = story.arms.iter().map(|arm| match arm {
        Arm::Memory => ArmName::Memory,
        Arm::Process => ArmName::Process,
    });
    let possible: BTreeSet<ArmName> = of_story
        .filter(|arm| descriptor.memory || *arm != ArmName::Memory)
        .collect();
    let arms: Vec<ArmName> = possible.intersection(&ask.arms).copied().collect();
    match (arms.is_empty(), possible.first()) {
        (false, _) => Ok(arms),
        (true, Some(other)) => Err(format!("is played in the {other} arm only")),
        (true, None) => Err(format!("`{}` cannot be played in memory", descriptor.name)),
    }
}

/// Removes the process arm from drills that the cover leaves out, and drills without any arm. Returns why
/// the others are played in it.
fn leave_out(pairs: &mut Vec<Fitting>) -> BTreeMap<DrillName, String> {
    let in_process: Vec<usize> = (0..pairs.len())
        .filter(|place| pairs[*place].planned.arms.contains(&ArmName::Process))
        .collect();
    let candidates: Vec<Candidate<'_>> = in_process
        .iter()
        .map(|place| &pairs[*place])
        .map(|pair| Candidate {
            scenario: &pair.planned.drill.scenario,
            platform: &pair.planned.drill.world,
            work: pair.work,
            lacks: pair.evidence.as_ref().map_or(0, Evidence::lacks),
        })
        .collect();
    let chosen: BTreeMap<usize, Turn> = cover(&candidates)
        .into_iter()
        .map(|(place, turn)| (in_process[place], turn))
        .collect();
    let mut because = BTreeMap::new();
    for place in in_process {
        let pair = &mut pairs[place];
        match chosen.get(&place) {
            Some(turn) => {
                let why = why(pair.evidence.as_ref(), *turn);
                because.insert(pair.planned.drill.clone(), why);
            }
            None => pair.planned.arms.retain(|arm| *arm != ArmName::Process),
        }
    }
    pairs.retain(|pair| !pair.planned.arms.is_empty());
    because
}

fn why(evidence: Option<&Evidence>, turn: Turn) -> String {
    let evidence = evidence.map(ToString::to_string).unwrap_or_default();
    match turn {
        Turn::Scenario => evidence,
        Turn::Variant => format!("{evidence}; so that the platform is played"),
        Turn::Share => format!("{evidence}; one of the platform's {PLATFORM_AT_LEAST}"),
    }
}

/// Fisher-Yates shuffle with splitmix64: the same seed gives the same order.
fn shuffle<T>(items: &mut [T], seed: u64) {
    if seed == 0 {
        return;
    }
    let mut random = SplitMix64::seed_from_u64(seed);
    for place in (1..items.len()).rev() {
        let of = u64::try_from(place + 1).expect("a count fits 64 bits");
        let other = usize::try_from(random.next_u64() % of).expect("it is below a count");
        items.swap(place, other);
    }
}

#[cfg(test)]
mod tests;
