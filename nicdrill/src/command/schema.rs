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
        SchemaOf::Profile => json_schema::profile(),
        SchemaOf::Driver => json_schema::driver(),
        SchemaOf::Descriptor => json_schema::descriptor(),
        SchemaOf::Scenario => json_schema::scenario(),
        SchemaOf::World => json_schema::world(),
        SchemaOf::Known => json_schema::known(),
        SchemaOf::Needs => json_schema::needs(),
        SchemaOf::Mix => json_schema::mix(),
    };
    Terminal::new(Color::Never).out(&format!("{form}\n"));
    Ok(ExitCode::Success)
}
