//! `nicdrill.toml`: the defaults of a repository, so that `nicdrill run` needs no arguments there.
//!
//! ```toml
//! monitor = "monitor.yaml"        # a descriptor's name or file, or a program
//! platforms = ["platforms"]       # further platform files or folders
//! scenarios = ["scenarios"]       # scenario files or folders, instead of the built-in suite
//! out = "nicdrill.out"            # the run folder
//! ```
//! It is read from the current folder; the command line takes precedence.

use std::{fs, io, path::PathBuf};

use serde::Deserialize;

use crate::command::Stop;

/// The file's name.
pub(crate) const FILE: &str = "nicdrill.toml";

/// The content of the file.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// The monitor under test.
    pub(crate) monitor: Option<String>,
    /// Further platform files or folders.
    pub(crate) platforms: Vec<PathBuf>,
    /// Scenario files or folders; empty: the built-in suite.
    pub(crate) scenarios: Vec<PathBuf>,
    /// The run folder.
    pub(crate) out: Option<PathBuf>,
}

impl Settings {
    /// Reads the file in the current folder; without one, all settings are empty.
    pub(crate) fn read() -> Result<Self, Stop> {
        match fs::read_to_string(FILE) {
            Ok(text) => Self::of(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Stop::usage(format!("`{FILE}` cannot be read: {error}"))),
        }
    }

    fn of(text: &str) -> Result<Self, Stop> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = &text[..error.span().map_or(0, |span| span.start)];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            Stop::usage(format!("{FILE}:{line}:{column}: {}", error.message()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_optional() {
        assert_eq!(Settings::of("").unwrap(), Settings::default());
        let settings = Settings::of("monitor = \"m.yaml\"\nscenarios = [\"s\"]\n").unwrap();
        assert_eq!(settings.monitor.as_deref(), Some("m.yaml"));
        assert_eq!(settings.scenarios, [PathBuf::from("s")]);
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place() {
        let stop = Settings::of("out = \"o\"\nplatform = \"p\"\n").unwrap_err();
        assert!(
            stop.text
                .starts_with("nicdrill.toml:2:1: unknown field `platform`"),
            "{}",
            stop.text
        );
    }
}
