//! The needs of a site, as `--needs` names them.

use std::path::Path;

use harness::{
    needs::{self, SiteNeeds},
    read_files::{self, Library},
};

use super::Stop;

/// The example of the docs.
const EXAMPLE: &str = include_str!("../../../docs/needs.yaml");

/// Reads the needs of a file, or the example; `None` if none are named. They may be about counters of this library.
pub(crate) fn read(file: Option<&str>, library: &Library) -> Result<Option<SiteNeeds>, Stop> {
    let Some(file) = file else { return Ok(None) };
    let text = match file {
        "example" => EXAMPLE.to_owned(),
        file => read_files::text_of(Path::new(file)).map_err(Stop::input)?,
    };
    let needs = needs::read(file, &text, Some(library)).map_err(Stop::input)?;
    Ok(Some(needs))
}
