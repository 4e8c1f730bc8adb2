//! `nicdrill run`: the main job.

use std::{
    env,
    path::{Path, PathBuf},
};

use harness::{
    run_folder::{Artifact, RunFolder, RunFolderError, write_report},
    suite::{self, Audience, How},
};
use reports::{DrillName, ExitCode, RunEvent, RunReport, event_line, summary_line};

use super::{
    Stop,
    select::{Choice, choose, is_path},
};
use crate::{
    arguments::{HowArguments, Required, RunArguments, ToldArguments},
    terminal::{Terminal, talk},
};

/// Runs drills and tells them.
pub(crate) fn run(arguments: RunArguments) -> Result<ExitCode, Stop> {
    refuse_what_is_not_built(&arguments)?;
    let reports = reports_asked_for(&arguments.told)?;
    may_bless(&arguments)?;
    let choice = choose(&arguments.select, arguments.how.seed)?;
    let how = how(&arguments, &choice)?;
    let mut terminal = Terminal::new(arguments.told.color);
    if choice.selected.drills.is_empty() {
        talk(&format!(
            "nothing was selected; {} pairs do not fit\nhint: `nicdrill list` tells why",
            choice.selected.not_applicable.len()
        ));
        return Ok(ExitCode::NothingSelected);
    }
    let folder = RunFolder::create(&choice.out).map_err(|error| match error {
        RunFolderError::NotOurs { .. } => Stop::input(error),
        other => Stop { code: ExitCode::ReportNotWritten, text: other.to_string() },
    })?;
    terminal.begin(choice.selected.drills.len());
    let mut told = Told { terminal, folder: Some(folder), repeat: None, unwritten: None };
    let report =
        suite::run(&choice.library, &choice.descriptor, &choice.selected, &how, &mut told);
    let Told { mut terminal, mut unwritten, .. } = told;
    terminal.end();
    for (kind, path) in &reports {
        let written = kind.text(&report).and_then(|text| {
            write_report(path, &text).map_err(|error| error.to_string())
        });
        if let Err(error) = written {
            unwritten.get_or_insert(error);
        }
    }
    terminal.out(&summary_line(&report, terminal.style()));
    let code = report.exit_code.unwrap_or(ExitCode::InternalFault);
    if let Some(error) = unwritten {
        talk(&format!("error: {error}"));
        return Ok(code.or(ExitCode::ReportNotWritten));
    }
    if code != ExitCode::Success {
        talk(&format!("exit code {code}: {}", code.meaning()));
    }
    Ok(code)
}

fn refuse_what_is_not_built(arguments: &RunArguments) -> Result<(), Stop> {
    if arguments.how.store.is_some() {
        return Err(Stop::not_built("--store"));
    }
    if arguments.how.coverage {
        return Err(Stop::not_built("--coverage"));
    }
    Ok(())
}

/// A form in which a run can be told.
#[derive(Clone, Copy, Debug)]
enum Form {
    JUnit,
    Json,
}

impl Form {
    fn text(self, report: &RunReport) -> Result<String, String> {
        match self {
            Self::JUnit => reports::junit(report).map_err(|error| error.to_string()),
            Self::Json => Ok(reports::results(report)),
        }
    }
}

fn reports_asked_for(told: &ToldArguments) -> Result<Vec<(Form, PathBuf)>, Stop> {
    let form = |asked: &String| match asked.split_once('=') {
        Some(("junit", path)) if !path.is_empty() => Ok((Form::JUnit, PathBuf::from(path))),
        Some(("json", path)) if !path.is_empty() => Ok((Form::Json, PathBuf::from(path))),
        Some(("html", _)) => Err(Stop::not_built("--report html")),
        _ => Err(Stop::usage(format!(
            "`--report {asked}` cannot be read\nhint: write `junit=FILE`, `json=FILE`, or both with a comma"
        ))),
    };
    told.report.iter().map(form).collect()
}

/// A golden trace is renewed by a person, on files of theirs, and never by a machine.
fn may_bless(arguments: &RunArguments) -> Result<(), Stop> {
    if !arguments.told.bless {
        return Ok(());
    }
    if env::var_os("CI").is_some() {
        return Err(Stop::usage("`--bless` is refused while CI is set"));
    }
    if !arguments.select.what.iter().any(|what| is_path(what)) {
        return Err(Stop::usage(
            "`--bless` needs a suite given by path\nhint: `nicdrill run ./scenarios/suite --bless`",
        ));
    }
    Ok(())
}

fn how(arguments: &RunArguments, choice: &Choice) -> Result<How, Stop> {
    let HowArguments { jobs, repeat, .. } = arguments.how;
    if jobs == Some(0) {
        return Err(Stop::usage("`--jobs` is at least 1"));
    }
    if repeat == Some(0) {
        return Err(Stop::usage("`--repeat` is at least 1"));
    }
    let wrap = arguments.how.wrap.as_deref().unwrap_or_default();
    Ok(How {
        jobs,
        pin: !arguments.how.no_pin,
        fail_fast: arguments.how.fail_fast,
        keep: arguments.how.keep,
        repeat,
        wrap: wrap.split_whitespace().map(str::to_owned).collect(),
        require_process: arguments.how.require == Some(Required::Process),
        allow_skips: arguments.how.allow_skips,
        bless: arguments.told.bless,
        species: None,
        asked: env::args().skip(1).collect(),
        again: choice.again.clone(),
        panic_for_test: arguments.how.test_panic,
        stale_for_test: arguments.how.test_stale,
    })
}

/// The terminal and the run folder, as they hear of a run.
struct Told {
    terminal: Terminal,
    folder: Option<RunFolder>,
    repeat: Option<RunFolder>,
    /// The first thing that could not be written.
    unwritten: Option<String>,
}

impl Told {
    fn write(&mut self, write: impl FnOnce(&mut RunFolder) -> Result<(), RunFolderError>) {
        let folder = self.repeat.as_mut().or(self.folder.as_mut());
        if let Some(Err(error)) = folder.map(write) {
            self.unwritten.get_or_insert(error.to_string());
        }
    }
}

impl Audience for Told {
    fn hear(&mut self, event: &RunEvent) {
        if let Some(text) = event_line(event, self.terminal.style()) {
            self.terminal.out(&text);
        }
        if matches!(
            event,
            RunEvent::DrillPassed(_) | RunEvent::DrillFailed(_) | RunEvent::DrillSkipped(_)
        ) {
            self.terminal.step();
        }
        self.write(|folder| folder.take(event));
    }

    fn receive(&mut self, drill: &DrillName, artifacts: &[Artifact]) {
        self.write(|folder| folder.keep(drill, artifacts));
    }

    fn repeat(&mut self, number: u32) {
        self.repeat = None;
        match self.folder.as_ref().map(|folder| folder.repeat(number)) {
            Some(Ok(folder)) => self.repeat = Some(folder),
            Some(Err(error)) => {
                self.unwritten.get_or_insert(error.to_string());
            }
            None => {}
        }
    }

    fn whole(&mut self) {
        self.repeat = None;
    }

    fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(RunFolder::path)
    }
}
