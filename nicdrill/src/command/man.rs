//! `nicdrill man`: writes the manual pages, made from the arguments.

use std::{fs, path::Path};

use clap::CommandFactory as _;
use clap_mangen::generate_to;
use reports::ExitCode;

use super::Stop;
use crate::arguments::Arguments;

/// Writes a page for the command, and one for each of its commands, into this folder.
pub(crate) fn man(dir: &Path) -> Result<ExitCode, Stop> {
    let written = fs::create_dir_all(dir).and_then(|()| generate_to(Arguments::command(), dir));
    written.map_err(|error| {
        let text = format!("`{}` cannot be written: {error}", dir.display());
        Stop::with(ExitCode::ReportNotWritten, text)
    })?;
    Ok(ExitCode::Success)
}
