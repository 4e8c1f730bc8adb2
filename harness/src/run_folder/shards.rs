//! The folders that the shards of one run left, read to be merged. Start at [`Shards::read`].
//!
//! A shard is what `nicdrill run --shard K/N` played. The folders are those of one run if their plans ask for the same and
//! their shards are the N parts of it, each once and each played to its end; everything else is refused, with what to do.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use observe::Descriptor;
use reports::{
    DrillName, DrillReport, ExitCode, Outcome, PlannedDrill, ProbeOutcome, Wall, counted,
};
use serde::Deserialize;

use super::{
    Artifact, ShardsError,
    contents::{CONTENTS, read_contents},
    shards_error::{ShardProblem, Shortfall},
    stream::Sum,
};
use crate::{
    read_files::{Library, RUN_MARKER, regular},
    suite::{Selected, Shard, contents_here, descriptor_file, names_in_contents, pasted},
};

/// The most bytes of a folder's `events.jsonl` that are read: 1 GiB. Chosen; that of a red run of the whole suite has 100 MB.
const EVENTS_MAX: u64 = 1 << 30;

/// With what the line begins that has the plan; the plan itself begins with the brace alone.
const RUN_STARTED: &str = "{\"event\":\"run-started\",";

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
        summary: Totals,
        wall: Wall,
    },
}

/// The totals of a shard, as far as a merge needs them.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Totals {
    failed: u64,
    /// Of the failed drills, those that left no files.
    #[serde(default)]
    not_kept: u64,
}

/// How a shard ended.
#[derive(Clone, Debug)]
struct Ended {
    code: ExitCode,
    totals: Totals,
    /// How long it took, in milliseconds.
    ms: u64,
}

/// The plan of a shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
    ended: Option<Ended>,
    /// The SHA-256 of each text that it played, by name.
    contents: BTreeMap<String, String>,
}

/// All shards of one run, each played to its end.
#[derive(Clone, Debug)]
pub struct Shards {
    /// In order of their numbers.
    folders: Vec<Folder>,
}

impl Shards {
    /// Reads the folders of shards; a folder that is no run's stands for the runs' folders in it, but for those that an
    /// other run there put aside (`*.old`).
    ///
    /// # Errors
    /// If a folder cannot be read, or if they are not the shards of one run, each once and each whole.
    pub fn read(paths: &[PathBuf]) -> Result<Self, ShardsError> {
        let mut problems = Vec::new();
        let mut folders = Vec::new();
        let (mut unread, mut unnamed) = (BTreeSet::new(), 0);
        for path in paths.iter().flat_map(|path| runs_in(path)) {
            match Folder::read(&path) {
                Ok(folder) => folders.push(folder),
                Err(problem) => {
                    problems.push(problem);
                    let shards = planned_shards(&path);
                    unnamed += usize::from(shards.is_empty());
                    unread.extend(shards);
                }
            }
        }
        folders.sort_by_key(|folder| (folder.shard.number(), folder.path.clone()));
        // Where no folder could be read, it has been said why.
        if problems.is_empty() || !folders.is_empty() {
            problems.extend(not_one_run(&folders, (&unread, unnamed)));
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
        Err(ShardProblem::OtherMonitor { there, here }.into())
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
            let problem = ShardProblem::NoSuchDrill {
                folder: folder.path.clone(),
                drill: drill.clone(),
                number: place + 1,
            };
            problem.into()
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
        // What a shard played it has written down; a list that lacks it is another shard's.
        let mut untold: BTreeMap<Shard, (&Folder, String)> = BTreeMap::new();
        for (place, planned) in selected.drills.iter().enumerate() {
            let folder = self.folder_of(place);
            for name in names_in_contents(&planned.drill) {
                match (folder.contents.get(&name), here.get(&name)) {
                    (None, Some(_)) => {
                        untold.entry(folder.shard).or_insert((folder, name));
                    }
                    (there, here) if there != here => {
                        others.entry(name).or_default().insert(folder.shard);
                    }
                    _ => {}
                }
            }
        }
        if others.is_empty() && untold.is_empty() {
            return Ok(());
        }
        let is_world = |name: &str| library.worlds.iter().any(|world| world.name() == name);
        let untold = untold.into_values().map(|(folder, name)| {
            let what = match name.strip_prefix('@') {
                Some(world) if is_world(world) => format!("world `{world}`"),
                Some(platform) => format!("platform `{platform}`"),
                None => format!("scenario `{name}`"),
            };
            ShardProblem::OtherContents {
                contents: folder.path.join(CONTENTS),
                what,
                shard: folder.shard,
                again: again(&folder.plan.asked, folder.shard, Some(&folder.path)),
            }
        });
        let others = others.into_iter().map(|(name, shards)| {
            let what = match name.strip_prefix('@') {
                Some(world) if is_world(world) => format!("world `{world}`, or a platform of it,"),
                Some(platform) => format!("platform `{platform}`, or a driver of it,"),
                None => format!("scenario `{name}`"),
            };
            let shards = shards.into_iter().collect();
            ShardProblem::OtherText { what, shards }
        });
        Err(ShardsError(untold.chain(others).collect()))
    }

    /// How long the run took, in milliseconds: as long as the longest of its shards, which are played at one time.
    pub(crate) fn ms(&self) -> u64 {
        let ended = self
            .folders
            .iter()
            .filter_map(|folder| folder.ended.as_ref());
        ended.map(|ended| ended.ms).max().unwrap_or_default()
    }

    /// The shards whose folders lack files that their failed drills had left, in words.
    #[must_use]
    pub fn lost(&self) -> Vec<String> {
        self.folders.iter().filter_map(Folder::lost).collect()
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
    fn read(path: &Path) -> Result<Self, ShardProblem> {
        let events = path.join("events.jsonl");
        let unread = |cause: io::Error| ShardProblem::Unread {
            events: events.clone(),
            cause,
            hint: match is_run(path) {
                true => "the folder of a shard is kept as it is: play the shard again",
                false => "name the folders that `nicdrill run --shard K/N --out DIR` left",
            },
        };
        let file = regular::open(&events).map_err(unread)?.take(EVENTS_MAX + 1);
        let mut plan = None;
        let (mut probe, mut drills, mut ended) = (None, BTreeMap::new(), None);
        let mut bytes = 0_u64;
        let (mut sum, mut begin) = (Sum::default(), String::new());
        let (mut reader, mut text) = (BufReader::new(file), String::new());
        for row in 1_usize.. {
            text.clear();
            let come = reader.read_line(&mut text).map_err(unread)?;
            if come == 0 {
                break;
            }
            bytes += come as u64;
            let whole = text.strip_suffix('\n').filter(|line| !line.ends_with('\r'));
            let line = whole.unwrap_or(&text);
            if bytes > EVENTS_MAX {
                return Err(ShardProblem::TooLarge { events });
            }
            let read: Line = match serde_json::from_str(line) {
                Ok(read) => read,
                Err(cause) => return Err(ShardProblem::BadLine { events, row, cause }),
            };
            let altered = |what| ShardProblem::Altered {
                events: events.clone(),
                row,
                what,
            };
            if whole.is_none() {
                return Err(altered("the line does not end with a newline alone"));
            }
            if ended.is_some() {
                return Err(altered("a line follows the end of the run"));
            }
            if matches!(read, Line::RunEnded { .. }) && !sum.is_of(line) {
                return Err(altered(
                    "the sum of the lines is not the one that the run wrote",
                ));
            }
            sum.add(line);
            match read {
                Line::RunStarted(of) => {
                    plan = Some(of);
                    line.clone_into(&mut begin);
                }
                Line::Probe { outcome, wall } => probe = Some((outcome, wall)),
                Line::DrillPassed(drill)
                | Line::DrillKnown(drill)
                | Line::DrillFailed(drill)
                | Line::DrillSkipped(drill) => {
                    drills.insert(drill.drill.clone(), drill);
                }
                Line::RunEnded {
                    exit_code,
                    summary,
                    wall,
                } => {
                    ended = Some(Ended {
                        code: exit_code,
                        totals: summary,
                        ms: wall.ms().unwrap_or_default(),
                    });
                }
                Line::NotApplicable | Line::DrillStarted | Line::Excuses | Line::Coverage => {}
            }
        }
        if path.join("repeat-01").is_dir() {
            let folder = path.to_owned();
            return Err(ShardProblem::Repeats { folder });
        }
        let Some(plan) = plan else {
            return Err(ShardProblem::NoPlan { events });
        };
        let Some(shard) = plan.shard.as_deref().map(str::parse) else {
            let folder = path.to_owned();
            return Err(ShardProblem::WholeRun { folder });
        };
        let shard: Shard = match shard {
            Ok(shard) => shard,
            Err(cause) => return Err(ShardProblem::BadShard { events, cause }),
        };
        is_told(&path.join("run.json"), &plan, &begin)?;
        // A run that was killed had not written it.
        let contents = match ended {
            Some(_) => read_contents(path).map_err(|problem| ShardProblem::Contents {
                problem,
                again: again(&plan.asked, shard, Some(path)),
            })?,
            None => BTreeMap::new(),
        };
        Ok(Self {
            path: path.to_owned(),
            shard,
            plan,
            probe,
            drills,
            ended,
            contents,
        })
    }

    /// What is missing of this shard, and how it is played again; `None` if nothing is.
    fn not_whole(&self) -> Option<ShardProblem> {
        let Self { path, shard, .. } = self;
        let (done, all) = (self.drills.len(), self.plan.drills.len());
        let why = match (&self.ended, &self.probe) {
            (_, Some((ProbeOutcome::Failed { reason, .. }, _))) => Shortfall::Monitor {
                reason: reason.clone(),
            },
            (None, _) => Shortfall::NoEnd { done, all },
            (Some(ended), _) if done < all => Shortfall::Early {
                done,
                all,
                code: ended.code,
            },
            _ => return None,
        };
        Some(ShardProblem::NotWhole {
            shard: *shard,
            folder: path.clone(),
            why,
            again: again(&self.plan.asked, *shard, Some(path)),
        })
    }

    /// How many of its failed drills left files that are no longer there, in words; `None` if none did.
    fn lost(&self) -> Option<String> {
        let Totals { failed, not_kept } = self.ended.as_ref()?.totals;
        let left = failed.saturating_sub(not_kept);
        let has_files = |drill: &&DrillReport| {
            let folder = self.path.join("drills").join(drill.drill.to_string());
            fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
        };
        let failed = self.drills.values();
        let failed = failed.filter(|drill| drill.outcome == Outcome::Failed);
        let lost = left.saturating_sub(failed.filter(has_files).count() as u64);
        (lost > 0).then(|| {
            let (shard, folder) = (self.shard, self.path.join("drills"));
            format!(
                "shard {shard} left the files of {} in `{}`, and {lost} of these lost them since: the merged run lacks them",
                counted(left, "failed drill"),
                folder.display()
            )
        })
    }
}

/// Checks that the plan in a `run.json` is that of the events beside it, byte by byte; `begin` is their first line.
///
/// # Errors
/// If it cannot be read, or is another one.
fn is_told(path: &Path, plan: &Plan, begin: &str) -> Result<(), ShardProblem> {
    let text = regular::text_up_to(path, regular::RUN_FILE_BYTES_MAX);
    let told = text.and_then(|text| Ok((serde_json::from_str::<Plan>(&text)?, text)));
    let path = path.to_owned();
    match told {
        Ok((told, _)) if told != *plan => Err(ShardProblem::OtherPlan { plan: path }),
        Ok((_, text)) => {
            let wrote = begin.strip_prefix(RUN_STARTED);
            let wrote = wrote.map(|members| format!("{{{members}\n"));
            match wrote.is_some_and(|wrote| wrote == text) {
                true => Ok(()),
                false => Err(ShardProblem::AlteredPlan { plan: path }),
            }
        }
        Err(cause) => Err(ShardProblem::UnreadPlan { plan: path, cause }),
    }
}

/// Which shard a folder whose files cannot be used is, by its plan and by the begin of its events; empty if neither says it.
fn planned_shards(path: &Path) -> BTreeSet<Shard> {
    let plan = regular::text_up_to(&path.join("run.json"), regular::RUN_FILE_BYTES_MAX).ok();
    let begin = regular::open(&path.join("events.jsonl")).and_then(|events| {
        let mut begin = String::new();
        let events = events.take(regular::RUN_FILE_BYTES_MAX);
        BufReader::new(events).read_line(&mut begin)?;
        Ok(begin)
    });
    let plans = plan.into_iter().chain(begin.ok());
    let plans = plans.filter_map(|text| serde_json::from_str::<Plan>(&text).ok());
    plans.filter_map(|plan| plan.shard?.parse().ok()).collect()
}

/// Why these are not the shards of one run. `unread` are there, and cannot be used, and so are some of which nothing says which
/// they are.
fn not_one_run(
    folders: &[Folder],
    (unread, unnamed): (&BTreeSet<Shard>, usize),
) -> Vec<ShardProblem> {
    let Some(first) = folders.first() else {
        return vec![ShardProblem::NoFolder];
    };
    let mut problems = Vec::new();
    let mut seen: BTreeMap<usize, &Folder> = BTreeMap::new();
    for folder in folders {
        let folders = (first.path.clone(), folder.path.clone());
        let is_of = |plan: &Plan| {
            let monitor = (&plan.monitor, &plan.descriptor);
            plan.asked == first.plan.asked
                && monitor == (&first.plan.monitor, &first.plan.descriptor)
        };
        if !is_of(&folder.plan) {
            let asked = (pasted(&first.plan.asked), pasted(&folder.plan.asked));
            problems.push(ShardProblem::TwoRuns { folders, asked });
        } else if folder.shard.of() != first.shard.of() {
            let shards = (first.shard, folder.shard);
            problems.push(ShardProblem::OtherNumber { folders, shards });
        } else if let Some(other) = seen.insert(folder.shard.number(), folder) {
            problems.push(ShardProblem::Twice {
                shard: folder.shard,
                folders: (other.path.clone(), folders.1),
            });
        }
    }
    if problems.is_empty() {
        let have: BTreeSet<usize> = seen.keys().copied().collect();
        let missing = || {
            let all = first.shard.all();
            all.filter(|one| !have.contains(&one.number()) && !unread.contains(one))
        };
        if missing().take(unnamed + 1).count() > unnamed {
            problems.extend(missing().take(TOLD_MAX).map(|shard| ShardProblem::Missing {
                shard,
                again: again(&first.plan.asked, shard, None),
            }));
        }
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

/// Whether a folder is that of a run. What carries folders from one machine to another may leave out the marker, which is
/// hidden, and any other file may be lost.
fn is_run(path: &Path) -> bool {
    let has = |name: &str| fs::symlink_metadata(path.join(name)).is_ok();
    has(RUN_MARKER) || has("events.jsonl") || !planned_shards(path).is_empty()
}

/// The folders of runs that a path stands for: itself, or those in it.
fn runs_in(path: &Path) -> Vec<PathBuf> {
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
