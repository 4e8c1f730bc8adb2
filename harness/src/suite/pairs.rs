//! Selects the drills of a run: scenarios by platforms, filtered, with their arms.
//!
//! Every requested pair is either a drill or *not applicable* with its reason; none is dropped
//! silently. [`super::cover`] selects what the process arm plays without `--full`.

use std::collections::{BTreeMap, BTreeSet};

use platforms::{Platform, yaml::nearest};
use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng, SeedableRng},
};
use reports::{ArmName, DrillName, Glob, NotApplicable, PlannedDrill};
use scenarios::{Arm, Evidence, Story, Unfit};

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
    /// Requested pairs that are not applicable.
    pub not_applicable: Vec<NotApplicable>,
    /// Why the process arm plays a pair, in plain words; empty if it plays every pair.
    pub because: BTreeMap<DrillName, String>,
}

/// An invalid selection.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// An unknown name.
    #[error("there is no {what} `{name}`\nhint: {hint}")]
    Unknown {
        /// The kind of thing that was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The hint.
        hint: String,
    },
    /// A scenario that is wrong in every world.
    #[error(transparent)]
    Scenario(#[from] scenarios::ScenarioError),
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
    let mut place = 0..;
    drills.retain(|_| ask.shard.holds(place.next().expect("places do not end")));
    Ok(Selected {
        drills,
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

    /// The cost of playing a story: its polls times its ports.
    fn work(&mut self, story: &Story) -> u64 {
        let is_watched = |node| story.monitors.contains(node);
        let watched = story.nodes.iter().filter(|(node, _)| is_watched(node));
        let ports: u64 = watched.map(|(_, platform)| self.of(platform)).sum();
        story.until.as_ns() / story.tick.as_ns() * ports
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

fn every_name_means_something(library: &Library, ask: &Ask) -> Result<(), SelectError> {
    let scenarios: Vec<&str> = library
        .scenarios
        .iter()
        .map(|scenario| scenario.name.as_str())
        .collect();
    let worlds = library.worlds.iter().map(scenarios::World::name);
    let platforms: Vec<&str> = library
        .platforms
        .iter()
        .map(|(name, _)| name)
        .chain(worlds)
        .collect();
    for name in &ask.platforms {
        if !platforms.iter().any(|platform| on(name, platform)) {
            return Err(unknown(
                "platform",
                name,
                &platforms,
                "`nicdrill platform list` lists them",
            ));
        }
    }
    for name in &ask.names {
        let (scenario, platform) = name.split_once('@').unwrap_or((name, "*"));
        let glob = Glob::new(scenario);
        if !scenarios
            .iter()
            .any(|name| glob.fits(name) || glob.fits(family(name)))
        {
            let families = scenarios.iter().map(|name| family(name));
            let known: Vec<&str> = scenarios.iter().copied().chain(families).collect();
            return Err(unknown(
                "scenario",
                scenario,
                &known,
                "`nicdrill list` lists them",
            ));
        }
        let glob = Glob::new(platform);
        if !platforms.iter().any(|platform| glob.fits(platform)) {
            return Err(unknown(
                "platform",
                platform,
                &platforms,
                "`nicdrill platform list` lists them",
            ));
        }
    }
    Ok(())
}

fn unknown(what: &'static str, name: &str, known: &[&str], list: &str) -> SelectError {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list.to_owned(),
    };
    SelectError::Unknown {
        what,
        name: name.to_owned(),
        hint,
    }
}

fn on(name: &str, platform: &str) -> bool {
    let glob = Glob::new(name);
    glob.fits(platform) || glob.fits(platform.split(':').next().unwrap_or_default())
}

fn family(scenario: &str) -> &str {
    scenario.split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(change: impl FnOnce(&mut Ask)) -> Selected {
        let library = Library::read(&[], &[]).unwrap();
        let descriptor = crate::descriptors::shipped("reference").unwrap();
        let platforms = vec!["h100-oci".to_owned(), "dgx-a100".to_owned()];
        let mut ask = Ask {
            platforms,
            ..Ask::default()
        };
        change(&mut ask);
        select(&library, &descriptor, &ask).unwrap()
    }

    fn names(selected: &Selected) -> Vec<String> {
        selected
            .drills
            .iter()
            .map(|drill| drill.drill.to_string())
            .collect()
    }

    #[test]
    fn every_pair_of_the_suite_is_a_drill_or_has_a_reason() {
        let library = Library::read(&[], &[]).unwrap();
        let all = selected(|ask| {
            ask.full = true;
            ask.platforms.clear();
        });
        let worlds = |scenario: &SuiteScenario| library.worlds_of(&scenario.scenario).len();
        let pairs: usize = library.scenarios.iter().map(worlds).sum();
        assert_eq!(all.drills.len() + all.not_applicable.len(), pairs);
        assert!(
            all.not_applicable
                .iter()
                .all(|pair| !pair.reason.is_empty())
        );
    }

    #[test]
    fn the_cover_leaves_the_memory_arm_whole() {
        let in_arm = |selected: &Selected, arm| {
            selected
                .drills
                .iter()
                .filter(|drill| drill.arms.contains(&arm))
                .count()
        };
        let (all, cover) = (selected(|ask| ask.full = true), selected(|_| ()));
        assert_eq!(
            in_arm(&all, ArmName::Memory),
            in_arm(&cover, ArmName::Memory)
        );
        assert!(in_arm(&all, ArmName::Process) >= in_arm(&cover, ArmName::Process));
    }

    #[test]
    fn the_cover_has_every_scenario_on_its_best_evidence_and_every_platform_ten_times() {
        let library = Library::read(&[], &[]).unwrap();
        let of_process = |selected: Selected| -> Vec<DrillName> {
            let drills = selected.drills.into_iter();
            let drills = drills.filter(|planned| planned.arms.contains(&ArmName::Process));
            drills.map(|planned| planned.drill).collect()
        };
        let lacks = |drill: &DrillName| {
            let scenario = &library.scenario(&drill.scenario).unwrap().scenario;
            let rest = library.at_rest(&drill.world).unwrap().unwrap();
            scenario
                .evidence(&rest, &scenario.at_rest(&rest).unwrap())
                .lacks()
        };
        let all = of_process(selected(|ask| {
            ask.full = true;
            ask.platforms.clear();
        }));
        let cover = selected(|ask| ask.platforms.clear());
        let because = cover.because.clone();
        let cover = of_process(cover);
        assert_eq!(
            because.keys().collect::<BTreeSet<_>>(),
            cover.iter().collect()
        );
        assert!(because.values().all(|reason| !reason.is_empty()));
        let base = |drill: &DrillName| drill.world.split(':').next().unwrap().to_owned();
        let (mut best, mut fits) = (BTreeMap::new(), BTreeMap::new());
        for drill in &all {
            let least = best.entry(&drill.scenario).or_insert(usize::MAX);
            *least = lacks(drill).min(*least);
            *fits.entry(base(drill)).or_insert(0) += 1;
        }
        for (scenario, least) in best {
            let mut played = cover.iter().filter(|drill| drill.scenario == *scenario);
            assert!(played.any(|drill| lacks(drill) == least), "{scenario}");
        }
        for (platform, fit) in fits {
            let played = cover.iter().filter(|drill| base(drill) == platform).count();
            assert!(played >= PLATFORM_AT_LEAST.min(fit), "{platform}: {played}");
        }
    }

    #[test]
    fn where_a_monitor_must_refuse_to_start_only_refusals_are_told() {
        for (platform, reason) in [
            ("mi300x", "the metadata has no NIC topology"),
            ("h100-vm", "no GPU has a known NUMA node"),
        ] {
            let scenario = selected(|ask| ask.platforms = vec![platform.to_owned()]);
            let drills = names(&scenario);
            assert!(
                drills.contains(&format!("start/metadata-missing@{platform}")),
                "{drills:?}"
            );
            assert!(
                !drills.contains(&format!("start/metadata-without-numa@{platform}")),
                "{drills:?}"
            );
            let baseline = scenario
                .not_applicable
                .iter()
                .find(|pair| pair.drill.scenario == "start/baseline")
                .expect("it does not fit");
            assert_eq!(
                baseline.reason,
                format!("a monitor must refuse to start on `{platform}`: {reason}")
            );
        }
    }

    #[test]
    fn shards_share_the_run_and_together_are_all_of_it() {
        let all = names(&selected(|_| ()));
        let mut together = Vec::new();
        for number in 1..=3 {
            together.extend(names(&selected(|ask| {
                ask.shard = format!("{number}/3").parse().unwrap();
            })));
        }
        together.sort();
        let mut sorted = all;
        sorted.sort();
        assert_eq!(together, sorted);
    }

    #[test]
    fn a_seed_changes_the_order_and_nothing_else() {
        let (listed, shuffled) = (
            names(&selected(|_| ())),
            names(&selected(|ask| ask.seed = 7)),
        );
        assert_ne!(listed, shuffled);
        assert_eq!(shuffled, names(&selected(|ask| ask.seed = 7)));
        let sorted: BTreeSet<String> = shuffled.into_iter().collect();
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), sorted);
    }

    #[test]
    fn a_name_that_nothing_bears_is_refused_with_the_nearest() {
        let library = Library::read(&[], &[]).unwrap();
        let descriptor = crate::descriptors::shipped("reference").unwrap();
        let refused = |ask: Ask| select(&library, &descriptor, &ask).unwrap_err().to_string();
        let platforms = vec!["h100-oic".to_owned()];
        let error = refused(Ask {
            platforms,
            ..Ask::default()
        });
        assert!(error.contains("did you mean `h100-oci`"), "{error}");
        let names = vec!["start/baselin".to_owned()];
        let error = refused(Ask {
            names,
            ..Ask::default()
        });
        assert!(error.contains("did you mean `start/baseline`"), "{error}");
    }
}
