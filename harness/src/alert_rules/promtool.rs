//! Starts Prometheus' own engine. Start at [`run`].

use std::{
    fs, io,
    process::{Command, Stdio},
};

/// The program, of the Debian package `prometheus`.
pub const PROMTOOL: &str = "promtool";

/// How promtool ended.
#[derive(Debug)]
pub(super) struct Answer {
    /// Whether it ended with 0.
    pub(super) is_success: bool,
    /// What it wrote to its error output.
    pub(super) said: String,
}

/// Runs promtool in a folder of its own that has these files, by name and text.
///
/// # Errors
/// If the files cannot be written, or it cannot be started, as text with a hint.
pub(super) fn run(arguments: &[&str], files: &[(&str, &String)]) -> Result<Answer, String> {
    let cannot =
        |error: io::Error| format!("the files for `{PROMTOOL}` cannot be written: {error}");
    let folder = tempfile::tempdir().map_err(cannot)?;
    for (name, text) in files {
        fs::write(folder.path().join(name), text).map_err(cannot)?;
    }
    let mut command = Command::new(PROMTOOL);
    let command = command.args(arguments).current_dir(folder.path());
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| {
        format!(
            "`{PROMTOOL}` cannot be started: {error}\nhint: it is in Debian's package `prometheus`"
        )
    })?;
    Ok(Answer {
        is_success: output.status.success(),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}
