//! The scenarios, worlds and platforms that a run can use: the shipped ones, and those of a user's files. Start at
//! [`Library`].

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use fabric::NODE;
use observe::Descriptor;
use platforms::{NodeName, Platforms};
use reports::DrillName;
use scenarios::{AtRest, Clauses, Scenario, ScenarioError, World};

use super::{
    error::ReadError,
    texts::{text_of, yaml_files},
};

/// A scenario with the text that it was read from.
#[derive(Clone, Debug)]
pub struct SuiteScenario {
    /// Its name, as `family/name`.
    pub name: String,
    /// The scenario.
    pub scenario: Scenario,
    /// Its file name in errors.
    pub file: String,
    /// Its source text.
    pub text: String,
    /// The folder of its golden traces; `None` in the shipped suite, whose traces are compared by
    /// path.
    pub golden: Option<PathBuf>,
}

impl SuiteScenario {
    fn read(file: &str, text: &str, golden: Option<PathBuf>) -> Result<Self, ReadError> {
        let scenario = scenarios::read(file, text)?;
        let (file, text) = (file.to_owned(), text.to_owned());
        Ok(Self {
            name: scenario.name(),
            scenario,
            file,
            text,
            golden,
        })
    }
}

/// All scenarios, worlds and platforms that a run can use.
#[derive(Clone, Debug)]
pub struct Library {
    /// The scenarios, by name.
    pub scenarios: Vec<SuiteScenario>,
    /// The known clauses.
    pub clauses: Clauses,
    /// The worlds of several nodes, by name: the shipped ones and a user's.
    pub worlds: Vec<World>,
    /// The platforms: the shipped ones and a user's.
    pub platforms: Platforms,
    /// The names of the platforms from a user's files, variants included.
    pub own_platforms: Vec<String>,
    /// Whether the scenarios come from a user's files.
    pub own_scenarios: bool,
    /// What may be a mistake in these files, each with its place.
    pub warnings: Vec<ScenarioError>,
    /// Worlds at rest that were used so far, by name.
    at_rest: Arc<Mutex<BTreeMap<String, Arc<AtRest>>>>,
}

impl Library {
    /// The drills of the interview, and the shipped platforms with those in these files and folders.
    ///
    /// # Errors
    /// The first file that cannot be used, with its place.
    pub fn interview(platforms: &[PathBuf]) -> Result<Self, ReadError> {
        let mut library = Self::read(&[], platforms)?;
        let drills = suite::interview().into_iter();
        let drills = drills.map(|(file, text)| SuiteScenario::read(file, text, None));
        library.scenarios = drills.collect::<Result<_, _>>()?;
        Ok(library)
    }

    /// Reads the scenarios in these files and folders (the shipped suite if there are none) and the
    /// platforms in those, in addition to the shipped ones.
    ///
    /// # Errors
    /// The first file that cannot be used, with its place.
    pub fn read(scenarios: &[PathBuf], platforms: &[PathBuf]) -> Result<Self, ReadError> {
        let mut found = Vec::new();
        if scenarios.is_empty() {
            for (file, text) in suite::scenarios() {
                found.push(SuiteScenario::read(file, text, None)?);
            }
        }
        let mut worlds = Vec::new();
        for (file, text) in suite::worlds() {
            worlds.push(World::read(file, text)?);
        }
        let mut wrong: Vec<ReadError> = Vec::new();
        for path in scenarios {
            for file in yaml_files(path, "scenario")? {
                let text = text_of(&file)?;
                let name = file.display().to_string();
                if is_world(&file) {
                    match World::read(&name, &text) {
                        Ok(world) => worlds.push(world),
                        Err(error) => wrong.push(error.into()),
                    }
                    continue;
                }
                match SuiteScenario::read(&name, &text, golden_beside(path)) {
                    Ok(scenario) => found.push(scenario),
                    Err(error) => wrong.push(error),
                }
            }
        }
        let clauses =
            Clauses::read(&suite::clauses()).expect("the clause files that ship can be read");
        let unknown = found
            .iter()
            .filter_map(|of| clauses.check(&of.scenario).err());
        wrong.extend(unknown.map(ReadError::from));
        ReadError::none_of(wrong)?;
        found.sort_by(|one, other| one.name.cmp(&other.name));
        for pair in found.windows(2) {
            if pair[0].name == pair[1].name {
                return Err(ReadError::Twice {
                    name: pair[0].name.clone(),
                    first: pair[0].file.clone(),
                    second: pair[1].file.clone(),
                });
            }
        }
        let (platforms, own_platforms) = read_platforms(platforms)?;
        worlds.sort_by(|one, other| one.name().cmp(other.name()));
        let names = || {
            worlds
                .iter()
                .map(World::name)
                .chain(platforms.iter().map(|(name, _)| name))
        };
        for world in &worlds {
            if names().filter(|name| *name == world.name()).count() > 1 {
                return Err(ReadError::WorldTwice {
                    name: world.name().to_owned(),
                    file: world.file().to_owned(),
                });
            }
        }
        for scenario in &found {
            if let Some(world) = scenario.scenario.world()
                && !worlds.iter().any(|known| known.name() == world)
            {
                let known = worlds.iter().map(World::name);
                return Err(scenario.scenario.unknown_world(known).into());
            }
        }
        let own_scenarios = !scenarios.is_empty();
        let perhaps = found
            .iter()
            .flat_map(|of| clauses.perhaps_misspelt(&of.scenario));
        let library = Self {
            warnings: perhaps.collect(),
            scenarios: found,
            clauses,
            worlds,
            platforms,
            own_platforms,
            own_scenarios,
            at_rest: Arc::default(),
        };
        library.check_names()?;
        Ok(library)
    }

    /// Checks that each platform that a scenario names exists, and each device on a platform that it applies to.
    fn check_names(&self) -> Result<(), ReadError> {
        let names: Vec<&str> = self.platforms.iter().map(|(name, _)| name).collect();
        let mut wrong = Vec::new();
        for SuiteScenario { scenario, .. } in &self.scenarios {
            let rests = names.iter().filter_map(|name| self.at_rest(name)?.ok());
            let checked = scenario.check_platforms(&names);
            if let Err(error) = checked.and_then(|()| scenario.check_devices(rests)) {
                wrong.push(error.into());
            }
        }
        ReadError::none_of(wrong)
    }

    /// A world at rest, by the name of a platform (a world of one node) or of a world of several
    /// nodes. It is built once and shared, because hundreds of scenarios use it. `None` if there is
    /// neither.
    ///
    /// # Errors
    /// A name in a world's file that no platform has.
    pub fn at_rest(&self, world: &str) -> Option<Result<Arc<AtRest>, ScenarioError>> {
        let mut made = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rest) = made.get(world) {
            return Some(Ok(Arc::clone(rest)));
        }
        let rest = match self.platforms.get(world) {
            Some(platform) => AtRest::new(&NodeName::from(NODE), platform),
            None => {
                let world = self.worlds.iter().find(|known| known.name() == world)?;
                match AtRest::of_world(world, &self.platforms) {
                    Ok(rest) => rest,
                    Err(error) => return Some(Err(error)),
                }
            }
        };
        let rest = Arc::new(rest);
        made.insert(world.to_owned(), Arc::clone(&rest));
        Some(Ok(rest))
    }

    /// The same library for a monitor that also monitors cards of other PCI vendors.
    #[must_use]
    pub fn watched_by(self, descriptor: &Descriptor) -> Self {
        Self {
            platforms: self.platforms.for_vendors(descriptor.monitored_vendors()),
            at_rest: Arc::default(),
            ..self
        }
    }

    /// The names of the worlds that a scenario can be played in: its own world, or every platform.
    #[must_use]
    pub fn worlds_of<'l>(&'l self, scenario: &'l Scenario) -> Vec<&'l str> {
        match scenario.world() {
            Some(world) => vec![world],
            None => self.platforms.iter().map(|(name, _)| name).collect(),
        }
    }

    /// The scenario of this name.
    #[must_use]
    pub fn scenario(&self, name: &str) -> Option<&SuiteScenario> {
        self.scenarios.iter().find(|scenario| scenario.name == name)
    }

    /// The golden trace of this drill's scenario, if its suite has a folder for them.
    #[must_use]
    pub fn golden(&self, drill: &DrillName) -> Option<PathBuf> {
        let folder = self.scenario(&drill.scenario)?.golden.as_ref()?;
        Some(folder.join(format!("{}.txt", drill.scenario)))
    }
}

/// Reads the shipped platforms and those in these files and folders; also returns the names of the
/// latter.
///
/// # Errors
/// The first file that cannot be used, with its place.
pub fn read_platforms(paths: &[PathBuf]) -> Result<(Platforms, Vec<String>), ReadError> {
    let mut texts = Vec::new();
    for path in paths {
        for file in yaml_files(path, "platform")? {
            texts.push((file.display().to_string(), text_of(&file)?));
        }
    }
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(file, text)| (file.as_str(), text.as_str()))
        .collect();
    let shipped = Platforms::shipped();
    let all = Platforms::read(&texts)?;
    let own = all
        .iter()
        .map(|(name, _)| name)
        .filter(|name| shipped.get(name).is_none());
    let own = own.map(str::to_owned).collect();
    Ok((all, own))
}

/// Whether a file is a world: it is in a folder `worlds`.
fn is_world(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder == "worlds")
}

/// The folder of golden traces: `golden` beside a suite's folder.
fn golden_beside(suite: &Path) -> Option<PathBuf> {
    if !suite.is_dir() {
        return None;
    }
    let suite = fs::canonicalize(suite).ok()?;
    Some(suite.parent()?.join("golden"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_scenarios_says_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        let error = Library::read(&[folder.path().to_owned()], &[]).unwrap_err();
        assert!(error.to_string().contains("holds no scenario"), "{error}");
    }
}
