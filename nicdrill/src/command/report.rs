//! `nicdrill report merge`: puts the shards of a run together.

use std::fs;

use clap::Parser as _;
use harness::{
    run_folder::Shards,
    suite::{self, Before, How, Joined},
};
use reports::ExitCode;

use super::{
    Stop, excuses, needs,
    report_output::reports_asked_for,
    run::{Outputs, RunOutput, again_with, folder_of, names_its_monitor, tell},
    select::choose,
};
use crate::{
    arguments::{Arguments, Command, MergeArguments, Required, RunArguments},
    terminal::{Terminal, log},
};

/// Puts the shards of a run together.
pub(crate) fn report_merge(merging: &MergeArguments) -> Result<ExitCode, Stop> {
    let told = &merging.tell;
    let reports = reports_asked_for(told, merging.out.as_deref())?;
    let shards = Shards::read(&merging.dirs).map_err(Stop::input)?;
    let asked = shards.asked().to_vec();
    let mut arguments = as_asked(&asked)?;
    arguments.select.out.clone_from(&merging.out);
    let choice = choose(&arguments.select, arguments.how.seed)?;
    // Words that leave the monitor to `nicdrill.toml` stand for another one where that is not.
    let same = shards.drilled(&choice.descriptor, &choice.again);
    same.map_err(Stop::input)?;
    // `sudo` hides `CI` from the shards.
    names_its_monitor(
        &choice,
        "these shards drilled nicdrill's own monitor, not yours",
    )?;
    let out = fs::canonicalize(&choice.out).ok();
    if out.is_some()
        && shards
            .paths()
            .any(|path| fs::canonicalize(path).ok() == out)
    {
        let out = choice.out.display();
        let what = format!("`{out}` is one of the shards, and the merged run would take its place");
        return Err(Stop::usage(what).hint("name another folder: `--out DIR`"));
    }
    let excuses = excuses::excuses(&arguments, &choice)?;
    let needs = needs::read(
        arguments.how.needs.as_deref().or(choice.needs.as_deref()),
        &choice.library,
    )?;
    let how = How {
        jobs: arguments.how.jobs,
        require_process: arguments.how.require == Some(Required::Process),
        allow_skips: arguments.how.allow_skips,
        keep: arguments.how.keep,
        excuses,
        again: again_with(&choice, needs.as_ref()),
        needs,
        coverage: arguments.reporting.coverage.then_some(choice.covering),
        asked,
        ..How::default()
    };
    let joined = Joined::of(&shards, &choice.selected, &choice.library).map_err(Stop::input)?;
    for lost in shards.lost() {
        log(&format!("NOTE  {lost}"));
    }
    // The run folder may have an earlier run, which is read before it is put aside.
    let before = Before::read(&choice.out);
    let folder = folder_of(&choice, told)?;
    let mut terminal = Terminal::new(told.color);
    terminal.begin(choice.selected.drills.len(), true);
    let mut output = RunOutput::new(terminal, folder, None, told);
    let (library, descriptor) = (&choice.library, &choice.descriptor);
    let merged = suite::merge(
        library,
        descriptor,
        &choice.selected,
        &how,
        joined,
        &mut output,
    );
    let report = merged.map_err(Stop::input)?;
    let contents = before.after(library, &choice.selected.drills, &report.drills);
    output.write(|folder| folder.keep_contents(&contents));
    let outputs = Outputs {
        reports: &reports,
        choice: &choice,
        known: how.excuses.known_file(),
        told,
    };
    Ok(tell(&report, output, &outputs))
}

/// The arguments of the run whose shards these are.
fn as_asked(asked: &[String]) -> Result<RunArguments, Stop> {
    let words = ["nicdrill"]
        .into_iter()
        .chain(asked.iter().map(String::as_str));
    match Arguments::try_parse_from(words) {
        Ok(Arguments {
            command: Command::Run(arguments),
        }) => {
            if arguments.select.failed {
                log("NOTE  `--failed` is of the run before on this machine");
            }
            Ok(*arguments)
        }
        Ok(_) => Err(Stop::usage("the shards are not those of `nicdrill run`")),
        Err(error) => Err(Stop::usage(format!(
            "the shards were asked with words that this version does not know: {error}"
        ))),
    }
}
