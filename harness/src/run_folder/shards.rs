//! The folders that the shards of one run left, read to be merged. Start at [`Shards::read`].
//!
//! A shard is what `nicdrill run --shard K/N` played. The folders are those of one run if their plans ask for the same and
//! their shards are the N parts of it, each once and each played to its end; everything else is refused, with what to do.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use observe::Descriptor;
use reports::{DrillName, DrillReport, ExitCode, PlannedDrill, ProbeOutcome, Wall};
use serde::Deserialize;

use super::{Artifact, stream::Sum};
use crate::{
    read_files::{Library, regular},
    suite::{
        Selected, Shard, contents_here, contents_of, descriptor_file, names_in_contents, pasted,
    },
};

/// The most bytes of a folder's `events.jsonl` that are read: 1 GiB. Chosen; that of a red run of the whole suite has 100 MB.
const EVENTS_MAX: u64 = 1 << 30;

/// The most bytes of an artifact that are read: 256 MiB. Chosen; the reads of the longest drill have 30 MiB.
const ARTIFACT_MAX: u64 = 256 << 20;

/// How many missing shards are told. Chosen: whoever lacks more has named the wrong folder.
const TOLD_MAX: usize = 20;

/// An event of a folder, as far as a merge needs it.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
enum Line {
    RunStarted(Plan),
    Probe {
        #[serde(flatten)]
        outcome: ProbeOutcome,
        wall: Wall,
    },
    NotApplicable,
    DrillStarted,
    DrillPassed(DrillReport),
    DrillKnown(DrillReport),
    DrillFailed(DrillReport),
    DrillSkipped(DrillReport),
    Excuses,
    Coverage,
    RunEnded {
        exit_code: ExitCode,
    },
}

/// The plan of a shard.
#[derive(Clone, Debug, Default, Deserialize)]
struct Plan {
    monitor: String,
    /// The file of its descriptor.
    descriptor: Option<String>,
    asked: Vec<String>,
    shard: Option<String>,
    drills: Vec<PlannedDrill>,
}

/// What one folder holds.
#[derive(Clone, Debug)]
struct Folder {
    path: PathBuf,
    plan: Plan,
    shard: Shard,
    probe: Option<(ProbeOutcome, Wall)>,
    drills: BTreeMap<DrillName, DrillReport>,
    ended: Option<ExitCode>,
    /// The SHA-256 of each text that it played, by name.
    contents: BTreeMap<String, String>,
}

/// All shards of one run, each played to its end.
#[derive(Clone, Debug)]
pub struct Shards {
    /// In order of their numbers.
    folders: Vec<Folder>,
}

/// Why folders are not the shards of one run: each problem, with what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardsError(Vec<String>);

impl ShardsError {
    /// The shards have another number of drills than the selection.
    pub(crate) fn other_files(found: usize, selected: usize) -> Self {
        Self(vec![format!(
            "the shards have {found} drills, and the run has {selected} here\nhint: the shards were run with other files, \
             or another version of nicdrill: merge where these files are, with this version"
        )])
    }

    /// An artifact cannot be read.
    pub(crate) fn artifact(cause: &io::Error) -> Self {
        Self(vec![format!("a drill's files cannot be read: {cause}")])
    }
}

impl fmt::Display for ShardsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\nerror: "))
    }
}

impl std::error::Error for ShardsError {}

impl Shards {
    /// Reads the folders of shards; a folder that is no run's stands for the runs' folders in it, but for those that an
    /// other run there put aside (`*.old`).
    ///
    /// # Errors
    /// If a folder cannot be read, or if they are not the shards of one run, each once and each whole.
    pub fn read(paths: &[PathBuf]) -> Result<Self, ShardsError> {
        let mut problems = Vec::new();
        let mut folders = Vec::new();
        for path in paths.iter().flat_map(|path| runs_in(path)) {
            match Folder::read(&path) {
                Ok(folder) => folders.push(folder),
                Err(problem) => problems.push(problem),
            }
        }
        folders.sort_by_key(|folder| (folder.shard.number(), folder.path.clone()));
        // Where no folder could be read, it has been said why.
        if problems.is_empty() || !folders.is_empty() {
            problems.extend(not_one_run(&folders));
        }
        problems.extend(folders.iter().filter_map(Folder::not_whole));
        if problems.is_empty() {
            Ok(Self { folders })
        } else {
            Err(ShardsError(problems))
        }
    }

    /// The words of the command line that the shards were asked with, without those that say where results go and which
    /// shard it is.
    #[must_use]
    pub fn asked(&self) -> &[String] {
        &self.folders[0].plan.asked
    }

    /// Whether this monitor is the one that the shards drilled; `again` are the words of the command line that name it here.
    ///
    /// # Errors
    /// If it is another one, such as nicdrill's own where the file that names the monitor is not here.
    pub fn drilled(&self, descriptor: &Descriptor, again: &[String]) -> Result<(), ShardsError> {
        let of = |monitor: &str, file: Option<&String>| {
            let file = file.map_or_else(String::new, |file| format!(" ({file})"));
            format!("`{monitor}`{file}")
        };
        let plan = &self.folders[0].plan;
        let there = of(&plan.monitor, plan.descriptor.as_ref());
        let here = of(&descriptor.name, descriptor_file(again).as_ref());
        if there == here {
            return Ok(());
        }
        Err(ShardsError(vec![format!(
            "the shards drilled {there}, and here the same words stand for {here}\nhint: merge where `nicdrill.toml` and the \
             monitor's descriptor are as they were"
        )]))
    }

    /// The result of the probe: of a shard that could not play processes, if there is one, else that of the first.
    pub(crate) fn probe(&self) -> Option<(ProbeOutcome, Wall)> {
        let probes = || {
            self.folders
                .iter()
                .filter_map(|folder| folder.probe.as_ref())
        };
        let skipped = probes().find(|(outcome, _)| matches!(outcome, ProbeOutcome::Skipped { .. }));
        skipped.or_else(|| probes().next()).cloned()
    }

    /// The folder of the shard that holds this index of the run, counted from 0.
    fn folder_of(&self, place: usize) -> &Folder {
        let mut folders = self.folders.iter();
        let folder = folders.find(|folder| folder.shard.holds(place));
        folder.expect("the shards hold every place")
    }

    /// The report of a drill at this index of the run, counted from 0.
    ///
    /// # Errors
    /// If the shard that should have it has other drills: it was run on other files.
    pub(crate) fn drill(
        &self,
        place: usize,
        drill: &DrillName,
    ) -> Result<DrillReport, ShardsError> {
        let folder = self.folder_of(place);
        let found = folder.drills.get(drill).cloned();
        found.ok_or_else(|| {
            ShardsError(vec![format!(
                "`{}` has no `{drill}`, which is the run's drill {} here\nhint: the shards were run with other files, or \
                 another version of nicdrill: merge where these files are, with this version",
                folder.path.display(),
                place + 1
            )])
        })
    }

    /// Whether each shard played its drills of this selection from the texts that lie here.
    ///
    /// # Errors
    /// Each text that is another here, with the shards that did not play it.
    pub(crate) fn played_these(
        &self,
        selected: &Selected,
        library: &Library,
    ) -> Result<(), ShardsError> {
        let here = contents_here(library, &selected.drills);
        let mut others: BTreeMap<String, BTreeSet<Shard>> = BTreeMap::new();
        for (place, planned) in selected.drills.iter().enumerate() {
            let folder = self.folder_of(place);
            for name in names_in_contents(&planned.drill) {
                if folder.contents.get(&name) != here.get(&name) {
                    others.entry(name).or_default().insert(folder.shard);
                }
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let problem = |(name, shards): (String, BTreeSet<Shard>)| {
            let is_world = |name: &str| library.worlds.iter().any(|world| world.name() == name);
            let what = match name.strip_prefix('@') {
                Some(world) if is_world(world) => format!("world `{world}`, or a platform of it,"),
                Some(platform) => format!("platform `{platform}`, or a driver of it,"),
                None => format!("scenario `{name}`"),
            };
            let shards: Vec<String> = shards.iter().map(ToString::to_string).collect();
            format!(
                "the {what} is not here what it was in shard {}\nhint: merge where the file is as it was, or play these \
                 shards again",
                shards.join(", ")
            )
        };
        Err(ShardsError(others.into_iter().map(problem).collect()))
    }

    /// The folders that are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|folder| folder.path.as_path())
    }

    /// How many drills the shards have.
    pub(crate) fn len(&self) -> usize {
        self.folders.iter().map(|folder| folder.drills.len()).sum()
    }

    /// The artifacts of a drill, in order of name; empty if it left none.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(crate) fn artifacts(&self, place: usize, drill: &DrillName) -> io::Result<Vec<Artifact>> {
        let folder = self.folder_of(place);
        let path = folder.path.join("drills").join(drill.to_string());
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut artifacts = Vec::new();
        for entry in entries {
            let entry = entry?;
            let mut bytes = Vec::new();
            let read = regular::open(&entry.path())?
                .take(ARTIFACT_MAX + 1)
                .read_to_end(&mut bytes)?;
            if read as u64 > ARTIFACT_MAX {
                let text = format!("`{}` is above 256 MiB", entry.path().display());
                return Err(io::Error::other(text));
            }
            artifacts.push(Artifact {
                name: entry.file_name().to_string_lossy().into_owned(),
                bytes,
            });
        }
        artifacts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(artifacts)
    }
}

impl Folder {
    fn read(path: &Path) -> Result<Self, String> {
        let events = path.join("events.jsonl");
        let name = events.display();
        let unread = |cause: io::Error| {
            format!(
                "`{name}` cannot be read: {cause}\nhint: name the folders that `nicdrill run --shard K/N --out DIR` left"
            )
        };
        let file = regular::open(&events).map_err(unread)?.take(EVENTS_MAX + 1);
        let mut plan = None;
        let (mut probe, mut drills, mut ended) = (None, BTreeMap::new(), None);
        let mut bytes = 0_u64;
        let mut sum = Sum::default();
        for (row, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(unread)?;
            bytes += line.len() as u64 + 1;
            if bytes > EVENTS_MAX {
                return Err(format!("`{name}` is above 1 GiB"));
            }
            let read: Line = serde_json::from_str(&line).map_err(|error| {
                format!(
                    "{name}:{}: {error}\nhint: the line is damaged, or of another version of nicdrill",
                    row + 1
                )
            })?;
            let altered = |what: &str| {
                format!(
                    "{name}:{}: {what}\nhint: the file was altered, or cut and added to: play the shard again",
                    row + 1
                )
            };
            if ended.is_some() {
                return Err(altered("a line follows the end of the run"));
            }
            if matches!(read, Line::RunEnded { .. }) && !sum.is_of(&line) {
                return Err(altered(
                    "the sum of the lines is not the one that the run wrote",
                ));
            }
            sum.add(&line);
            match read {
                Line::RunStarted(of) => plan = Some(of),
                Line::Probe { outcome, wall } => probe = Some((outcome, wall)),
                Line::DrillPassed(drill)
                | Line::DrillKnown(drill)
                | Line::DrillFailed(drill)
                | Line::DrillSkipped(drill) => {
                    drills.insert(drill.drill.clone(), drill);
                }
                Line::RunEnded { exit_code } => ended = Some(exit_code),
                Line::NotApplicable | Line::DrillStarted | Line::Excuses | Line::Coverage => {}
            }
        }
        if path.join("repeat-01").is_dir() {
            let shown = path.display();
            return Err(format!(
                "`{shown}` is a run with `--repeat`, which cannot be merged\nhint: run the shards without it"
            ));
        }
        let plan: Plan = plan.ok_or_else(|| {
            format!("`{name}` has no plan: the run ended before it began\nhint: run it again")
        })?;
        let Some(shard) = plan.shard.as_deref().map(str::parse) else {
            return Err(format!(
                "`{}` is a whole run, and no shard of one\nhint: shards are played by `nicdrill run --shard K/N`",
                path.display()
            ));
        };
        Ok(Self {
            path: path.to_owned(),
            shard: shard.map_err(|error| format!("{name}: {error}"))?,
            plan,
            probe,
            drills,
            ended,
            contents: contents_of(path).unwrap_or_default(),
        })
    }

    /// What is missing of this shard, and how it is played again; `None` if nothing is.
    fn not_whole(&self) -> Option<String> {
        let Self { path, shard, .. } = self;
        let (done, all) = (self.drills.len(), self.plan.drills.len());
        let why = match (&self.ended, &self.probe) {
            (_, Some((ProbeOutcome::Failed { reason, .. }, _))) => {
                format!("its monitor could not be drilled: {reason}")
            }
            (None, _) => format!("it was killed after {done} of {all} drills"),
            (Some(code), _) if done < all => {
                format!("it ended early, after {done} of {all} drills, with exit code {code}")
            }
            _ => return None,
        };
        let again = again(&self.plan.asked, *shard, Some(path));
        Some(format!(
            "shard {shard} in `{}` is not whole: {why}\nhint: play it again: {again}",
            path.display()
        ))
    }
}

/// Why these are not the shards of one run.
fn not_one_run(folders: &[Folder]) -> Vec<String> {
    let Some(first) = folders.first() else {
        return vec![
            "there is no folder of a run\nhint: name the folders that `nicdrill run --shard K/N --out DIR` left"
                .to_owned(),
        ];
    };
    let mut problems = Vec::new();
    let mut seen: BTreeMap<usize, &Folder> = BTreeMap::new();
    for folder in folders {
        let shown = (first.path.display(), folder.path.display());
        let is_of = |plan: &Plan| {
            let monitor = (&plan.monitor, &plan.descriptor);
            plan.asked == first.plan.asked
                && monitor == (&first.plan.monitor, &first.plan.descriptor)
        };
        if !is_of(&folder.plan) {
            problems.push(format!(
                "`{}` and `{}` are of two runs: `{}` and `{}`",
                shown.0,
                shown.1,
                pasted(&first.plan.asked),
                pasted(&folder.plan.asked)
            ));
        } else if folder.shard.of() != first.shard.of() {
            problems.push(format!(
                "`{}` is shard {}, and `{}` is shard {}: two runs of other numbers of shards",
                shown.0, first.shard, shown.1, folder.shard
            ));
        } else if let Some(other) = seen.insert(folder.shard.number(), folder) {
            problems.push(format!(
                "shard {} is twice: in `{}` and `{}`\nhint: name one of them",
                folder.shard,
                other.path.display(),
                shown.1
            ));
        }
    }
    if problems.is_empty() {
        let have: BTreeSet<usize> = seen.keys().copied().collect();
        let missing = first
            .shard
            .all()
            .filter(|one| !have.contains(&one.number()));
        problems.extend(missing.take(TOLD_MAX).map(|shard| {
            let again = again(&first.plan.asked, shard, None);
            format!("shard {shard} is missing\nhint: play it: {again}")
        }));
    }
    problems
}

/// The command that plays a shard.
fn again(asked: &[String], shard: Shard, out: Option<&Path>) -> String {
    let mut words = vec!["nicdrill".to_owned()];
    words.extend(asked.iter().cloned());
    words.extend(["--shard".to_owned(), shard.to_string(), "--out".to_owned()]);
    words.push(out.map_or_else(|| "DIR".to_owned(), |out| out.display().to_string()));
    pasted(&words)
}

/// The folders of runs that a path stands for: itself, or those in it.
fn runs_in(path: &Path) -> Vec<PathBuf> {
    let is_run = |path: &Path| path.join("events.jsonl").is_file();
    let put_aside = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let of = name.strip_suffix(".old");
        of.is_some_and(|of| path.with_file_name(of).is_dir())
    };
    let itself = vec![path.to_owned()];
    if is_run(path) {
        return itself;
    }
    let Ok(entries) = fs::read_dir(path) else {
        return itself;
    };
    let inside = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut inside: Vec<PathBuf> = inside
        .filter(|path| is_run(path) && !put_aside(path))
        .collect();
    inside.sort();
    if inside.is_empty() { itself } else { inside }
}
