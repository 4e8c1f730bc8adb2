//! Reads a user's files: scenarios, platforms and descriptors, within size limits.
//!
//! The crates that parse them are pure and take texts; this file reads the texts from disk. A file
//! above the limit is rejected before it is read. Folders are listed in order of name, so that the
//! same folder gives the same suite everywhere. Start at [`Library`].

use std::{
    borrow::Cow,
    collections::BTreeMap,
    env, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use platforms::{NodeName, Platforms, yaml::MAX_BYTES, yaml::YamlError};
use reports::DrillName;
use scenarios::{AtRest, Clauses, Scenario, ScenarioError, World};

use fabric::NODE;
use observe::{Descriptor, shipped_descriptors};

use crate::descriptors;

/// The largest accepted size of a file, in bytes.
const MAX_FILE_BYTES: u64 = MAX_BYTES as u64;

/// The depth to which folders are listed. Chosen: a suite is `folder/family/name.yaml`; the limit
/// ends a loop of links.
const DEPTH_MAX: usize = 8;

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be opened, listed or read.
    #[error("`{path}` cannot be read: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The cause.
        cause: io::Error,
    },
    /// It is larger than the limit.
    #[error("`{path}` has {bytes} bytes, at most {MAX_BYTES} are read\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    TooLarge {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// It is not UTF-8 text.
    #[error("{path}:{line}: the file is not text in UTF-8")]
    NotText {
        /// The file.
        path: String,
        /// The line of the first invalid byte, from 1.
        line: usize,
    },
    /// A folder contains no file of the wanted kind.
    #[error("`{path}` holds no {wanted}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Empty {
        /// The folder.
        path: String,
        /// The wanted kind.
        wanted: &'static str,
    },
    /// Two files have scenarios of the same name.
    #[error("`{name}` is the name of two scenarios: in `{first}` and in `{second}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Twice {
        /// The name.
        name: String,
        /// The file that was read first.
        first: String,
        /// The file that was read second.
        second: String,
    },
    /// Two worlds, or a world and a platform, have the same name.
    #[error("two worlds are called `{name}`, one of them in `{file}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    WorldTwice {
        /// The name.
        name: String,
        /// One of the files.
        file: String,
    },
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A platform is invalid.
    #[error(transparent)]
    Platform(#[from] platforms::PlatformError),
    /// A descriptor is invalid.
    #[error(transparent)]
    Descriptor(#[from] YamlError),
    /// There is no monitor of this name.
    #[error("there is no monitor `{asked}`\nhint: {hint}")]
    NoSuchMonitor {
        /// The name.
        asked: String,
        /// The hint.
        hint: String,
    },
}

impl ReadError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::TooLarge { .. } => "split it, or give a smaller file".into(),
            Self::Empty { wanted, .. } => format!("{wanted}s are files that end in `.yaml`").into(),
            Self::Twice { .. } => "give one of them another name".into(),
            Self::WorldTwice { .. } => "give it a name that no world and no platform has".into(),
            _ => return None,
        })
    }
}

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
        for path in scenarios {
            for file in yaml_files(path, "scenario")? {
                let text = text_of(&file)?;
                let name = file.display().to_string();
                if is_world(&file) {
                    worlds.push(World::read(&name, &text)?);
                    continue;
                }
                found.push(SuiteScenario::read(&name, &text, golden_beside(path))?);
            }
        }
        let clauses =
            Clauses::read(&suite::clauses()).expect("the clause files that ship can be read");
        for scenario in &found {
            clauses.check(&scenario.scenario)?;
        }
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
        Ok(Self {
            scenarios: found,
            clauses,
            worlds,
            platforms,
            own_platforms,
            own_scenarios,
            at_rest: Arc::default(),
        })
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

/// The monitor named by `asked`: a shipped descriptor's name, a descriptor file, or a program.
///
/// # Errors
/// If it is none of these.
pub fn read_monitor(asked: &str) -> Result<Descriptor, ReadError> {
    if let Some(descriptor) = descriptors::shipped(asked) {
        return Ok(descriptor);
    }
    if [".yaml", ".yml"]
        .iter()
        .any(|ending| asked.ends_with(ending))
    {
        let mut descriptor = descriptors::read(asked, &text_of(Path::new(asked))?)?;
        // A relative program path is relative to the descriptor's folder.
        if descriptor.command[0].starts_with("./") || descriptor.command[0].starts_with("../") {
            let folder = Path::new(asked).parent().unwrap_or(Path::new(""));
            let folder = fs::canonicalize(if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            })
            .map_err(|cause| ReadError::Io {
                path: asked.to_owned(),
                cause,
            })?;
            descriptor.command[0] = folder.join(&descriptor.command[0]).display().to_string();
        }
        return Ok(descriptor);
    }
    match program(asked) {
        Some(path) => Ok(Descriptor::of_program(&path.display().to_string())),
        None => {
            let known: Vec<String> = shipped_descriptors()
                .map(|(file, _)| format!("`{}`", file.trim_end_matches(".yaml")))
                .collect();
            Err(ReadError::NoSuchMonitor {
                asked: asked.to_owned(),
                hint: format!(
                    "known are {}, a descriptor's file (`.yaml`), or a program",
                    known.join(", ")
                ),
            })
        }
    }
}

/// Whether a file is a world: it is in a folder `worlds`.
fn is_world(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder == "worlds")
}

/// Reads a text file, within the size limit.
///
/// # Errors
/// If it cannot be read, is too large, or is not text.
pub fn text_of(path: &Path) -> Result<String, ReadError> {
    let name = path.display().to_string();
    let io = |cause| ReadError::Io {
        path: name.clone(),
        cause,
    };
    let bytes = fs::metadata(path).map_err(io)?.len();
    if bytes > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { path: name, bytes });
    }
    text(name.clone(), fs::read(path).map_err(io)?)
}

/// Reads a text from standard input, within the size limit.
///
/// # Errors
/// If it cannot be read, is too large, or is not text.
pub fn text_in() -> Result<String, ReadError> {
    let path = "standard input".to_owned();
    let mut bytes = Vec::new();
    let read = io::stdin().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Err(cause) => Err(ReadError::Io { path, cause }),
        Ok(count) if count as u64 > MAX_FILE_BYTES => Err(ReadError::TooLarge {
            path,
            bytes: count as u64,
        }),
        Ok(_) => text(path, bytes),
    }
}

fn text(path: String, bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        ReadError::NotText { path, line }
    })
}

/// The `.yaml` files at or below a path, in order.
fn yaml_files(path: &Path, wanted: &'static str) -> Result<Vec<PathBuf>, ReadError> {
    let io = |path: &Path, cause| ReadError::Io {
        path: path.display().to_string(),
        cause,
    };
    if !fs::metadata(path)
        .map_err(|cause| io(path, cause))?
        .is_dir()
    {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|cause| io(&folder, cause))? {
            let path = entry.map_err(|cause| io(&folder, cause))?.path();
            let ends_well = path
                .extension()
                .is_some_and(|end| end == "yaml" || end == "yml");
            if path.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if ends_well && path.is_file() {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        return Err(ReadError::Empty {
            path: path.display().to_string(),
            wanted,
        });
    }
    files.sort();
    Ok(files)
}

/// The folder of golden traces: `golden` beside a suite's folder.
fn golden_beside(suite: &Path) -> Option<PathBuf> {
    if !suite.is_dir() {
        return None;
    }
    let suite = fs::canonicalize(suite).ok()?;
    Some(suite.parent()?.join("golden"))
}

/// The path of a program given by path, or by a name in `PATH`.
fn program(asked: &str) -> Option<PathBuf> {
    if asked.contains('/') {
        return fs::canonicalize(asked).ok().filter(|path| path.is_file());
    }
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(asked))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_over_the_limit_is_refused_by_its_size() {
        let (_folder, path) = file("big.yaml", &vec![b'#'; MAX_BYTES + 1]);
        let error = text_of(&path).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::TooLarge {
                    bytes: 1_048_577,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_line() {
        let (_folder, path) = file("bytes.yaml", b"why: x\nand: \xff\n");
        let error = text_of(&path).unwrap_err();
        assert!(
            matches!(error, ReadError::NotText { line: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_folder_without_scenarios_says_so() {
        let (folder, _) = file("notes.txt", b"");
        let error = Library::read(&[folder.path().to_owned()], &[]).unwrap_err();
        assert!(error.to_string().contains("holds no scenario"), "{error}");
    }

    #[test]
    fn folders_are_walked_in_order_of_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["read/b.yaml", "port/c.yaml", "port/a.yml", "port/notes.txt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files = yaml_files(folder.path(), "scenario").unwrap();
        let names: Vec<String> = files
            .iter()
            .map(|file| {
                file.strip_prefix(folder.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        assert_eq!(names, ["port/a.yml", "port/c.yaml", "read/b.yaml"]);
    }

    #[test]
    fn a_monitor_is_a_name_a_file_or_a_program() {
        assert_eq!(read_monitor("reference").unwrap().name, "reference");
        assert!(read_monitor("/bin/true").unwrap().command[0].ends_with("true"));
        let error = read_monitor("refrence").unwrap_err().to_string();
        assert!(
            error.contains("`reference`") && error.contains("hint"),
            "{error}"
        );
        let (folder, path) = file(
            "mine.yaml",
            b"descriptor_version: 1\nname: mine\ncommand: [./bin/mine]\n",
        );
        let command = &read_monitor(path.to_str().unwrap()).unwrap().command[0];
        let there = fs::canonicalize(folder.path()).unwrap();
        assert!(Path::new(command).starts_with(there), "{command}");
    }
}
