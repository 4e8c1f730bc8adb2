//! How often things happen at a site, as `--mix` names it.

use std::path::Path;

use harness::{
    mix::{self, SiteMix},
    read_files::{self, Library},
};

use super::Stop;

/// The example of the docs.
const EXAMPLE: &str = include_str!("../../../docs/mix.yaml");

/// Reads the mix of a file, or the example; `None` if none is named. `library` is that of the run.
pub(crate) fn read(file: Option<&str>, library: &Library) -> Result<Option<SiteMix>, Stop> {
    let Some(file) = file else { return Ok(None) };
    let text = match file {
        "example" => EXAMPLE.to_owned(),
        file => read_files::text_of(Path::new(file)).map_err(Stop::input)?,
    };
    let mix = mix::read(file, &text, Some(library)).map_err(Stop::input)?;
    Ok(Some(mix))
}
