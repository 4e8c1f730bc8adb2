//! The order of drills in a run that may not reach all of them: the most valuable come first.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use platforms::Platform;
use reports::{DrillName, DrillReport, PlannedDrill};
use terms::Arm;

use super::pairs::Selected;
use crate::{
    read_files::Library,
    run_folder::{RunFolder, read_contents, sealed, sha256},
};

/// What is known from the run before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// The drills that failed.
    pub failed: BTreeSet<DrillName>,
    /// The SHA-256 of each scenario's text when all its drills were last reached, by name; `None` if there was no run.
    pub contents: Option<BTreeMap<String, String>>,
}

impl Before {
    /// Reads it from a run folder. A file that is not there, or is damaged, says nothing: the order of a run is no reason to
    /// stop it.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let failed = RunFolder::failed_before(folder).unwrap_or_default();
        Self {
            failed: failed.into_iter().collect(),
            contents: read_contents(folder).ok(),
        }
    }

    /// Puts the most valuable drills first: those that failed; then those of scenarios that are new or changed; then those
    /// that the selection plays as processes because their fault can matter there; then the rest. Within these the order
    /// stays as it is.
    pub fn order(&self, selected: &mut Selected, library: &Library) {
        let changed = self.changed(library);
        let covers = |planned: &PlannedDrill| planned.arms.contains(&Arm::Process);
        let rank = |planned: &PlannedDrill| {
            if self.failed.contains(&planned.drill) {
                0
            } else if changed.contains(planned.drill.scenario.as_str()) {
                1
            } else if covers(planned) {
                2
            } else {
                3
            }
        };
        selected.drills.sort_by_key(rank);
    }

    /// The scenarios whose text is not that of the run before; none if there was no run.
    fn changed<'l>(&self, library: &'l Library) -> BTreeSet<&'l str> {
        let Some(before) = &self.contents else {
            return BTreeSet::new();
        };
        let scenarios = library.scenarios.iter();
        let changed = scenarios
            .filter(|scenario| before.get(&scenario.name) != Some(&sha256(&scenario.text)));
        changed.map(|scenario| scenario.name.as_str()).collect()
    }

    /// The text of `contents.txt` after a run, with lines `SHA-256  scenario` and `SHA-256  @world`. A scenario of which a drill was not
    /// reached keeps its earlier line, so that it still counts as changed; if that drill had failed, it loses the line, because
    /// the list of this run's failures has forgotten it.
    #[must_use]
    pub fn after(
        &self,
        library: &Library,
        planned: &[PlannedDrill],
        drills: &[DrillReport],
    ) -> String {
        let reached: BTreeSet<&DrillName> = drills.iter().map(|drill| &drill.drill).collect();
        let mut is_whole: BTreeMap<&str, bool> = BTreeMap::new();
        for PlannedDrill { drill, .. } in planned {
            *is_whole.entry(&drill.scenario).or_insert(true) &= reached.contains(drill);
        }
        let mut contents = self.contents.clone().unwrap_or_default();
        for scenario in &library.scenarios {
            if is_whole.get(scenario.name.as_str()) == Some(&true) {
                contents.insert(scenario.name.clone(), sha256(&scenario.text));
            }
        }
        contents.extend(worlds_here(library, reached.iter().copied()));
        for PlannedDrill { drill, .. } in planned {
            if self.failed.contains(drill) && !reached.contains(drill) {
                contents.remove(&drill.scenario);
            }
        }
        sealed(&contents)
    }
}

/// What `contents.txt` says after a run of these drills: of their scenarios, and of their platforms and worlds.
pub(crate) fn contents_here(
    library: &Library,
    planned: &[PlannedDrill],
) -> BTreeMap<String, String> {
    let drills = || planned.iter().map(|planned| &planned.drill);
    let names: BTreeSet<&str> = drills().map(|drill| drill.scenario.as_str()).collect();
    let scenarios = library.scenarios.iter();
    let scenarios = scenarios.filter(|scenario| names.contains(scenario.name.as_str()));
    let scenarios = scenarios.map(|scenario| (scenario.name.clone(), sha256(&scenario.text)));
    scenarios.chain(worlds_here(library, drills())).collect()
}

/// What `contents.txt` says after a run of these drills, of their platforms and worlds.
fn worlds_here<'d>(
    library: &Library,
    drills: impl Iterator<Item = &'d DrillName>,
) -> BTreeMap<String, String> {
    let worlds: BTreeSet<&str> = drills.map(|drill| drill.world.as_str()).collect();
    let worlds = worlds.into_iter();
    worlds
        .filter_map(|world| Some((at(world), of_world(library, world)?)))
        .collect()
}

/// The names in `contents.txt` of what a drill is played from.
pub(crate) fn names_in_contents(drill: &DrillName) -> [String; 2] {
    [drill.scenario.clone(), at(&drill.world)]
}

/// The name of a platform or world in `contents.txt`.
fn at(world: &str) -> String {
    format!("@{world}")
}

/// The SHA-256 of what a platform or world was read from; that of a world is of its platforms too.
fn of_world(library: &Library, name: &str) -> Option<String> {
    let platform = |name: &str| library.platforms.get(name).map(Platform::texts);
    let texts = match library.worlds.iter().find(|world| world.name() == name) {
        Some(world) => {
            let platforms: BTreeSet<&str> =
                world.nodes().map(|(_, platform, _)| platform).collect();
            let platforms = platforms.into_iter().filter_map(platform).flatten();
            [world.text()].into_iter().chain(platforms).collect()
        }
        None => platform(name)?,
    };
    Some(sha256(&texts.join("\0")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Library {
        Library::read(&[], &[]).unwrap()
    }

    /// Drills of shipped scenarios, each in these arms.
    fn planned(drills: &[(&str, &[Arm])]) -> Vec<PlannedDrill> {
        let planned = drills.iter().map(|(drill, arms)| PlannedDrill {
            drill: drill.parse().unwrap(),
            arms: arms.to_vec(),
        });
        planned.collect()
    }

    const MEMORY: &[Arm] = &[Arm::Memory];
    const BOTH: &[Arm] = &[Arm::Memory, Arm::Process];

    #[test]
    fn failed_drills_come_first_then_changed_ones_then_the_cover_then_the_rest() {
        let library = library();
        let unchanged = library.scenarios.iter();
        let mut contents: BTreeMap<String, String> = unchanged
            .map(|of| (of.name.clone(), sha256(&of.text)))
            .collect();
        contents.insert("start/baseline".to_owned(), sha256("an earlier text"));
        let before = Before {
            failed: ["port/cable-pulled@mi300x".parse().unwrap()].into(),
            contents: Some(contents),
        };
        let mut selected = Selected {
            drills: planned(&[
                ("port/cable-pulled@dgx-a100", MEMORY),
                ("port/cable-pulled@h100-oci", BOTH),
                ("start/baseline@h100-oci", MEMORY),
                ("port/cable-pulled@mi300x", MEMORY),
            ]),
            ..Selected::default()
        };
        before.order(&mut selected, &library);
        let names = selected
            .drills
            .iter()
            .map(|planned| planned.drill.to_string());
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                "port/cable-pulled@mi300x",
                "start/baseline@h100-oci",
                "port/cable-pulled@h100-oci",
                "port/cable-pulled@dgx-a100",
            ]
        );
    }

    #[test]
    fn nothing_is_changed_where_there_was_no_run() {
        assert!(Before::default().changed(&library()).is_empty());
    }

    #[test]
    fn a_scenario_that_was_not_reached_still_counts_as_changed() {
        let library = library();
        let planned = planned(&[("port/cable-pulled@h100-oci", MEMORY)]);
        let before = Before {
            contents: Some(BTreeMap::new()),
            ..Before::default()
        };
        assert_eq!(
            before.after(&library, &planned, &[]),
            sealed(&BTreeMap::new())
        );
    }
}
