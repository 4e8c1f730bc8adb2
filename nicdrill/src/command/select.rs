//! Selects files, monitor and drills from the arguments of a command.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use harness::{
    read_files::{self, Library, ReadError},
    run_folder::{self, RunFolder},
    suite::{self, Ask, Covering, Selected, Shard, select},
};
use observe::Descriptor;
use reports::{DrillName, ExitCode, PlannedDrill};
use scenarios::Story;
use terms::Arm;

use super::{
    Stop,
    as_before::{all_are_here, as_before},
    run_values,
};
use crate::{
    arguments::{Against, Arms, OneDrill, SelectArguments},
    settings::{MonitorSetting, Settings},
    terminal::log,
};

/// The monitor that is drilled if none is named.
pub(crate) const REFERENCE: &str = "reference";

/// The selection of a command.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Scenarios and platforms.
    pub(crate) library: Library,
    /// The monitor under test.
    pub(crate) descriptor: Descriptor,
    /// The selected drills.
    pub(crate) selected: Selected,
    /// How coverage is reported; an uncovered clause is a failure if nothing narrows the suite down.
    pub(crate) covering: Covering,
    /// The run folder.
    pub(crate) out: PathBuf,
    /// The arguments that select the same again, without the drill's name and the arm.
    pub(crate) again: Vec<String>,
    /// Which shard of the drills this is, as `K/N`; `None` if it was not asked for one.
    pub(crate) shard: Option<String>,
    /// The needs that the run before was judged by, with `--failed`.
    pub(crate) needs: Option<String>,
    /// Whose rows the monitor is judged by instead of its own.
    pub(crate) against: Option<Against>,
    /// Whether `nicdrill.toml` names no monitor, and the command line neither.
    pub(crate) is_assumed: bool,
    /// Whether nothing names a monitor, so that the reference monitor is drilled.
    pub(crate) is_unnamed: bool,
}

/// Reads the named files, selects the drills, and prints what may be a mistake in the files.
pub(crate) fn choose(arguments: &SelectArguments, seed: u64) -> Result<Choice, Stop> {
    let choice = choice(&Settings::read()?, arguments, seed)?;
    for warning in &choice.library.warnings {
        log(&format!("warning: {warning}"));
    }
    Ok(choice)
}

/// Reads the named files and selects the drills.
pub(super) fn choice(
    settings: &Settings,
    arguments: &SelectArguments,
    seed: u64,
) -> Result<Choice, Stop> {
    let out = arguments.out.clone().or_else(|| settings.out.clone());
    let out = out.unwrap_or_else(|| PathBuf::from(run_folder::DEFAULT));
    let names_files = (arguments.what.iter().chain(&arguments.platform)).any(|what| is_path(what));
    let (arguments, needs) = if arguments.failed {
        as_before(arguments, &out)?
    } else {
        (arguments.clone(), None)
    };
    let (mut at, mut others) = (Vec::new(), Vec::new());
    for what in &arguments.what {
        match file_at_platform(what) {
            Some(file_at) => at.push(file_at),
            None => others.push(what.clone()),
        }
    }
    let (mut scenarios, mut names) = paths_and_names(&others);
    // Beside a file with its platform, one without is meant on all.
    let wholes = match names.is_empty() && !at.is_empty() {
        true => scenarios.clone(),
        false => Vec::new(),
    };
    scenarios.extend(at.iter().map(|(file, _)| file.clone()));
    let (variants, others): (Vec<String>, Vec<String>) =
        (arguments.platform.iter().cloned()).partition(|what| variant_of_file(what).is_some());
    let (own_platforms, mut platforms) = paths_and_names(&others);
    let own_scenarios = scenarios.clone();
    if scenarios.is_empty() {
        scenarios.clone_from(&settings.scenarios);
    }
    let variants: Vec<(PathBuf, &str)> = variants
        .iter()
        .filter_map(|it| variant_of_file(it))
        .collect();
    let of_variants = variants.iter().map(|(file, _)| file.clone());
    let named_platforms: Vec<PathBuf> = own_platforms.iter().cloned().chain(of_variants).collect();
    let all_platforms: Vec<PathBuf> = named_platforms
        .iter()
        .chain(&settings.platforms)
        .cloned()
        .collect();
    let library = Library::read(&scenarios, &all_platforms).map_err(Stop::input)?;
    for (file, platform) in at {
        let on = |name| format!("{name}@{platform}");
        names.extend(scenarios_in(&library, &file).into_iter().map(on));
    }
    for file in wholes {
        names.extend(scenarios_in(&library, &file));
    }
    let (monitor, descriptor) = monitor(arguments.monitor.as_deref(), &settings.monitor, &library)?;
    let descriptor = match arguments.against {
        Some(Against::Documents) => Descriptor {
            promises: descriptor.promises.by_documents(),
            ..descriptor
        },
        None => descriptor,
    };
    let is_unnamed = monitor.is_none();
    let is_assumed = is_unnamed && settings.monitor == MonitorSetting::Missing;
    let mut again = again(monitor.as_deref(), &own_scenarios, &named_platforms);
    if arguments.against.is_some() {
        again.extend(["--against", "documents"].map(str::to_owned));
    }
    let library = library.watched_by(&descriptor);

    if !own_platforms.is_empty() {
        // If the user names platform files, those platforms are meant.
        platforms.extend(platforms_in(&own_platforms, &library)?);
    }
    for (file, variant) in variants {
        platforms.extend(variants_in(&file, variant, &library)?);
    }
    let ask = Ask {
        names,
        platforms,
        filter: run_values::filter(&arguments)?,
        only: if arguments.failed {
            let failed = RunFolder::failed_before(&out).map_err(Stop::input)?;
            all_are_here(&failed, &library, names_files)?;
            Some(failed.into_iter().collect())
        } else {
            None
        },
        arms: arms(arguments.arm, &descriptor)?,
        // What failed is played again, whether the selection of the process arm would have it or not.
        full: arguments.full || arguments.failed,
        real_time_at_most: run_values::real_time_at_most(&arguments)?,
        shard: run_values::shard(&arguments)?,
        seed,
    };
    let shard = arguments.shard.as_ref().map(|_| ask.shard.to_string());
    let narrowed = !ask.names.is_empty()
        || !ask.platforms.is_empty()
        || ask.filter.is_some()
        || ask.only.is_some()
        || ask.real_time_at_most.is_some()
        || ask.shard != Shard::WHOLE;
    let selected = select(&library, &descriptor, &ask).map_err(Stop::input)?;
    Ok(Choice {
        library,
        descriptor,
        selected,
        covering: if narrowed {
            Covering::SuiteScenario
        } else {
            Covering::Demanded
        },
        out,
        again,
        shard,
        needs,
        against: arguments.against,
        is_assumed,
        is_unnamed,
    })
}

/// The monitor that is named, on the command line or in `nicdrill.toml`, and its descriptor; without a name the reference
/// monitor's.
fn monitor(
    asked: Option<&str>,
    setting: &MonitorSetting,
    library: &Library,
) -> Result<(Option<String>, Descriptor), Stop> {
    let (name, place) = match (asked, setting) {
        (Some(name), _) => (Some(name), None),
        (None, MonitorSetting::Named { name, place }) => (Some(name.as_str()), Some(place)),
        (None, MonitorSetting::NoFile | MonitorSetting::Missing) => (None, None),
    };
    let read = read_files::read_monitor(name.unwrap_or(REFERENCE), library);
    let descriptor = read.map_err(|error| match (&error, place) {
        (ReadError::Io { .. } | ReadError::NoSuchMonitor { .. }, Some(place)) => {
            Stop::usage(format!("{place}: {error}"))
        }
        (ReadError::NoSuchMonitor { asked, .. }, None) if is_of_the_zoo(asked) => {
            Stop::usage(format!("`{asked}` is a wrong monitor of the zoo")).hint(format!(
                "`nicdrill zoo --only {asked}` drills it; a descriptor whose `command` is `[ \"{{self}}\", wrong-monitor, {asked}, … ]` starts it, as docs/loses-events.yaml does another one"
            ))
        }
        _ => Stop::input(error),
    })?;
    Ok((name.map(str::to_owned), descriptor))
}

/// Whether a wrong monitor has this name.
fn is_of_the_zoo(name: &str) -> bool {
    #[cfg(feature = "zoo")]
    let known = zoo::find(name).is_some();
    #[cfg(not(feature = "zoo"))]
    let known = false;
    known
}

/// Selects one drill by its name; if the name matches several, use [`Choice::first`].
pub(crate) fn choose_one(
    which: &OneDrill,
    arm: Option<Arms>,
    monitor: Option<String>,
    against: Option<Against>,
) -> Result<Choice, Stop> {
    let mut what = vec![which.drill.clone()];
    what.extend(which.scenarios.iter().cloned());
    let select = SelectArguments {
        what,
        monitor,
        against,
        platform: which.platforms.clone(),
        arm,
        full: true,
        ..SelectArguments::default()
    };
    let mut choice = choose(&select, 0)?;
    let file = file_at_platform(&which.drill).map(|(file, _)| file);
    let file = file.or_else(|| is_path(&which.drill).then(|| PathBuf::from(&which.drill)));
    if let Some(file) = file {
        choice.keep_those_of(&file);
    }
    if choice.selected.drills.is_empty() && choice.selected.not_applicable.is_empty() {
        let (name, _) = which.drill.split_once('@').unwrap_or((&which.drill, ""));
        let of = choice.library.scenarios.iter().find(|of| of.name == name);
        let hint = match of.and_then(|of| of.scenario.world()) {
            Some(world) => format!("`{name}` is played in the world `{world}` alone"),
            None if of.is_some() => format!("`{name}` is played on platforms alone"),
            None => "`nicdrill list --drills` lists every drill".to_owned(),
        };
        let what = format!("`{}` names no drill", which.drill);
        return Err(Stop::with(ExitCode::NothingJudged, what).hint(hint));
    }
    Ok(choice)
}

/// The story of the one selected drill; `None`, after printing why, if there is none.
pub(crate) fn story_of_one(which: &OneDrill) -> Result<Option<Story>, Stop> {
    let choice = choose_one(which, None, None, None)?;
    let Some(planned) = choice.first() else {
        return Ok(None);
    };
    let story = suite::story(&choice.library, &planned.drill);
    let story = story.expect("a drill that was selected is in the library");
    story.map(Some).map_err(Stop::input)
}

impl Choice {
    /// Leaves out what is not from this file, or from the files below this folder.
    fn keep_those_of(&mut self, path: &Path) {
        let names = scenarios_in(&self.library, path);
        let is_of_it = |drill: &DrillName| names.contains(&drill.scenario);
        self.selected
            .drills
            .retain(|planned| is_of_it(&planned.drill));
        self.selected
            .not_applicable
            .retain(|pair| is_of_it(&pair.drill));
    }

    /// The first selected drill; if there is none, prints why.
    pub(crate) fn first(&self) -> Option<&PlannedDrill> {
        let first = self.selected.drills.first();
        if first.is_none() {
            for pair in &self.selected.not_applicable {
                log(&format!("{}: not applicable: {}", pair.drill, pair.reason));
            }
        }
        first
    }
}

/// The names of the scenarios in this file, or in the files below this folder.
fn scenarios_in(library: &Library, path: &Path) -> BTreeSet<String> {
    let Ok(path) = fs::canonicalize(path) else {
        return BTreeSet::new();
    };
    let is_of_it = |file: &str| fs::canonicalize(file).is_ok_and(|file| file.starts_with(&path));
    let all = library.scenarios.iter();
    all.filter(|of| is_of_it(&of.file))
        .map(|of| of.name.clone())
        .collect()
}

/// The file or folder and the platform of `./port/mine.yaml@dgx-h100`; `None` if an argument is no such thing.
fn file_at_platform(what: &str) -> Option<(PathBuf, &str)> {
    let (file, platform) = what.rsplit_once('@')?;
    // A folder without a `./` in front, as in `port@dgx-h100`, is the name of a family.
    let is_one = is_path(file)
        && Path::new(file).exists()
        && (is_path(what) || !Path::new(file).is_dir())
        && !Path::new(what).exists();
    is_one.then(|| (PathBuf::from(file), platform))
}

/// Whether an argument names a file or folder instead of a scenario or platform.
pub(crate) fn is_path(what: &str) -> bool {
    let ends_well = what.ends_with(".yaml") || what.ends_with(".yml") || what.ends_with('/');
    ends_well || what.starts_with(['.', '/']) || Path::new(what).is_dir()
}

/// The files and folders among arguments, and the names.
pub(super) fn paths_and_names(arguments: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let all = arguments.iter().cloned();
    let (paths, names): (Vec<String>, Vec<String>) = all.partition(|what| is_path(what));
    (paths.into_iter().map(PathBuf::from).collect(), names)
}

/// The names of the platforms in these files and folders, which the library was read with. The file of a driver alone is
/// refused; one beside the file of its platform is meant with it.
pub(super) fn platforms_in(paths: &[PathBuf], library: &Library) -> Result<Vec<String>, Stop> {
    let own = (&library.platforms, &library.own_platforms[..]);
    let mut found = Vec::new();
    let mut without = None;
    for path in paths {
        match read_files::platforms_of(path, own) {
            Ok(names) => found.extend(names),
            Err(error) => without = without.or(Some(error)),
        }
    }
    match without {
        Some(error) if found.is_empty() => Err(Stop::input(error)),
        _ => Ok(found),
    }
}

/// The file and the variant of `mine.yaml:two-port`; `None` if an argument is no such thing.
fn variant_of_file(what: &str) -> Option<(PathBuf, &str)> {
    let (file, variant) = what.rsplit_once(':')?;
    let is_one = is_path(file) && !variant.contains('/') && !Path::new(what).exists();
    is_one.then(|| (PathBuf::from(file), variant))
}

/// The platforms in a file or folder with this variant; without any variant if it is empty.
fn variants_in(file: &Path, variant: &str, library: &Library) -> Result<Vec<String>, Stop> {
    let all = platforms_in(&[file.to_owned()], library)?;
    let of = |name: &str| {
        name.split_once(':')
            .map_or(String::new(), |(_, of)| of.to_owned())
    };
    let found = all.iter().filter(|name| of(name) == variant);
    // A name without a colon stands for all variants.
    let found: Vec<String> = match variant.is_empty() {
        true => found.map(|name| format!("{name}:")).collect(),
        false => found.cloned().collect(),
    };
    if !found.is_empty() {
        return Ok(found);
    }
    let there: Vec<String> = all
        .iter()
        .map(|name| of(name))
        .filter(|of| !of.is_empty())
        .collect();
    let file = file.display();
    let stop = Stop::usage(format!("no platform in `{file}` has a variant `{variant}`"));
    Err(stop.hint(match there.is_empty() {
        true => "it has no variants".to_owned(),
        false => format!("there is: {}", there.join(", ")),
    }))
}

fn arms(asked: Option<Arms>, descriptor: &Descriptor) -> Result<BTreeSet<Arm>, Stop> {
    let both = || [Arm::Memory, Arm::Process].into();
    match asked {
        Some(Arms::Memory | Arms::Both) if !descriptor.memory => Err(Stop::usage(format!(
            "`{}` cannot be played in memory",
            descriptor.name
        ))
        .hint("leave `--arm` out, or write `--arm process`")),
        Some(Arms::Memory) => Ok([Arm::Memory].into()),
        Some(Arms::Process) => Ok([Arm::Process].into()),
        Some(Arms::Both) | None => Ok(both()),
    }
}

fn again(monitor: Option<&str>, scenarios: &[PathBuf], platforms: &[PathBuf]) -> Vec<String> {
    let mut words: Vec<String> = scenarios
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    if let Some(monitor) = monitor {
        words.extend(["--monitor".to_owned(), monitor.to_owned()]);
    }
    if !platforms.is_empty() {
        let platforms: Vec<String> = platforms
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        words.extend(["--platform".to_owned(), platforms.join(",")]);
    }
    words
}
