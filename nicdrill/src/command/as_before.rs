//! `--failed` without a monitor or a file: those of the run before. Start at [`as_before`].

use std::path::Path;

use clap::Parser;
use harness::{read_files::Library, run_folder::RunFolder};
use reports::{DrillName, counted};

use super::{
    Stop,
    select::{REFERENCE, is_path},
};
use crate::{arguments::SelectArguments, terminal::log};

/// What the run before was asked for, as its plan has it.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Before {
    #[command(flatten)]
    select: SelectArguments,
    #[arg(long)]
    needs: Option<String>,
}

/// The arguments with what they leave out taken from the run in this folder (scenario files, monitor, platform files),
/// and the needs that it was judged by.
///
/// Nothing stands in for a monitor that the plan does not tell: it is named on the command line, or nothing is repeated.
pub(super) fn as_before(
    arguments: &SelectArguments,
    out: &Path,
) -> Result<(SelectArguments, Option<String>), Stop> {
    // Where there was no run, that is to be told, and not what its plan lacks.
    RunFolder::failed_before(out).map_err(Stop::input)?;
    note_what_was_not_reached(out);
    let mut select = arguments.clone();
    let plan = match RunFolder::plan_before(out) {
        Ok(plan) => plan,
        Err(error) if select.monitor.is_some() => {
            let told = error.to_string();
            let told = told.lines().next().unwrap_or_default();
            log(&format!(
                "NOTE  {told}; its scenario files, platform files and needs are not known either, and are those named here"
            ));
            return Ok((select, None));
        }
        Err(error) => return Err(Stop::input(error)),
    };
    let Before {
        select: before,
        needs,
    } = Before::try_parse_from(&plan.again).map_err(Stop::input)?;
    if select.monitor.is_none() {
        match &before.monitor {
            Some(monitor) => log(&format!("`{monitor}` is drilled, as in the run before")),
            None if plan.monitor != REFERENCE => {
                let found = format!(
                    "the run in `{}` drilled `{}`, and does not tell from which file",
                    out.display(),
                    plan.monitor
                );
                return Err(Stop::usage(found).hint("name it: `--monitor FILE`"));
            }
            None => {}
        }
        select.monitor = before.monitor.or_else(|| Some(REFERENCE.to_owned()));
    }
    if !select.what.iter().any(|what| is_path(what)) {
        select.what.extend(before.what);
    }
    select.against = select.against.or(before.against);
    if select.platform.is_empty() {
        select.platform = before.platform;
    }
    Ok((select, needs))
}

/// Refuses to repeat a part of what failed: a drill whose scenario or platform is not among the files that are read. Where the
/// command line names files, those are meant.
pub(super) fn all_are_here(
    failed: &[DrillName],
    library: &Library,
    names_files: bool,
) -> Result<(), Stop> {
    if names_files {
        return Ok(());
    }
    for drill in failed {
        let (what, name) = if library.scenario(&drill.scenario).is_none() {
            ("scenario", drill.scenario.as_str())
        } else if !has_world(library, drill) {
            ("platform", drill.world.as_str())
        } else {
            continue;
        };
        let found = format!("`{drill}` failed in the run before, and there is no {what} `{name}`");
        return Err(Stop::usage(found).hint(format!("name the file of the {what}")));
    }
    Ok(())
}

fn has_world(library: &Library, drill: &DrillName) -> bool {
    let mut platforms = library.platforms.iter().map(|(name, _)| name);
    let mut worlds = library.worlds.iter().map(scenarios::World::name);
    platforms.any(|name| name == drill.world || name == drill.platform())
        || worlds.any(|name| name == drill.world)
}

/// Says so if lists of the run in this folder do not have all of its drills: what failed in it is not all that there is.
pub(super) fn note_what_was_not_reached(out: &Path) {
    if let Some((left, all)) = RunFolder::not_reached(out) {
        let verb = if left == 1 { "is" } else { "are" };
        log(&format!(
            "NOTE  {left} of the {} of the run before {verb} in none of its lists: it ended early, or they are not whole",
            counted(all as u64, "drill")
        ));
    }
}
