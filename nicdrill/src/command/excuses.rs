//! What does not count as a failure in a run: `known.toml`, and the run of `--baseline`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use harness::{
    near,
    read_files::{Library, text_of},
    run_folder::RunFolder,
    suite::{self, Ask},
};
use reports::{Baseline, Day, DrillName, Excuses, KnownDeviations};
use terms::Arm;

use super::{Stop, select::Choice};
use crate::{arguments::RunArguments, terminal::log};

/// The file of known deviations in the current folder.
const FILE: &str = "known.toml";

/// Reads what the arguments and the current folder name.
pub(super) fn excuses(arguments: &RunArguments, choice: &Choice) -> Result<Excuses, Stop> {
    let named = arguments.reporting.known.as_deref();
    let known = read_known(named.unwrap_or(Path::new(FILE)), named.is_some())?;
    if let Some(known) = &known {
        for note in unknown_names(known, &choice.library)? {
            log(&format!("NOTE  {note}"));
        }
    }
    let baseline = arguments.reporting.baseline.as_deref();
    let baseline = baseline.map(|folder| baseline_in(folder, choice));
    let excuses = Excuses {
        known: known.map(|known| (known, today())),
        baseline: baseline.transpose()?,
        ..Excuses::default()
    };
    if excuses.is_empty() {
        return Ok(excuses);
    }
    Ok(Excuses {
        playable: playable(choice)?,
        ..excuses
    })
}

/// The findings of the run in a folder, whose monitor is told if it is another one.
fn baseline_in(folder: &Path, choice: &Choice) -> Result<Baseline, Stop> {
    let baseline = RunFolder::baseline(folder).map_err(Stop::input)?;
    let before = RunFolder::plan_before(folder).map_err(Stop::input)?.monitor;
    let now = &choice.descriptor.name;
    if before != *now {
        let folder = folder.display();
        log(&format!(
            "NOTE  the baseline in `{folder}` is of `{before}`, and `{now}` is drilled"
        ));
    }
    Ok(baseline)
}

/// What is said of entries about scenarios that neither the run nor the built-in suite has, and of drills that neither has:
/// they excuse nothing.
fn unknown_names(known: &KnownDeviations, library: &Library) -> Result<Vec<String>, Stop> {
    let built_in = match library.own_scenarios {
        true => Library::read(&[], &[]).map_err(Stop::input)?.scenarios,
        false => Vec::new(),
    };
    let scenarios = library.scenarios.iter().chain(&built_in);
    let scenarios: Vec<&str> = scenarios.map(|scenario| scenario.name.as_str()).collect();
    let platforms: Vec<&str> = library.platforms.iter().map(|(name, _)| name).collect();
    let worlds = library.worlds.iter().map(scenarios::World::name);
    let platforms: Vec<&str> = platforms.into_iter().chain(worlds).collect();
    let mut notes = Vec::new();
    for entry in &known.entries {
        let mut note = |what: &str, name: &str, all: &[&str]| {
            let near = near::did_you_mean(&near::names(name, all));
            let near = near.map_or_else(String::new, |near| format!("; {near}"));
            let place = format!("{}:{}", known.file, entry.line);
            notes.push(format!("{place}: there is no {what} `{name}`{near}"));
        };
        if !scenarios.iter().any(|scenario| entry.is_about(scenario)) {
            note("scenario", entry.scenario(), &scenarios);
        }
        if let Some(DrillName { scenario, world }) = &entry.drill {
            if !scenarios.contains(&scenario.as_str()) && scenario != entry.scenario() {
                note("scenario", scenario, &scenarios);
            }
            if !platforms.contains(&world.as_str()) {
                note("platform", world, &platforms);
            }
        }
    }
    Ok(notes)
}

/// Every drill of the suite that the monitor can play, with every arm in which it can.
fn playable(choice: &Choice) -> Result<BTreeMap<DrillName, BTreeSet<Arm>>, Stop> {
    let all = Ask {
        full: true,
        ..Ask::default()
    };
    let selected = suite::select(&choice.library, &choice.descriptor, &all);
    let drills = selected.map_err(Stop::input)?.drills.into_iter();
    Ok(drills
        .map(|planned| (planned.drill, planned.arms.into_iter().collect()))
        .collect())
}

/// Reads a file of known deviations; `None` if there is none and none is demanded.
pub(super) fn read_known(path: &Path, must_exist: bool) -> Result<Option<KnownDeviations>, Stop> {
    let name = path.display();
    match fs::metadata(path) {
        Ok(_) => {
            let text = text_of(path).map_err(Stop::input)?;
            let known = KnownDeviations::read(&name.to_string(), &text);
            known.map(Some).map_err(Stop::input)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => Err(Stop::usage(format!("`{name}` cannot be read: {error}"))
            .hint("`nicdrill accept` writes such a file")),
    }
}

/// Today's date in UTC.
pub(super) fn today_in_utc() -> jiff::civil::Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = i64::try_from(since.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
    let now = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
    now.to_zoned(jiff::tz::TimeZone::UTC).date()
}

fn today() -> Day {
    let date = today_in_utc();
    let positive = "a date since 1970 has no negative part";
    Day {
        year: date.year().try_into().expect(positive),
        month: date.month().try_into().expect(positive),
        day: date.day().try_into().expect(positive),
    }
}
