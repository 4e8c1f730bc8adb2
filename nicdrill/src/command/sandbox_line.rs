//! What is typed to a sandbox: the words of `nicdrill do`, which a line of `nicdrill mount` is too. Start at
//! [`SandboxLine::read`].

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use harness::sandbox::control::{self, Request};
use reports::ExitCode;

use super::{Stop, duration::duration};
use crate::{pages::help_pages, terminal::log};

/// What can be typed beside the verbs of the scenario language.
pub(super) const OWN_WORDS: [&str; 6] = ["heal", "help", "list", "status", "undo", "wait"];

/// The option with which what was done is written.
const SAVE: &str = "--save";

/// A line that is typed to a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SandboxLine {
    /// All words are listed.
    Help,
    /// The sandboxes that run are listed.
    List,
    /// The next line is read later. It is real time that passes in a sandbox.
    Wait(Duration),
    /// What was done is written as a scenario; `-` is standard output.
    Save(PathBuf),
    /// Something that the sandbox does.
    Do(String),
}

impl SandboxLine {
    /// Reads the words of a line; without any, help is meant.
    ///
    /// # Errors
    /// If the time of `wait`, or the file of `--save`, is missing or wrong. What only a sandbox knows, such as its
    /// devices, is not looked at.
    pub(super) fn read(words: &[&str]) -> Result<Self, Stop> {
        Ok(match words {
            [] | ["help"] => Self::Help,
            ["list"] => Self::List,
            ["wait", time @ ..] => Self::Wait(duration(&time.join(" "))?),
            [SAVE, file] => Self::Save(file.into()),
            [SAVE, ..] => return Err(Stop::usage("`--save` takes one file, and stands alone")),
            words => Self::Do(words.join(" ")),
        })
    }

    /// Does it: `ask` asks the sandbox, and `wait` lets the time pass. Returns what is printed.
    ///
    /// # Errors
    /// If the sandbox cannot be asked or refuses, or a file cannot be written.
    pub(super) fn execute(
        &self,
        ask: impl FnOnce(&Request) -> Result<String, Stop>,
        wait: impl FnOnce(Duration),
    ) -> Result<String, Stop> {
        match self {
            Self::Help => return Ok(help_pages::faults()),
            Self::List => {
                let running = control::running().map_err(Stop::input)?;
                return Ok(running
                    .iter()
                    .map(|(name, _)| format!("{name}\n"))
                    .collect());
            }
            Self::Wait(time) => wait(*time),
            Self::Save(file) => {
                let text = ask(&Request::Save)?;
                if file == Path::new("-") {
                    return Ok(text);
                }
                fs::write(file, text).map_err(|error| {
                    let text = format!("`{}` cannot be written: {error}", file.display());
                    Stop::with(ExitCode::ReportNotWritten, text)
                })?;
                log(&format!("wrote {}", file.display()));
            }
            Self::Do(text) => return ask(&Request::Do(text.clone())),
        }
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_of_the_own_words_or_the_sandboxs() {
        let read = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            SandboxLine::read(&words).map_err(|stop| stop.text)
        };
        assert_eq!(read("help"), Ok(SandboxLine::Help));
        assert_eq!(read("list"), Ok(SandboxLine::List));
        assert_eq!(
            read("wait 2s"),
            Ok(SandboxLine::Wait(Duration::from_secs(2)))
        );
        assert_eq!(read("wait"), Err("invalid duration ``".to_owned()));
        assert_eq!(
            read("--save a.yaml"),
            Ok(SandboxLine::Save("a.yaml".into()))
        );
        assert_eq!(
            read("--save a.yaml cut mlx5_0/1"),
            Err("`--save` takes one file, and stands alone".to_owned())
        );
        for line in ["heal", "status", "undo", "cut mlx5_0/1", "cut: mlx5_0"] {
            assert_eq!(read(line), Ok(SandboxLine::Do(line.to_owned())));
        }
    }
}
