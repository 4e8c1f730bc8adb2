//! `nicdrill zoo`: the suite against every deliberately wrong monitor; each must be caught.
//!
//! A wrong monitor is played in memory, on one platform for each scenario, and is done when it is caught: first in the
//! scenarios that cover a clause which names it, then in all others, then in the very long drills and on the other platforms.
//! With `--full` it plays every scenario on every platform, and a scenario that catches nobody and states no row of a table
//! is a finding as well. A drill that the right monitor fails does not count. The first drill that catches a monitor is played
//! once more as a process, and must catch it there too. [`page`] prints the results.

mod hunt;
mod page;

use std::process;

use ::zoo::{Mutant, mutants};
use reports::ExitCode;

use self::hunt::Hunt;
use super::{
    Stop,
    select::choose,
    stage::{self, Standing},
    wrong_monitor,
};
use crate::{
    arguments::{Arms, Color, ZooArguments},
    terminal::{Terminal, log},
};

/// Hunts every wrong monitor, or lists them.
pub(crate) fn zoo(arguments: &ZooArguments) -> Result<process::ExitCode, Stop> {
    let asked = asked(arguments)?;
    if arguments.list {
        let page = page::list(&asked, !arguments.mutants.is_empty());
        Terminal::new(Color::Never).out(&page);
        return Ok(ExitCode::Success.into());
    }
    let mut select = arguments.select.clone();
    select.full = true;
    let choice = choose(&select, 0)?;
    if !choice.descriptor.memory {
        return Err(Stop::usage(format!(
            "`{}` has no wrong siblings",
            choice.descriptor.name
        ))
        .hint("the zoo is the reference monitor's"));
    }
    let in_process = arguments.select.arm != Some(Arms::Memory);
    let here = match stage::set(in_process) {
        Standing::Outside(code) => return Ok(code.into()),
        Standing::Here(here) => here,
    };
    let hunt = Hunt::new(&choice, &here, arguments.jobs, arguments.select.full);
    if hunt.is_empty() {
        log("nothing was selected that can be played in memory");
        return Ok(ExitCode::NothingJudged.into());
    }
    let mut terminal = Terminal::new(Color::Never);
    let mut control = hunt.control();
    let mut caught = Vec::new();
    for mutant in &asked {
        let one = hunt.one(&mut control, *mutant, in_process);
        // What was played of an interrupted hunt says nothing.
        if here.interruption.is_asked_for() {
            break;
        }
        caught.push(one);
    }
    terminal.out(&page::table(&caught));
    let lives = caught.iter().filter(|one| one.lives()).count();
    // A scenario is idle only in the face of all of them, and if each has played it.
    let is_whole = arguments.select.full && caught.len() == mutants().len();
    let idle = is_whole.then(|| hunt.idle(&control, &caught));
    terminal.out(&page::idle(idle.as_deref().unwrap_or_default()));
    terminal.out(&page::sum(&caught, idle.as_deref()));
    if let Some(code) = here.interruption.exit_code() {
        log(&format!(
            "interrupted: {} of {} wrong monitors were hunted",
            caught.len(),
            asked.len()
        ));
        log(&format!("exit code {code}: {}", code.meaning()));
        return Ok(code.into());
    }
    let (wrong, all) = control.wrong_of_all();
    if wrong > 0 {
        log(&format!(
            "the right monitor fails {wrong} of {all} drills; they catch nobody"
        ));
    }
    if lives == 0 && idle.is_none_or(|idle| idle.is_empty()) {
        return Ok(ExitCode::Success.into());
    }
    log("exit code 100: a wrong monitor was not caught, or a scenario catches none");
    Ok(ExitCode::JudgedWrongly.into())
}

/// The wrong monitors that are asked for: all, unless some are named.
fn asked(arguments: &ZooArguments) -> Result<Vec<Mutant>, Stop> {
    let names = &arguments.mutants;
    if let Some(unknown) = names.iter().find(|name| ::zoo::find(name).is_none()) {
        return Err(wrong_monitor::unknown(unknown));
    }
    let is_asked = |mutant: &Mutant| names.is_empty() || names.iter().any(|it| it == mutant.name);
    Ok(mutants().into_iter().filter(is_asked).collect())
}
