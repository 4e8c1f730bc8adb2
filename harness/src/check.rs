//! Checks a user's files of every kind at once: scenarios, worlds, platforms, drivers, descriptors, needs, rules.
//!
//! What a file is, its keys say. A scenario is checked beside the platforms and worlds that are checked with it, and
//! beside those that `nicdrill.toml` names; every mistake of every file is told, not only the first one. The first world
//! that a scenario fits is played once, without a monitor, and each that it fits if it has rules on files. Start at
//! [`check`].

mod kind;
mod machines;
mod mistake;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    fs,
    path::{Path, PathBuf},
};

use cluster::rules::{read_every, read_every_cable};
use director::{FreezeError, StageError, freeze_at};
use platforms::{Platforms, yaml::Place};
use reports::{KnownDeviations, counted};
use scenarios::{Mentions, ScenarioError, StepAction, Story, Unfit};

pub use kind::{FileKind, SETTINGS};
pub use machines::{declared_role, unlike_declared};
pub use mistake::Mistake;

use crate::{
    alert_rules, descriptors, mix, needs,
    read_files::{
        Library, Met, Parts, ReadError, STANDARD_INPUT, SuiteText, files_below, read_monitor,
        scenario_texts, text_in, text_of, yaml_files,
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
    mistakes.extend(of_suite);
    mistakes.extend(unresolved(&library));
    let mut unlooked: BTreeSet<String> = BTreeSet::new();
    for file in &files {
        let (of_it, why_not) = of_file(file, &library, beside);
        mistakes.extend(of_it);
        let warning = |why| format!("expressions of alert rules were not looked at: {why}");
        unlooked.extend(why_not.map(warning));
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
    Ok(Checked {
        warnings: warnings.map(ToString::to_string).chain(unlooked).collect(),
        files,
        mistakes,
    })
}

/// Whether a mistake is that of a file which this one names, and is told of that file already.
fn is_of_another(mistake: &Mistake, told: &BTreeSet<String>) -> bool {
    let inner = mistake.text.strip_prefix(&mistake.file);
    let inner = inner.and_then(|inner| inner.strip_prefix(": "));
    // Of a file with several mistakes they come together.
    inner.is_some_and(|inner| told.iter().any(|text| inner.starts_with(text.as_str())))
}

/// Whether a mistake is that there is no platform of a name which one has that cannot be read.
fn misses_one_of(mistake: &Mistake, broken: &[String]) -> bool {
    let missed = mistake.text.split_once("there is no platform `");
    let missed = missed.map(|(_, rest)| rest.split(['`', ':']).next().unwrap_or_default());
    missed.is_some_and(|missed| broken.iter().any(|name| name == missed))
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
/// shipped suite.
fn unresolved(library: &Library) -> Vec<Mistake> {
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
        let rests = (worlds.iter()).filter_map(|world| library.at_rest(world)?.ok());
        let played: Vec<Result<_, Unfit>> = rests.map(|rest| scenario.at_rest(&rest)).collect();
        // Files differ from world to world, so rules on them are tried in each.
        let has_rules = |story: &&Story| {
            let mut actions = story.actions();
            actions.any(|action| matches!(action, StepAction::Rule(_)))
        };
        let first = played.iter().flatten().next();
        let others = played.iter().flatten().skip(1).filter(has_rules);
        let failed = first.into_iter().chain(others).find_map(|story| {
            let Err(FreezeError::Stage(error)) = freeze_at(story, None) else {
                return None;
            };
            Some(cannot_be_played(scenario.file(), &error))
        });
        mistakes.extend(failed);
        let mut lacking: BTreeMap<String, usize> = BTreeMap::new();
        let is_nowhere = played
            .iter()
            .all(|story| matches!(story, Err(Unfit::NotApplicable { .. })));
        for unfit in played.into_iter().filter_map(Result::err) {
            match unfit {
                Unfit::Wrong(error) => wrong.push(error),
                Unfit::NotApplicable { reason } => *lacking.entry(reason).or_default() += 1,
            }
        }
        // Of equals the first by name is told.
        let most = lacking.into_iter().rev().max_by_key(|(_, count)| *count);
        if let Some((reason, count)) = most.filter(|_| is_nowhere) {
            mistakes.push(fits_nowhere(scenario.file(), &reason, count));
        }
    }
    mistakes.extend(wrong.into_iter().flat_map(Mistake::of_scenario));
    mistakes
}

/// The mistake of a scenario whose world cannot take a step, or cannot be set up.
fn cannot_be_played(file: &str, error: &StageError) -> Mistake {
    let text = error.to_string();
    match text.starts_with(file) {
        true => Mistake::new(file, None, text),
        false => Mistake::new(file, None, format_args!("{file}: {text}")),
    }
}

/// The mistake of a scenario of which no drill is made, with what most worlds lack.
fn fits_nowhere(file: &str, reason: &str, count: usize) -> Mistake {
    let place = Place { line: 1, column: 1 };
    let worlds = counted(count as u64, "world");
    let what = format_args!(
        "{file}:1:1: the scenario fits no world, so that nothing would be drilled: {reason}, in {worlds}\n\
         hint: `nicdrill list --drills {file}` tells what each one lacks"
    );
    Mistake::new(file, Some(place), what)
}

/// The mistakes of a file of another kind, and why the expressions of its alert rules could not be looked at.
fn of_file(
    file: &Source,
    library: &Library,
    beside: &Surroundings<'_>,
) -> (Vec<Mistake>, Option<String>) {
    let Source { name, text, .. } = file;
    let Some(kind) = file.kind else {
        return (Vec::new(), None);
    };
    let mut unlooked = None;
    let yaml = match kind {
        FileKind::Scenario | FileKind::World | FileKind::Platform | FileKind::Driver => Vec::new(),
        FileKind::Descriptor => {
            let mistakes = descriptors::mistakes(name, text, library);
            if mistakes.is_empty() {
                return of_its_rules(name, library);
            }
            mistakes
        }
        FileKind::Needs => needs::mistakes(name, text, Some(library)),
        FileKind::Mix => mix::mistakes(name, text, Some(library)),
        FileKind::AlertRules => {
            let (mistakes, why_not) = alert_rules::mistakes(name, text, None);
            unlooked = why_not;
            mistakes
        }
        FileKind::ClusterRules => {
            let mistakes = read_every(name, text).err().unwrap_or_default();
            return (mistakes.iter().map(Mistake::of_rules).collect(), None);
        }
        FileKind::Cabling => {
            let mistakes = read_every_cable(name, text).err().unwrap_or_default();
            return (mistakes.iter().map(Mistake::of_rules).collect(), None);
        }
        FileKind::Known => {
            let mistakes = KnownDeviations::read_every(name, text);
            let mistakes = mistakes.err().unwrap_or_default();
            return (mistakes.iter().map(Mistake::of_known).collect(), None);
        }
        FileKind::Settings => return ((beside.settings)(name, text), None),
    };
    (yaml.iter().map(Mistake::from).collect(), unlooked)
}

/// The mistakes in the alert rules that a descriptor names, and why their expressions could not be looked at.
fn of_its_rules(name: &str, library: &Library) -> (Vec<Mistake>, Option<String>) {
    let is_file = Path::new(name).is_file();
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    if !is_file || !is_yaml {
        return (Vec::new(), None);
    }
    let inner = |error: &dyn Display| Mistake::new(name, None, format_args!("{name}: {error}"));
    let (file, text, every, refused) = match read_monitor(name, library) {
        Ok(descriptor) => match descriptor.prometheus {
            Some(it) => (it.rules, it.rules_text, Some(it.evaluation_interval), None),
            None => return (Vec::new(), None),
        },
        Err(ReadError::Descriptor(error)) if error.file != *name => {
            let text = text_of(Path::new(&error.file)).unwrap_or_default();
            (error.file.clone(), text, None, Some(inner(&error)))
        }
        Err(ReadError::Descriptor(error)) => return (vec![Mistake::from(&error)], None),
        Err(error) => return (vec![inner(&error)], None),
    };
    let (wrong, unlooked) = alert_rules::mistakes(&file, &text, every);
    let mut mistakes: Vec<Mistake> = wrong.iter().map(|error| inner(error)).collect();
    if mistakes.is_empty() {
        mistakes.extend(refused);
    }
    (mistakes, unlooked)
}
