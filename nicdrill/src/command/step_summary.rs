//! Appends a run to the step summary of GitHub Actions.

use std::{env, fs::OpenOptions, io::Write as _};

use reports::{GITHUB_SUMMARY_MAX, RunReport, github_summary};

/// The variable with the file's name (GitHub Docs, "Workflow commands for GitHub Actions", "Adding a job summary").
const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Appends the run to the step's summary, as far as there is room for it; does nothing outside GitHub Actions.
///
/// # Errors
/// The text of a file that cannot be written.
pub(super) fn append(run: &RunReport) -> Result<(), String> {
    let Some(path) = env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let failed = |error| format!("{VARIABLE} names `{}`: {error}", path.display());
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let mut file = file.map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let there = usize::try_from(length).unwrap_or(usize::MAX);
    let text = github_summary(run, GITHUB_SUMMARY_MAX.saturating_sub(there));
    let written = file.write_all(text.as_bytes()).inspect_err(|_| {
        // Half a table would be shown as text. The first error is the one to tell.
        let _ = file.set_len(length);
    });
    written.map_err(failed)
}
