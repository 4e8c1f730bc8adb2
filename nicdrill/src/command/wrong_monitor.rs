//! `nicdrill wrong-monitor NAME`: a monitor of the zoo, with the flags of the reference monitor.

use std::{ffi::OsString, process};

use super::Stop;

/// Runs it; `words` are its name and its flags.
pub(crate) fn wrong_monitor(words: impl IntoIterator<Item = OsString>) -> process::ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    let name = words.first().map(|name| name.to_string_lossy());
    let name = name.as_deref().unwrap_or_default();
    match zoo::find(name) {
        Some(mutant) => monitor::run(words, mutant.variant),
        None => unknown(name).report().into(),
    }
}

/// There is no such wrong monitor.
pub(super) fn unknown(name: &str) -> Stop {
    let known: Vec<&str> = zoo::mutants().iter().map(|mutant| mutant.name).collect();
    Stop::usage(format!(
        "there is no wrong monitor `{name}`\nhint: known are {}",
        known.join(", ")
    ))
}
