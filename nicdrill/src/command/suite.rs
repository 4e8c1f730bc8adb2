//! `nicdrill suite check`: which lines of scenarios assert nothing.

use std::process;

use harness::{
    SharedTrees,
    suite::{CheckedLine, CheckedScenario, Checking, NotShown, Selected, Starting, check_lines},
};
use reports::ExitCode;
use terms::Arm;

use super::{
    Stop,
    select::{Choice, REFERENCE, choose},
    stage::{self, Here, Standing},
};
use crate::{
    arguments::{SelectArguments, SuiteCheckArguments, SuiteCommand},
    pages::suite_check_page,
    terminal::{Terminal, log},
};

/// Runs a command on a suite.
pub(crate) fn suite(command: &SuiteCommand) -> Result<process::ExitCode, Stop> {
    match command {
        SuiteCommand::Check(arguments) => check(arguments),
    }
}

/// Alters the lines of the selected scenarios, and lists what nothing notices.
fn check(arguments: &SuiteCheckArguments) -> Result<process::ExitCode, Stop> {
    if arguments.select.monitor.is_some() {
        let why = "the lines of a suite are checked with the reference monitor";
        return Err(Stop::usage(why).hint("leave `--monitor` out"));
    }
    if arguments.every == 0 {
        return Err(Stop::usage("`--every` is at least 1"));
    }
    let select = SelectArguments {
        monitor: Some(REFERENCE.to_owned()),
        ..arguments.select.clone()
    };
    let mut choice = choose(&select, 0)?;
    sample(&mut choice.selected, arguments.every, arguments.seed);
    let drills = &choice.selected.drills;
    if drills.is_empty() {
        log("nothing was selected");
        log("hint: `nicdrill list --drills` with the same names and flags prints why");
        return Ok(ExitCode::NothingJudged.into());
    }
    let as_process = |planned: &reports::PlannedDrill| planned.arms.contains(&Arm::Process);
    match stage::set(drills.iter().any(as_process)) {
        Standing::Outside(code) => Ok(code.into()),
        Standing::Here(here) => checked(arguments, &choice, &here).map(Into::into),
    }
}

/// Keeps the drills of every n-th scenario, beginning with the one of this number, modulo `every`.
fn sample(selected: &mut Selected, every: usize, seed: u64) {
    let first = usize::try_from(seed % every as u64).unwrap_or_default();
    let scenarios = selected.by_scenario().into_iter();
    let kept = scenarios.skip(first).step_by(every).flatten().cloned();
    selected.drills = kept.collect();
}

fn checked(
    arguments: &SuiteCheckArguments,
    choice: &Choice,
    here: &Here,
) -> Result<ExitCode, Stop> {
    let starting = Starting {
        pin: true,
        tell: Some(log),
        ..Starting::default()
    };
    let stage = here.stage.as_ref();
    let players = |job| match stage {
        Ok(stage) => starting.player(stage, job),
        Err(reason) => Err(reason.clone()),
    };
    let how = Checking {
        jobs: arguments.jobs,
        process: &players,
        trees: SharedTrees::default(),
        interruption: &here.interruption,
    };
    let Choice {
        library, selected, ..
    } = choice;
    let mut descriptor = choice.descriptor.clone();
    if let Some(page) = &mut descriptor.metrics {
        // A metric that it has not is a misspelt one.
        let names = checks::metrics::METRICS.iter().map(|of| of.name.to_owned());
        page.names = Some(names.collect());
    }
    let mut terminal = Terminal::new(arguments.color);
    terminal.begin(selected.by_scenario().len(), false);
    let checked = check_lines(library, &descriptor, selected, &how, |_| {
        terminal.step(false)
    });
    terminal.end();
    let checked: Vec<CheckedScenario> = checked.map_err(|error| here.stopped(&error))?;
    terminal.out(&suite_check_page(
        &checked,
        &choice.again,
        arguments.verbose,
    ));
    let nothing_noticed =
        |line: &CheckedLine| line.asserts_nothing() || line.unnoticed().next().is_some();
    let is_nowhere = |of: &CheckedScenario| of.never_judged.iter().any(|of| of.fits.is_empty());
    let is_red = |(_, of): &(_, NotShown)| matches!(of, NotShown::Red(_));
    let (code, why) = if checked
        .iter()
        .any(|of| of.lines.iter().any(nothing_noticed))
    {
        (ExitCode::JudgedWrongly, "a line asserts nothing")
    } else if checked.iter().any(is_nowhere) {
        (ExitCode::JudgedWrongly, "a line fits no platform")
    } else if checked.iter().any(|of| of.not_shown.iter().any(is_red)) {
        (ExitCode::JudgedWrongly, "a drill is red as it is")
    } else if checked.iter().any(|of| of.played == 0) {
        (ExitCode::StageNotSet, "a scenario could not be played")
    } else {
        return Ok(ExitCode::Success);
    };
    log(&format!("exit code {code}: {why}"));
    Ok(code)
}
