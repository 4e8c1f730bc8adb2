//! What is typed to a sandbox: the words of `nicdrill do`, which a line of `nicdrill mount` is too. Start at
//! [`SandboxLine::read`].

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use files::nearest;
use harness::sandbox::{
    control::{self, Request},
    verbs,
};
use reports::ExitCode;

use super::{Stop, duration::duration};
use crate::{pages::help_pages, terminal::log};

/// What can be typed beside the verbs of the scenario language, and what it does.
pub(super) const OWN_WORDS: [(&str, &str); 6] = [
    ("heal", "end all faults"),
    ("help", "list these words"),
    ("list", "list the sandboxes that run"),
    ("status", "tell what was done, and when"),
    ("undo", "take back what was done last"),
    ("wait", "let time pass before the next line: `wait 10s`"),
];

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
    /// If the time of `wait`, or the file of `--save`, is missing or wrong, or an own word is misspelt. What only a sandbox
    /// knows, such as its devices, is not looked at.
    pub(super) fn read(words: &[&str]) -> Result<Self, Stop> {
        Ok(match words {
            [] | ["help"] => Self::Help,
            ["list"] => Self::List,
            ["wait", time @ ..] => Self::Wait(duration(&time.join(" "))?),
            [SAVE, file] => Self::Save(file.into()),
            [SAVE, ..] => return Err(Stop::usage("`--save` takes one file, and stands alone")),
            words => match misspelt(words[0]) {
                Some(own) => {
                    let what = format!("unknown word `{}`", words[0]);
                    return Err(Stop::usage(what).hint(format!("did you mean `{own}`?")));
                }
                None => Self::Do(words.join(" ")),
            },
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
            Self::Help => return Ok(help()),
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

/// The own word that a misspelt one is nearer to than to any verb.
fn misspelt(word: &str) -> Option<&'static str> {
    let is_own = |word: &str| OWN_WORDS.iter().any(|(own, _)| *own == word);
    let verbs: Vec<&str> = verbs().iter().map(|verb| verb.word).collect();
    if verbs.contains(&word) || is_own(word) {
        return None;
    }
    let own = OWN_WORDS.map(|(own, _)| own);
    let near = nearest(word, verbs.into_iter().chain(own))?;
    own.into_iter().find(|own| *own == near)
}

/// All words that can be typed.
fn help() -> String {
    let own = OWN_WORDS.map(|(word, does)| format!("  {word:<7} {does}\n"));
    format!(
        "What can be typed beside the actions of a story:\n\n{}  --save  write what was done as a scenario: `--save story.yaml`\n\n{}",
        own.concat(),
        help_pages::faults()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_own_word_is_told_with_the_word_that_is_meant() {
        for (typed, meant) in [("hael", "heal"), ("staus", "status"), ("unod", "undo")] {
            let stop = SandboxLine::read(&[typed]).unwrap_err();
            assert_eq!(stop.text, format!("unknown word `{typed}`"));
            assert_eq!(stop.hint, Some(format!("did you mean `{meant}`?")));
        }
        // The sandbox tells what is wrong with a verb.
        let cut = SandboxLine::Do("cutt mlx5_0/1".to_owned());
        assert_eq!(SandboxLine::read(&["cutt", "mlx5_0/1"]).unwrap(), cut);
    }

    #[test]
    fn the_help_has_the_own_words_before_the_actions() {
        let help = help();
        let (own, actions) = help.split_once("What a step can do.").expect("both");
        for (word, _) in OWN_WORDS {
            assert!(own.contains(&format!("\n  {word} ")), "{own}");
        }
        assert!(
            own.contains("--save") && actions.contains("\n  cut: "),
            "{help}"
        );
    }

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
