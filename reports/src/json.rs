//! A run as JSON, in a versioned format for other programs.
//!
//! Members named `wall` have values that differ between two equal runs; without them, equal runs
//! give equal texts. `docs/output.md` describes the members.

use serde::Serialize;

use crate::{Group, RunReport, as_output, groups};

/// The version of the format. It is incremented when a member is removed or changes its meaning; a
/// new member does not change it.
pub(crate) const RESULTS_VERSION: u32 = 3;

/// The run as JSON text, indented, with a final newline.
#[must_use]
pub fn results(run: &RunReport) -> String {
    #[derive(Serialize)]
    struct Results<'r> {
        results_version: u32,
        #[serde(flatten)]
        run: &'r RunReport,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        groups: Vec<Group>,
    }
    let results = Results {
        results_version: RESULTS_VERSION,
        run,
        groups: groups(&run.drills),
    };
    json_output(&results)
}

/// A value as an output: JSON in lines.
///
/// # Panics
///
/// If it has keys that are no texts, or numbers that are not finite.
pub(crate) fn json_output(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .expect("a report has only text keys and finite numbers, so it is JSON");
    text.push('\n');
    as_output(&text)
}
