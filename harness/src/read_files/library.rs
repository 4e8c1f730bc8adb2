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
    texts::{Met, files_below, text_of, yaml_files},
    wanted::is_wanted,
};
use crate::check::kind::FileKind;

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
    /// What cannot be used, with its place: the mistakes of all scenarios and worlds, or those of platforms, or what does
    /// not fit together.
    pub fn read(scenarios: &[PathBuf], platforms: &[PathBuf]) -> Result<Self, ReadError> {
        let (parts, wrong) = Parts::of(scenario_texts(scenarios)?);
        ReadError::none_of(wrong)?;
        let platforms = read_platforms(platforms)?;
        let (library, wrong) = Self::of(parts, platforms);
        ReadError::none_of(wrong)?;
        Ok(library)
    }

    /// The library of these parts, and what does not fit together in it. Of two scenarios or worlds of the same name it has
    /// both.
    pub(crate) fn of(
        parts: Parts,
        (platforms, own_platforms): (Platforms, Vec<String>),
    ) -> (Self, Vec<ReadError>) {
        let Parts {
            mut scenarios,
            mut worlds,
            clauses,
            is_own,
        } = parts;
        let mut wrong = Vec::new();
        scenarios.sort_by(|one, other| one.name.cmp(&other.name));
        for pair in scenarios.windows(2) {
            if pair[0].name == pair[1].name {
                wrong.push(ReadError::Twice {
                    name: pair[0].name.clone(),
                    first: pair[0].file.clone(),
                    second: pair[1].file.clone(),
                });
            }
        }
        worlds.sort_by(|one, other| one.name().cmp(other.name()));
        let of_platform = platforms.iter().map(|(name, _)| name);
        let names: Vec<&str> = worlds.iter().map(World::name).chain(of_platform).collect();
        for world in &worlds {
            if names.iter().filter(|name| **name == world.name()).count() > 1 {
                wrong.push(ReadError::WorldTwice {
                    name: world.name().to_owned(),
                    file: world.file().to_owned(),
                });
            }
        }
        for SuiteScenario { scenario, .. } in &scenarios {
            if let Some(world) = scenario.world()
                && !worlds.iter().any(|known| known.name() == world)
            {
                let known = worlds.iter().map(World::name);
                wrong.push(scenario.unknown_world(known).into());
            }
        }
        let perhaps = scenarios
            .iter()
            .flat_map(|of| clauses.perhaps_misspelt(&of.scenario));
        let library = Self {
            warnings: perhaps.collect(),
            scenarios,
            clauses,
            worlds,
            platforms,
            own_platforms,
            own_scenarios: is_own,
            at_rest: Arc::default(),
        };
        wrong.extend(library.check_names());
        (library, wrong)
    }

    /// What is wrong with the names in scenarios: each platform that one names exists, and each device on a platform that
    /// it applies to.
    fn check_names(&self) -> Vec<ReadError> {
        let names: Vec<&str> = self.platforms.iter().map(|(name, _)| name).collect();
        let mut wrong = Vec::new();
        for SuiteScenario { scenario, .. } in &self.scenarios {
            let rests = names.iter().filter_map(|name| self.at_rest(name)?.ok());
            let checked = scenario.check_platforms(&names);
            if let Err(error) = checked.and_then(|()| scenario.check_devices(rests)) {
                wrong.push(error.into());
            }
        }
        wrong
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

    /// The same library for a monitor that monitors cards of other PCI vendors, or does not need the matrix of GPUs and
    /// NICs. One that promises nothing at all may need it.
    #[must_use]
    pub fn watched_by(self, descriptor: &Descriptor) -> Self {
        let promises = &descriptor.promises;
        let needs_topology = promises.is_empty() || promises.needs_topology();
        self.watched(descriptor, needs_topology)
    }

    /// The same library for the interview of a monitor of which nobody knows yet whether it needs the matrix.
    #[must_use]
    pub fn asked_of(self, descriptor: &Descriptor) -> Self {
        self.watched(descriptor, false)
    }

    fn watched(self, descriptor: &Descriptor, needs_topology: bool) -> Self {
        let vendors = descriptor.monitored_vendors();
        let platforms = self.platforms.for_monitor(vendors, needs_topology);
        let scope = descriptor.promises.scope.as_ref();
        let is_stated = scope.is_some_and(|scope| scope.vendors.is_some());
        Self {
            platforms: match is_stated {
                true => platforms.by_vendor_alone(),
                false => platforms,
            },
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
    let mut met = Met::default();
    for path in paths {
        let files = yaml_files(path, "platform")?.into_iter();
        for file in files.filter(|file| met.add(file)) {
            let (name, text) = (file.display().to_string(), text_of(&file)?);
            is_wanted(
                &name,
                &text,
                "platform",
                &[FileKind::Platform, FileKind::Driver],
            )?;
            texts.push((name, text));
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

/// The platforms of a user's, variants included, that come from a file, or from the files below a folder.
///
/// # Errors
/// [`ReadError::NoPlatform`] if there is none: a driver alone is no platform.
pub fn platforms_of(
    path: &Path,
    (platforms, own): (&Platforms, &[String]),
) -> Result<Vec<String>, ReadError> {
    let here = fs::canonicalize(path).map_err(|cause| ReadError::io(path, cause))?;
    let is_here = |name: &&String| {
        let file = platforms.get(name).map(|platform| platform.file());
        let file = file.and_then(|file| fs::canonicalize(file).ok());
        file.is_some_and(|file| file.starts_with(&here))
    };
    let found: Vec<String> = own.iter().filter(is_here).cloned().collect();
    if found.is_empty() {
        let path = path.display().to_string();
        return Err(ReadError::NoPlatform { path });
    }
    Ok(found)
}

/// The text of a scenario or of a world.
#[derive(Clone, Debug)]
pub(crate) struct SuiteText {
    /// Its file name in errors.
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) is_world: bool,
    /// The folder of golden traces, if it has one.
    pub(crate) golden: Option<PathBuf>,
}

/// The texts of the scenarios and worlds in these files and folders. A scenario that is given as a file has the worlds of
/// the folder `worlds` beside it, as it has them if its folder is given.
pub(crate) fn scenario_texts(paths: &[PathBuf]) -> Result<Vec<SuiteText>, ReadError> {
    let mut texts = Vec::new();
    let mut met = Met::default();
    for path in paths {
        let mut files = yaml_files(path, "scenario")?;
        let worlds = path.parent().map(|folder| folder.join("worlds"));
        if let Some(worlds) = worlds.filter(|worlds| worlds.is_dir())
            && path.is_file()
            && !is_world(path)
        {
            files.extend(files_below(&worlds, &["yaml", "yml"])?);
        }
        for file in files.into_iter().filter(|file| met.add(file)) {
            let text = text_of(&file)?;
            if path.is_file() {
                let kinds = [FileKind::Scenario, FileKind::World];
                is_wanted(&file.display().to_string(), &text, "scenario", &kinds)?;
            }
            texts.push(SuiteText {
                text,
                is_world: is_world(&file),
                file: file.display().to_string(),
                golden: golden_beside(path),
            });
        }
    }
    Ok(texts)
}

/// What a library is made of, apart from its platforms.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) scenarios: Vec<SuiteScenario>,
    pub(crate) worlds: Vec<World>,
    pub(crate) clauses: Clauses,
    /// Whether the scenarios are a user's.
    pub(crate) is_own: bool,
}

impl Parts {
    /// The shipped worlds and those in these texts, and the scenarios in these texts, or the shipped ones if there is no
    /// text; and every mistake in them.
    ///
    /// # Panics
    /// If a shipped file is invalid, which a test excludes.
    pub(crate) fn of(texts: Vec<SuiteText>) -> (Self, Vec<ReadError>) {
        let shipped = "what ships is read by a test";
        let worlds = suite::worlds().into_iter();
        let worlds = worlds.map(|(file, text)| World::read(file, text).expect(shipped));
        let mut parts = Self {
            scenarios: Vec::new(),
            worlds: worlds.collect(),
            clauses: Clauses::read(&suite::clauses()).expect(shipped),
            is_own: !texts.is_empty(),
        };
        if texts.is_empty() {
            let scenarios = suite::scenarios().into_iter();
            let scenarios =
                scenarios.map(|(file, text)| SuiteScenario::read(file, text, None).expect(shipped));
            parts.scenarios = scenarios.collect();
        }
        let mut wrong: Vec<ReadError> = Vec::new();
        for text in texts {
            if text.is_world {
                match World::read(&text.file, &text.text) {
                    Ok(world) => parts.worlds.push(world),
                    Err(error) => wrong.push(error.into()),
                }
                continue;
            }
            match SuiteScenario::read(&text.file, &text.text, text.golden) {
                Ok(scenario) => parts.scenarios.push(scenario),
                Err(error) => wrong.push(error),
            }
        }
        let unknown = parts.scenarios.iter();
        let unknown = unknown.filter_map(|of| parts.clauses.check(&of.scenario).err());
        wrong.extend(unknown.map(ReadError::from));
        (parts, wrong)
    }
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
    fn a_scenario_given_as_a_file_has_the_worlds_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write(
            "worlds/pair.yaml",
            "world: pair\nwhy: y\nnodes: [ { name: vm1..vm2, platform: two-rail-vm } ]\n",
        );
        let scenario = write(
            "own/story.yaml",
            "scenario: s\nwhy: y\nworld: pair\ntimeline: [ { at: 0s, expect: [ { this_poll: baseline } ] } ]\nuntil: 5s\n",
        );
        let beside = folder.path().join("story.yaml");
        fs::rename(scenario, &beside).unwrap();
        for given in [beside, folder.path().to_owned()] {
            let library = Library::read(std::slice::from_ref(&given), &[]);
            let library = library.unwrap_or_else(|error| panic!("{}: {error}", given.display()));
            assert_eq!(library.scenarios.len(), 1);
            assert!(library.worlds.iter().any(|world| world.name() == "pair"));
        }
    }

    #[test]
    fn a_folder_without_scenarios_says_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        let error = Library::read(&[folder.path().to_owned()], &[]).unwrap_err();
        assert!(error.to_string().contains("holds no scenario"), "{error}");
    }
}
