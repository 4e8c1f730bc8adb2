//! Selects the drills of a run: scenarios by platforms, filtered, with their arms.
//!
//! Every requested pair is either a drill or *not applicable* with its reason; none is dropped
//! silently. [`super::cover`] selects what the process arm plays without `--full`: from the whole library, so that a story
//! is played on the same platforms whatever else is selected.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use platforms::Platform;
use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng, SeedableRng},
};
use reports::{DrillName, Glob, NotApplicable, PlannedDrill};
use scenarios::{ChecksRun, Evidence, Scenario, Story, Unfit};
use terms::Arm;

use super::{
    cover::{Candidate, PLATFORM_AT_LEAST, Turn, cover},
    estimate::real_time,
    filter::{Filter, Seen},
    refusing::{nobody_to_drill, starts_by_promise},
    shard::Shard,
};
use observe::Descriptor;

use crate::{
    descriptors::cannot_play,
    lacking::lacking,
    read_files::{Library, SuiteScenario},
};

mod names;

pub use names::SelectError;
use names::{every_name_means_something, family, is_named, on};

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
    pub arms: BTreeSet<Arm>,
    /// Play every applicable pair in every arm, instead of a selection in the process arm.
    pub full: bool,
    /// Leave out drills that need more real time as a process.
    pub real_time_at_most: Option<Duration>,
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
            arms: [Arm::Memory, Arm::Process].into(),
            full: false,
            real_time_at_most: None,
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
    /// The requested scenarios without a drill in any shard, each with what most worlds lack for it.
    pub undrilled: BTreeMap<String, String>,
    /// Why the process arm plays a pair, in plain words; empty if it plays every pair.
    pub because: BTreeMap<DrillName, String>,
    /// The real time that drills need as processes, of those that need any.
    pub real_time: BTreeMap<DrillName, Duration>,
}

impl Selected {
    /// These drills, each to be played as processes.
    #[must_use]
    pub fn of_processes(drills: impl IntoIterator<Item = DrillName>) -> Self {
        let planned = drills.into_iter().map(|drill| PlannedDrill {
            drill,
            arms: vec![Arm::Process],
        });
        Self {
            drills: planned.collect(),
            ..Self::default()
        }
    }

    /// The places of the drills in the order in which they are to start: first those that need more real time than a
    /// quarter of what each of so many jobs has to wait, the longest first, so that none of these is left when all others are done; then
    /// the others as they are listed. What is judged is reported as listed, so that it waits for no drill that starts late.
    #[must_use]
    pub fn long_ones_first(&self, jobs: usize) -> Vec<usize> {
        let waits = |place: &usize| {
            let planned = &self.drills[*place];
            let is_process = planned.arms.contains(&Arm::Process);
            let real_time = self.real_time.get(&planned.drill);
            real_time
                .filter(|_| is_process)
                .copied()
                .unwrap_or_default()
        };
        let places = 0..self.drills.len();
        let all: Duration = places.clone().map(|place| waits(&place)).sum();
        let share = all.div_f64(jobs.max(1) as f64 * 4.0);
        let (mut first, rest): (Vec<usize>, Vec<usize>) =
            places.partition(|place| waits(place) > share);
        first.sort_by_key(|place| Reverse(waits(place)));
        first.extend(rest);
        first
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
    // The cover of the process arm is chosen among all pairs, whether they are asked for or not. What is named is played
    // without one.
    let is_process = !ask.full && ask.arms.contains(&Arm::Process);
    let pairs = pairs(library, ask);
    let covers = is_process && pairs.iter().any(|pair| pair.asked == Asked::Yes);
    let mut fitting = Vec::new();
    let mut not_applicable = Vec::new();
    let mut ports = Ports::default();
    let pairs = pairs.into_iter();
    for pair in pairs.filter(|pair| covers || pair.asked != Asked::No) {
        let Pair {
            scenario,
            drill,
            asked,
        } = pair;
        let rest = library.at_rest(&drill.world).expect("it was just listed")?;
        let fits = match scenario.at_rest(&rest) {
            Ok(story) => arms(&story, descriptor, ask).map(|arms| Fitting {
                real_time: real_time(&story, descriptor),
                evidence: covers.then(|| scenario.evidence(&rest, &story)),
                starts_by_promise: starts_by_promise(&story).is_some(),
                work: ports.work(&story),
                asked,
                planned: PlannedDrill {
                    drill: drill.clone(),
                    arms,
                },
            }),
            Err(Unfit::NotApplicable { reason }) => Err(reason),
            Err(Unfit::Wrong(_)) if asked == Asked::No => continue,
            Err(Unfit::Wrong(error)) => return Err(error.into()),
        };
        match fits {
            Ok(pair) => fitting.push(pair),
            Err(_) if asked == Asked::No => {}
            Err(reason) => not_applicable.push(NotApplicable { drill, reason }),
        }
    }
    let because = if covers {
        leave_out(&mut fitting)
    } else {
        BTreeMap::new()
    };
    let name = |pair: &Fitting| pair.planned.drill.clone();
    let slow = fitting.iter().filter(|pair| {
        let is_process = pair.planned.arms.contains(&Arm::Process);
        is_process && pair.real_time > Duration::ZERO
    });
    let real_time = slow.map(|pair| (name(pair), pair.real_time)).collect();
    let mut drills: Vec<PlannedDrill> = fitting.into_iter().map(|pair| pair.planned).collect();
    shuffle(&mut drills, ask.seed);
    let of_all_shards = drills.len();
    let undrilled = undrilled(library, &drills, &not_applicable);
    let mut place = 0..;
    drills.retain(|_| ask.shard.holds(place.next().expect("places do not end")));
    Ok(Selected {
        drills,
        of_all_shards,
        not_applicable,
        undrilled,
        because,
        real_time,
    })
}

/// The scenarios of which every requested pair is not applicable, each with what most worlds lack for it. Of one that names its
/// platforms, the others say nothing.
fn undrilled(
    library: &Library,
    drills: &[PlannedDrill],
    not_applicable: &[NotApplicable],
) -> BTreeMap<String, String> {
    let drilled: BTreeSet<&str> = drills
        .iter()
        .map(|planned| planned.drill.scenario.as_str())
        .collect();
    let mut unfit: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for NotApplicable { drill, reason } in not_applicable {
        if !drilled.contains(drill.scenario.as_str()) {
            let of_scenario = unfit.entry(&drill.scenario).or_default();
            of_scenario.push((drill.world.as_str(), reason.as_str()));
        }
    }
    let told = unfit.into_iter().filter_map(|(name, mut pairs)| {
        let named = library.scenario(name)?.scenario.platforms_named();
        let is_named = |world: &str| named.as_ref().is_some_and(|all| all.contains(&world));
        if pairs.iter().any(|(world, _)| is_named(world)) {
            pairs.retain(|(world, _)| is_named(world));
        }
        Some((name.to_owned(), lacking(pairs)?))
    });
    told.collect()
}

/// A scenario and a world, whether they fit or not.
struct Pair<'l> {
    scenario: &'l Scenario,
    drill: DrillName,
    asked: Asked,
}

/// Every pair of the library.
fn pairs<'l>(library: &'l Library, ask: &Ask) -> Vec<Pair<'l>> {
    let mut pairs = Vec::new();
    for scenario in &library.scenarios {
        for world in library.worlds_of(&scenario.scenario) {
            let drill = DrillName {
                scenario: scenario.name.clone(),
                world: world.to_owned(),
            };
            pairs.push(Pair {
                asked: asked_for(ask, scenario, &drill),
                scenario: &scenario.scenario,
                drill,
            });
        }
    }
    pairs
}

/// A pair that fits, before the process arm's selection.
struct Fitting {
    planned: PlannedDrill,
    asked: Asked,
    /// The cost of playing it.
    work: u64,
    /// The real time that it needs as a process.
    real_time: Duration,
    /// Why its fault can matter there, if that decides whether it is played.
    evidence: Option<Evidence>,
    /// Whether only monitors that need no metadata start there.
    starts_by_promise: bool,
}

impl Fitting {
    /// How well a pair suits its story, by the pair alone: the least first.
    fn rank(&self) -> (usize, bool, u64) {
        let is_variant = self.planned.drill.world.contains(':');
        (self.lacks(), is_variant, self.work)
    }

    /// How many of the story's topics cannot matter there. A machine on which only some monitors start is no evidence for
    /// all, and is played for its own sake.
    fn lacks(&self) -> usize {
        let lacks = self.evidence.as_ref().map_or(0, Evidence::lacks);
        lacks + usize::from(self.starts_by_promise)
    }
}

/// Whether a pair is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// It is not.
    No,
    /// By its scenario, its platform, a filter, or because nothing narrows the run.
    Yes,
    /// By its own name, as `port/cable-pulled@h100-oci`: it is played in every arm.
    ByName,
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

fn asked_for(ask: &Ask, scenario: &SuiteScenario, drill: &DrillName) -> Asked {
    let full_name = drill.to_string();
    let named = |name: &String| {
        let glob = Glob::new(name);
        if glob.fits(&drill.scenario) || glob.fits(family(&drill.scenario)) {
            Asked::Yes
        } else if is_named(name, &full_name) {
            Asked::ByName
        } else {
            Asked::No
        }
    };
    let seen = Seen {
        scenario: &drill.scenario,
        platform: &drill.world,
        covers: scenario.scenario.covers(),
    };
    let is_left = (ask.platforms.is_empty()
        || ask.platforms.iter().any(|name| on(name, &drill.world)))
        && ask.filter.as_ref().is_none_or(|filter| filter.means(seen))
        && ask.only.as_ref().is_none_or(|only| only.contains(drill));
    match ask.names.iter().map(named).max() {
        _ if !is_left => Asked::No,
        None => Asked::Yes,
        Some(asked) => asked,
    }
}

/// The requested arms in which a story can be played with this monitor; an error text if there is
/// none.
fn arms(story: &Story, descriptor: &Descriptor, ask: &Ask) -> Result<Vec<Arm>, String> {
    if let Some(reason) = nobody_to_drill(story).or_else(|| cannot_play(descriptor, story)) {
        return Err(reason);
    }
    let of_story = story.arms.iter().map(|arm| match arm {
        Arm::Memory => Arm::Memory,
        Arm::Process => Arm::Process,
    });
    let possible: BTreeSet<Arm> = of_story
        .filter(|arm| descriptor.memory || *arm != Arm::Memory)
        .collect();
    let mut arms: Vec<Arm> = possible.intersection(&ask.arms).copied().collect();
    if let Some(most) = ask.real_time_at_most
        && arms.contains(&Arm::Process)
    {
        let needed = real_time(story, descriptor);
        if needed > most {
            arms.retain(|arm| *arm != Arm::Process);
        }
        if arms.is_empty() {
            return Err(format!(
                "needs {} s of real time, and at most {} s are wanted",
                needed.as_secs_f64().ceil(),
                most.as_secs_f64()
            ));
        }
    }
    match (arms.is_empty(), possible.first()) {
        (false, _) => Ok(arms),
        (true, Some(other)) => Err(format!("is played in the {other} arm only")),
        (true, None) => Err(format!("`{}` cannot be played in memory", descriptor.name)),
    }
}

/// Removes the process arm from drills that the cover leaves out, drills without any arm, and those that are not asked
/// for. A scenario none of whose chosen platforms is asked for is played on the best of those that are. Returns why the
/// others are played in it.
fn leave_out(pairs: &mut Vec<Fitting>) -> BTreeMap<DrillName, String> {
    let in_process: Vec<usize> = (0..pairs.len())
        .filter(|place| pairs[*place].planned.arms.contains(&Arm::Process))
        .collect();
    let candidates: Vec<Candidate<'_>> = in_process
        .iter()
        .map(|place| &pairs[*place])
        .map(|pair| Candidate {
            scenario: &pair.planned.drill.scenario,
            platform: &pair.planned.drill.world,
            work: pair.work,
            lacks: pair.lacks(),
        })
        .collect();
    let mut chosen: BTreeMap<usize, Turn> = cover(&candidates)
        .into_iter()
        .map(|(place, turn)| (in_process[place], turn))
        .filter(|(place, _)| pairs[*place].asked != Asked::No)
        .collect();
    let mut least: BTreeMap<&str, usize> = BTreeMap::new();
    for place in &in_process {
        let pair = &pairs[*place];
        match pair.asked {
            Asked::No => {}
            Asked::ByName => {
                chosen.entry(*place).or_insert(Turn::Scenario);
            }
            Asked::Yes => {
                let best = least.entry(&pair.planned.drill.scenario).or_insert(*place);
                if pair.rank() < pairs[*best].rank() {
                    *best = *place;
                }
            }
        }
    }
    for place in chosen.keys() {
        least.remove(pairs[*place].planned.drill.scenario.as_str());
    }
    chosen.extend(least.into_values().map(|place| (place, Turn::Scenario)));
    let mut because = BTreeMap::new();
    for place in in_process {
        let pair = &mut pairs[place];
        match chosen.get(&place) {
            Some(turn) => {
                let why = why(pair.evidence.as_ref(), *turn);
                because.insert(pair.planned.drill.clone(), why);
            }
            None => pair.planned.arms.retain(|arm| *arm != Arm::Process),
        }
    }
    pairs.retain(|pair| pair.asked != Asked::No && !pair.planned.arms.is_empty());
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
