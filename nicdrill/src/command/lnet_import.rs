//! `nicdrill lnet import`: prints a scenario for the LNet of a node.

use std::path::Path;

use harness::read_files;
use reports::ExitCode;

use super::Stop;
use crate::{arguments::Color, pages::imported, terminal::Terminal};

/// Reads what `lnetctl export` wrote, and prints the scenario.
pub(crate) fn lnet_import(file: &Path) -> Result<ExitCode, Stop> {
    let text = read_files::text_of(file).map_err(Stop::input)?;
    let page = imported(&file.display().to_string(), &text).map_err(Stop::input)?;
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}
