//! The forms of files as JSON Schema texts: those that the rooms make of what reads the files.

use serde_json::Value;

/// A platform's file.
#[must_use]
pub(crate) fn profile() -> String {
    text(&platforms::profile_schema())
}

/// A driver's file.
#[must_use]
pub(crate) fn driver() -> String {
    text(&platforms::driver_schema())
}

/// A monitor's descriptor.
#[must_use]
pub(crate) fn descriptor() -> String {
    text(&platforms::schema_of::<observe::Descriptor>())
}

/// A scenario's file.
#[must_use]
pub(crate) fn scenario() -> String {
    text(&scenarios::scenario_schema())
}

/// A world's file.
#[must_use]
pub(crate) fn world() -> String {
    text(&scenarios::world_schema())
}

fn text(form: &Value) -> String {
    serde_json::to_string_pretty(form).expect("a form is JSON")
}
