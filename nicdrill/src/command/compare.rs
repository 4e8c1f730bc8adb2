//! `nicdrill compare`: several monitors in the same drills, judged by the same needs, side by side.
//!
//! All are played as processes, one after another, in drills that each of them can play. A monitor that cannot be
//! played does not stop the others; the table says why, and its exit code is the command's.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process,
};

use harness::{
    mix::SiteMix,
    needs::SiteNeeds,
    read_files::{self, Library},
    run_folder::write_report,
    suite::{Ask, Common, Compared, Filter, Interviewing, Selected, Starting, choose_common, hear},
};
use judge::{HeardBy, compared};
use observe::{Descriptor, shipped_descriptors};
use reports::{
    Comparison, Conceded, ExitCode, ProbeOutcome, comparison_html, comparison_page, quoted,
};

use super::{
    Stop, mix, needs,
    select::{is_path, paths_and_names, platforms_in},
    stage::{self, Here, Standing},
};
use crate::{
    arguments::CompareArguments,
    settings::Settings,
    terminal::{Terminal, log},
};

/// Plays the monitors and prints the table.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<process::ExitCode, Stop> {
    let (monitors, what): (Vec<&String>, Vec<&String>) =
        arguments.what.iter().partition(|word| is_monitor(word));
    if monitors.is_empty() {
        return Err(Stop::usage(format!("`{}` is no monitor", arguments.what[0]))
            .hint("name at least one: a shipped descriptor, such as `reference`, a descriptor's file, or a program's path"));
    }
    let monitors = read(arguments, &monitors, &what)?;
    let needs = needs::read(Some(&arguments.needs), &monitors[0].library)?;
    let needs = needs.expect("needs were named");
    let mix = mix::read(arguments.mix.as_deref(), &monitors[0].library)?;
    let sides: Vec<Compared<'_>> = monitors.iter().map(Side::compared).collect();
    let ask = ask(arguments, &what, &monitors)?;
    let is_sample = what.is_empty() && !arguments.full && arguments.filter.is_none();
    let common = choose_common(&sides, &ask, is_sample.then_some(&needs.needs));
    let common = common.map_err(Stop::input)?;
    if common.drills.is_empty() {
        log("nothing was selected that all of them can play");
        for (side, reasons) in monitors.iter().zip(&common.left_out) {
            for (reason, count) in reasons {
                log(&format!("{count} for {}: {reason}", side.name));
            }
        }
        return Ok(ExitCode::NothingJudged.into());
    }
    match stage::set(true) {
        Standing::Outside(code) => Ok(code.into()),
        Standing::Here(here) => {
            let asked = Asked {
                monitors: &monitors,
                common: &common,
                needs: &needs,
                mix: mix.as_ref(),
            };
            played(arguments, &asked, &here).map(Into::into)
        }
    }
}

/// Whether a word of the command line names a monitor, and not what to play.
fn is_monitor(word: &str) -> bool {
    if shipped_descriptors().any(|(file, _)| file.strip_suffix(".yaml") == Some(word)) {
        return true;
    }
    let path = Path::new(word);
    if !word.ends_with(".yaml") && !word.ends_with(".yml") {
        return word.contains('/') && path.is_file();
    }
    // A file that cannot be read is told as one of a scenario.
    let text = read_files::text_of(path).unwrap_or_default();
    text.lines()
        .any(|line| line.starts_with("descriptor_version"))
}

/// One of the monitors.
struct Side {
    name: String,
    library: Library,
    descriptor: Descriptor,
}

impl Side {
    fn compared(&self) -> Compared<'_> {
        Compared {
            library: &self.library,
            descriptor: &self.descriptor,
        }
    }

    /// About which kinds it promises less than the documents ask.
    fn conceded(&self) -> BTreeMap<String, Conceded> {
        let conceded = self.descriptor.promises.conceded().into_iter();
        let of = conceded.map(|it| {
            let conceded = Conceded {
                in_short: it.in_short,
                hides: it.hides,
                scenario: it.scenario.to_owned(),
            };
            (it.kind.to_string(), conceded)
        });
        of.collect()
    }
}

/// Reads the monitors, each with the library as it watches it.
fn read(
    arguments: &CompareArguments,
    monitors: &[&String],
    what: &[&String],
) -> Result<Vec<Side>, Stop> {
    let settings = Settings::read()?;
    let paths = what.iter().filter(|what| is_path(what));
    let mut scenarios: Vec<PathBuf> = paths.map(PathBuf::from).collect();
    if scenarios.is_empty() {
        scenarios.clone_from(&settings.scenarios);
    }
    let own = arguments.platform.iter().filter(|what| is_path(what));
    let own: Vec<PathBuf> = own.map(PathBuf::from).chain(settings.platforms).collect();
    let library = Library::read(&scenarios, &own).map_err(Stop::input)?;
    let read_monitor = |asked: &&String| read_files::read_monitor(asked, &library);
    let descriptors = monitors.iter().map(read_monitor);
    let descriptors: Vec<Descriptor> =
        descriptors.collect::<Result<_, _>>().map_err(Stop::input)?;
    let mut sides = Vec::new();
    for (asked, descriptor) in monitors.iter().zip(&descriptors) {
        let name = &descriptor.name;
        let is_alone = descriptors
            .iter()
            .filter(|other| other.name == *name)
            .count()
            == 1;
        sides.push(Side {
            name: if is_alone {
                name.clone()
            } else {
                (*asked).clone()
            },
            library: library.clone().watched_by(descriptor),
            descriptor: descriptor.clone(),
        });
    }
    Ok(sides)
}

fn ask(arguments: &CompareArguments, what: &[&String], monitors: &[Side]) -> Result<Ask, Stop> {
    let names = what.iter().filter(|what| !is_path(what));
    let (own, mut platforms) = paths_and_names(&arguments.platform);
    if let (false, Some(side)) = (own.is_empty(), monitors.first()) {
        platforms.extend(platforms_in(&own, &side.library)?);
    }
    let filter = arguments.filter.as_deref().map(Filter::read).transpose();
    Ok(Ask {
        names: names.map(|name| (*name).clone()).collect(),
        platforms,
        filter: filter.map_err(Stop::input)?,
        full: arguments.full,
        ..Ask::default()
    })
}

/// What is compared by what.
struct Asked<'a> {
    monitors: &'a [Side],
    common: &'a Common,
    needs: &'a SiteNeeds,
    mix: Option<&'a SiteMix>,
}

fn played(arguments: &CompareArguments, asked: &Asked<'_>, here: &Here) -> Result<ExitCode, Stop> {
    let mut terminal = Terminal::new(arguments.color);
    let drills = &asked.common.drills;
    terminal.begin(drills.len() * asked.monitors.len(), false);
    let mut heard = Vec::new();
    let mut code = ExitCode::Success;
    for (side, left_out) in asked.monitors.iter().zip(&asked.common.left_out) {
        let mut of = HeardBy {
            name: side.name.clone(),
            speaks: side.descriptor.speaks.word(),
            left_out: left_out.clone(),
            conceded: side.conceded(),
            ..HeardBy::default()
        };
        match one(arguments, asked, (side, here), &mut || terminal.step(false)) {
            Ok(drills) => of.drills = drills,
            Err((reason, not_played)) => {
                of.not_played = Some(quoted(&reason));
                code = code.or(not_played);
            }
        }
        heard.push(of);
    }
    terminal.end();
    let mix = asked.mix.map(|of| &of.mix);
    let comparison = Comparison {
        needs: asked.needs.file.clone(),
        mix: asked.mix.map(|of| of.file.clone()),
        drills: drills.clone(),
        monitors: compared(drills, &heard, mix),
    };
    terminal.out(&comparison_page(&comparison, terminal.style()));
    let mut unwritten = Vec::new();
    let mut write = |path: &Path, text: &str| {
        let written = write_report(path, text);
        unwritten.extend(written.err().map(|error| error.to_string()));
    };
    if let Some(path) = &arguments.json {
        write(path, &comparison.json());
    }
    if let Some(path) = &arguments.report {
        write(path, &comparison_html(&comparison));
    }
    if !unwritten.is_empty() {
        let text = unwritten.join("\nerror: ");
        return Err(Stop::with(ExitCode::ReportNotWritten, text));
    }
    if code != ExitCode::Success {
        log(&format!("exit code {code}: {}", code.meaning()));
    }
    Ok(code)
}

/// Plays the drills with one monitor; or why it cannot be played, with the exit code.
fn one(
    arguments: &CompareArguments,
    asked: &Asked<'_>,
    (side, here): (&Side, &Here),
    step: &mut dyn FnMut(),
) -> Result<Vec<judge::Noticed>, (String, ExitCode)> {
    let not_set = |reason: String| (reason, here.exit_code(ExitCode::StageNotSet));
    let stage = here
        .stage
        .as_ref()
        .map_err(|reason| not_set(reason.to_string()))?;
    let starting = Starting {
        pin: !arguments.no_pin,
        tell: Some(log),
        ..Starting::default()
    };
    let drills = &asked.common.drills;
    let probed = starting.probe(
        stage,
        &side.library,
        &side.descriptor,
        &Selected::of_processes(drills.iter().cloned()),
    );
    if let ProbeOutcome::Failed { reason, exit_code } = probed.outcome {
        return Err((reason, here.exit_code(exit_code)));
    }
    let how = Interviewing {
        jobs: arguments.jobs,
        starting: &starting,
        stage,
        interruption: &here.interruption,
    };
    let needs = &asked.needs.needs;
    hear(side.compared(), drills, needs, &how, |_| step())
        .map_err(|error| not_set(error.to_string()))
}
