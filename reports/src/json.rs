//! A run as JSON, in one versioned form for other programs.
//!
//! Every member named `wall` holds values that differ between two equal runs; leave them out, and
//! two equal runs give equal texts. `docs/output.md` describes the members.

use serde::Serialize;

use crate::RunReport;

/// The version of the form. It rises when a member is taken away or changes its meaning; a new
/// member does not raise it.
pub const RESULTS_VERSION: u32 = 2;

/// The run as JSON text, indented, with a newline at its end.
#[must_use]
pub fn results(run: &RunReport) -> String {
    #[derive(Serialize)]
    struct Results<'r> {
        results_version: u32,
        #[serde(flatten)]
        run: &'r RunReport,
    }
    let results = Results {
        results_version: RESULTS_VERSION,
        run,
    };
    let mut text = serde_json::to_string_pretty(&results)
        .expect("a report has only text keys and finite numbers, so it is JSON");
    text.push('\n');
    text
}
