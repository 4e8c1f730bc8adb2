//! `nicdrill schema`: prints the JSON Schema of a file, for an editor.

use crate::json_schema;
use reports::ExitCode;

use super::Stop;
use crate::{
    arguments::{Color, SchemaOf},
    terminal::Terminal,
};

/// Prints a JSON Schema.
pub(crate) fn schema(of: SchemaOf) -> Result<ExitCode, Stop> {
    let form = match of {
        SchemaOf::Profile => schema::profile(),
        SchemaOf::Driver => schema::driver(),
        SchemaOf::Descriptor => schema::descriptor(),
        SchemaOf::Scenario => schema::scenario(),
        SchemaOf::World => schema::world(),
    };
    Terminal::new(Color::Never).out(&format!("{form}\n"));
    Ok(ExitCode::Success)
}
