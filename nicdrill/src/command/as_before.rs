//! `--failed` without a monitor or a file: those of the run before. Start at [`as_before`].

use std::path::Path;

use clap::Parser;
use harness::run_folder::RunFolder;

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
pub(super) fn as_before(
    arguments: &SelectArguments,
    out: &Path,
) -> Result<(SelectArguments, Option<String>), Stop> {
    note_what_was_not_reached(out);
    let mut select = arguments.clone();
    let Some(words) = RunFolder::again(out) else {
        return Ok((select, None));
    };
    let Before {
        select: before,
        needs,
    } = Before::try_parse_from(words).map_err(Stop::input)?;
    if select.monitor.is_none() {
        if let Some(monitor) = &before.monitor {
            log(&format!("`{monitor}` is drilled, as in the run before"));
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

/// Says so if the run in this folder ended early: what failed in it is not all that there is.
pub(super) fn note_what_was_not_reached(out: &Path) {
    if let Some((left, all)) = RunFolder::not_reached(out) {
        log(&format!(
            "NOTE  the run before ended early: {left} of its {all} drills were not reached"
        ));
    }
}
