//! Checks a user's files of every kind at once: scenarios, worlds, platforms, drivers, descriptors, needs, rules.
//!
//! What a file is, its keys say. A scenario is checked beside the platforms and worlds that are checked with it, and
//! beside those that `nicdrill.toml` names; every mistake of every file is told, not only the first one. The first world
//! that a scenario fits is played once, without a monitor, and each that it fits if it has rules on files. Start at
//! [`check`].

mod descriptor;
pub(crate) mod kind;
mod machines;
mod mistake;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use cluster::rules::{read_every, read_every_cable};
use director::{FreezeError, Log, StageError, freeze_at};
use files::{About, FileError, Place};
use platforms::Platforms;
use reports::KnownDeviations;
use scenarios::{Mentions, PLATFORM, ScenarioError, Story, Unfit};

pub use kind::{FileKind, SETTINGS};
pub use machines::{declared_role, unlike_declared};
pub use mistake::Mistake;

use descriptor::Looked;

use crate::{
    alert_rules,
    lacking::lacking,
    mix, needs,
    read_files::{
        Library, Met, Parts, ReadError, STANDARD_INPUT, SuiteText, files_below, scenario_texts,
        text_in, text_of, yaml_files,
    },
};

/// The standard input, as it is named on the command line.
const DASH: &str = "-";

/// The endings of the files that are checked in a folder.
const ENDINGS: [&str; 3] = ["toml", "yaml", "yml"];

/// A file that is checked.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, as the user gave it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it is; `None` if its keys do not say it.
    pub kind: Option<FileKind>,
}

/// What else is there beside the files that are checked.
#[derive(Debug)]
pub struct Surroundings<'s> {
    /// The scenario files and folders of `nicdrill.toml`.
    pub scenarios: &'s [PathBuf],
    /// The platform files and folders of `nicdrill.toml`.
    pub platforms: &'s [PathBuf],
    /// The mistakes of a `nicdrill.toml`, by its name and text.
    pub settings: fn(&str, &str) -> Vec<Mistake>,
}

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The files that were checked, in the order in which they were named.
    pub files: Vec<Source>,
    /// Every mistake, in the order of the files and of their texts.
    pub mistakes: Vec<Mistake>,
    /// What may be a mistake, each with its place.
    pub warnings: Vec<String>,
}

/// Checks these files, the files in these folders, and the standard input for `-`. In a folder, a file whose keys do not
/// say what it is belongs to somebody else.
///
/// # Errors
/// If none of the files and folders can be read; if some can, the others are mistakes.
pub fn check(paths: &[String], beside: &Surroundings<'_>) -> Result<Checked, ReadError> {
    let (files, unread) = sources(paths)?;
    let nobody = files.iter().filter(|file| file.kind.is_none());
    let mut mistakes: Vec<Mistake> = nobody
        .map(|file| {
            let name = &file.name;
            let what = format_args!(
                "{name}:1: no key says what kind of file this is\nhint: {}",
                kind::hint()
            );
            Mistake::new(name, None, what)
        })
        .collect();
    let machines = machines::Machines::of(&with_platforms(&files, beside));
    mistakes.extend(machines.mistakes);
    let (library, of_suite) = library(&files, beside, machines.platforms);
    let unresolved = unresolved(&library, &of_suite);
    mistakes.extend(of_suite);
    mistakes.extend(unresolved);
    let mut unlooked: BTreeSet<String> = BTreeSet::new();
    let (mut nobodys, mut unmeant) = (Vec::new(), Vec::new());
    for file in &files {
        let looked = of_file(file, &library, beside);
        mistakes.extend(looked.mistakes);
        let warning = |why| format!("expressions of alert rules were not looked at: {why}");
        unlooked.extend(looked.unlooked.map(warning));
        nobodys.extend(looked.nobody);
        unmeant.extend(looked.unmeant);
    }
    let order = |mistake: &Mistake| files.iter().position(|file| file.name == mistake.file);
    mistakes.retain(|mistake| order(mistake).is_some());
    mistakes.sort_by_cached_key(|mistake| (order(mistake), mistake.clone()));
    mistakes.dedup();
    let told: BTreeSet<String> = mistakes
        .iter()
        .map(|mistake| mistake.text.clone())
        .collect();
    mistakes.retain(|mistake| {
        !is_of_another(mistake, &told) && !misses_one_of(mistake, &machines.broken)
    });
    mistakes.splice(0..0, unread);
    let warnings = library.warnings.iter();
    let warnings =
        warnings.filter(|warning| files.iter().any(|it| it.name == warning.first().file));
    let warnings = warnings.map(ToString::to_string).chain(unlooked);
    Ok(Checked {
        warnings: warnings.chain(nobodys).chain(unmeant).collect(),
        files,
        mistakes,
    })
}

/// Whether a mistake is that of a file which this one names, and is told of that file already.
fn is_of_another(mistake: &Mistake, told: &BTreeSet<String>) -> bool {
    // Of a file with several mistakes they come together.
    let begins = |error: &String| told.iter().any(|text| error.starts_with(text.as_str()));
    mistake.elsewhere.as_ref().is_some_and(begins)
}

/// Whether a mistake is that there is no platform of a name which one has that cannot be read.
fn misses_one_of(mistake: &Mistake, broken: &[String]) -> bool {
    let Some(About::Unknown { kind, name, .. }) = mistake.about.as_deref() else {
        return false;
    };
    let base = name.split(':').next().unwrap_or_default();
    *kind == PLATFORM && broken.iter().any(|name| name == base)
}

/// The files that are named, each once, and what cannot be read of what is named.
fn sources(paths: &[String]) -> Result<(Vec<Source>, Vec<Mistake>), ReadError> {
    let mut files: Vec<Source> = Vec::new();
    let mut unread: Vec<(String, ReadError)> = Vec::new();
    let mut met = Met::default();
    for named in paths {
        if named == DASH {
            let name = STANDARD_INPUT.to_owned();
            if !files.iter().any(|file| file.name == name) {
                let text = text_in()?;
                let kind = FileKind::of(&name, &text);
                files.push(Source { name, text, kind });
            }
            continue;
        }
        let path = Path::new(named);
        let below = files_below(path, &ENDINGS).unwrap_or_else(|error| {
            unread.push((named.clone(), error));
            Vec::new()
        });
        for file in below {
            if met.has(&file) {
                continue;
            }
            let name = file.display().to_string();
            let text = match text_of(&file) {
                Ok(text) => text,
                Err(error) => {
                    unread.push((name, error));
                    continue;
                }
            };
            let kind = FileKind::of(&name, &text);
            if file == path || kind.is_some() {
                met.add(&file);
                files.push(Source { name, text, kind });
            }
        }
    }
    if files.is_empty() && !unread.is_empty() {
        return Err(unread.remove(0).1);
    }
    let unread = unread.into_iter();
    let unread = unread.map(|(name, error)| Mistake::new(&name, None, error));
    Ok((files, unread.collect()))
}

/// Whether one of the files is this one, under whatever name.
fn is_among(files: &[Source], path: &Path) -> bool {
    let same = |file: &Source| {
        let canonical = fs::canonicalize(&file.name).ok();
        canonical.is_some() && canonical == fs::canonicalize(path).ok()
    };
    files.iter().any(same)
}

/// The files, and the platforms that stand beside them.
fn with_platforms(files: &[Source], beside: &Surroundings<'_>) -> Vec<Source> {
    let paths = beside.platforms.iter();
    let others = paths.flat_map(|path| yaml_files(path, "platform").unwrap_or_default());
    let others = others.filter(|path| !is_among(files, path));
    let others = others.filter_map(|path| {
        let (name, text) = (path.display().to_string(), text_of(&path).ok()?);
        let kind = FileKind::of(&name, &text);
        Some(Source { name, text, kind })
    });
    files.iter().cloned().chain(others).collect()
}

/// The scenarios and worlds that can be read, and the mistakes of the others. Without a scenario, it is that of a run.
fn library(
    files: &[Source],
    beside: &Surroundings<'_>,
    platforms: Platforms,
) -> (Library, Vec<Mistake>) {
    let suite = files.iter().filter_map(|file| match file.kind {
        Some(kind @ (FileKind::Scenario | FileKind::World)) => Some(SuiteText {
            file: file.name.clone(),
            text: file.text.clone(),
            is_world: kind == FileKind::World,
            golden: None,
        }),
        _ => None,
    });
    let mut texts: Vec<SuiteText> = suite.collect();
    let others = scenario_texts(beside.scenarios).unwrap_or_default();
    texts.extend(
        others
            .into_iter()
            .filter(|text| !is_among(files, Path::new(&text.file))),
    );
    let unread = texts.iter().filter(|text| !text.is_world);
    let unread: Vec<(String, String)> = unread
        .filter(|text| scenarios::read(&text.file, &text.text).is_err())
        .map(|text| (text.file.clone(), text.text.clone()))
        .collect();
    let (parts, mut wrong) = Parts::of(texts);
    let known: Vec<&str> = platforms.iter().map(|(name, _)| name).collect();
    for (file, text) in &unread {
        let mentions = Mentions::of(file, text);
        let names = [
            parts.clauses.check_mentions(&mentions),
            mentions.check_platforms(&known),
        ];
        wrong.extend(
            names
                .into_iter()
                .filter_map(Result::err)
                .map(ReadError::from),
        );
    }
    let (library, unfitting) = Library::of(parts, (platforms, Vec::new()));
    let mut mistakes = Vec::new();
    for error in wrong.into_iter().chain(unfitting) {
        match error {
            ReadError::Scenario(error) => mistakes.extend(Mistake::of_scenario(error)),
            ReadError::Twice {
                ref first,
                ref second,
                ..
            } => {
                // Both files have it; the one that is checked is named.
                let file = match files.iter().any(|file| file.name == *second) {
                    true => second,
                    false => first,
                };
                mistakes.push(Mistake::new(file, None, format_args!("{file}: {error}")));
            }
            ReadError::WorldTwice { ref file, .. } => {
                mistakes.push(Mistake::new(file, None, format_args!("{file}: {error}")));
            }
            _ => {}
        }
    }
    (library, mistakes)
}

/// The mistakes that show only where a scenario is played: in its world, or on a platform. Nothing is said about the
/// shipped suite, nor that a scenario fits no world if a name in it is wrong: `told` are such mistakes.
fn unresolved(library: &Library, told: &[Mistake]) -> Vec<Mistake> {
    let mut wrong: Vec<ScenarioError> = Vec::new();
    let mut mistakes = Vec::new();
    for world in &library.worlds {
        if let Some(Err(error)) = library.at_rest(world.name()) {
            wrong.push(error);
        }
    }
    let own = library.scenarios.iter().filter(|_| library.own_scenarios);
    for scenario in own.map(|own| &own.scenario) {
        let worlds = library.worlds_of(scenario);
        let worlds: Vec<&str> = match scenario.platforms_named() {
            Some(named) => (worlds.into_iter())
                .filter(|world| named.contains(world))
                .collect(),
            None => worlds,
        };
        let rests = worlds
            .iter()
            .filter_map(|world| Some((*world, library.at_rest(world)?.ok()?)));
        let (worlds, played): (Vec<&str>, Vec<Result<_, Unfit>>) = rests
            .map(|(world, rest)| (world, scenario.at_rest(&rest)))
            .unzip();
        // Files differ from world to world, so rules on them are tried in each.
        let has_rules = |story: &&Story| !Log::foreseen(story).reads.is_empty();
        let first = played.iter().flatten().next();
        let others = played.iter().flatten().skip(1).filter(has_rules);
        let failed = first.into_iter().chain(others).find_map(|story| {
            let Err(FreezeError::Stage(error)) = freeze_at(story, None) else {
                return None;
            };
            Some(cannot_be_played(scenario.file(), &error))
        });
        mistakes.extend(failed);
        let unfit: Vec<(&str, &str)> = (worlds.iter().zip(&played))
            .filter_map(|(world, story)| match story {
                Err(Unfit::NotApplicable { reason }) => Some((*world, reason.as_str())),
                _ => None,
            })
            .collect();
        let is_told =
            |mistake: &Mistake| mistake.file == scenario.file() && mistake.place.is_some();
        let is_nowhere = unfit.len() == played.len() && !told.iter().any(is_told);
        if let Some(lacking) = lacking(unfit).filter(|_| is_nowhere) {
            mistakes.push(fits_nowhere(scenario.file(), &lacking));
        }
        wrong.extend(played.into_iter().filter_map(|story| match story {
            Err(Unfit::Wrong(error)) => Some(error),
            _ => None,
        }));
    }
    mistakes.extend(wrong.into_iter().flat_map(Mistake::of_scenario));
    mistakes
}

/// The mistake of a scenario whose world cannot take a step, or cannot be set up.
fn cannot_be_played(file: &str, error: &StageError) -> Mistake {
    match error.place() {
        // The text begins with it.
        Some(_) => Mistake::new(file, None, error),
        None => Mistake::new(file, None, format_args!("{file}: {error}")),
    }
}

/// The mistake of a scenario of which no drill is made, with what most worlds lack.
fn fits_nowhere(file: &str, lacking: &str) -> Mistake {
    let place = Place { line: 1, column: 1 };
    let what = format_args!(
        "{file}:1:1: the scenario fits no world, so that nothing would be drilled: {lacking}\n\
         hint: `nicdrill list --drills {file}` tells what each one lacks"
    );
    Mistake::new(file, Some(place), what)
}

/// What is to be said of a file of another kind.
fn of_file(file: &Source, library: &Library, beside: &Surroundings<'_>) -> Looked {
    let Source { name, text, .. } = file;
    let mut unlooked = None;
    let of_yaml = |mistakes: Vec<FileError>| mistakes.iter().map(Mistake::from).collect();
    let mistakes = match file.kind {
        None
        | Some(FileKind::Scenario | FileKind::World | FileKind::Platform | FileKind::Driver) => {
            Vec::new()
        }
        Some(FileKind::Descriptor) => return descriptor::look(name, text, library),
        Some(FileKind::Needs) => of_yaml(needs::mistakes(name, text, Some(library))),
        Some(FileKind::Mix) => of_yaml(mix::mistakes(name, text, Some(library))),
        Some(FileKind::AlertRules) => {
            let (mistakes, why_not) = alert_rules::mistakes(name, text, None);
            unlooked = why_not;
            of_yaml(mistakes)
        }
        Some(FileKind::ClusterRules) => {
            let mistakes = read_every(name, text).err().unwrap_or_default();
            mistakes.iter().map(Mistake::of_rules).collect()
        }
        Some(FileKind::Cabling) => {
            let mistakes = read_every_cable(name, text).err().unwrap_or_default();
            mistakes.iter().map(Mistake::of_rules).collect()
        }
        Some(FileKind::Known) => {
            let mistakes = KnownDeviations::read_every(name, text);
            let mistakes = mistakes.err().unwrap_or_default();
            mistakes.iter().map(Mistake::of_known).collect()
        }
        Some(FileKind::Settings) => (beside.settings)(name, text),
    };
    Looked {
        mistakes,
        unlooked,
        ..Looked::default()
    }
}
