//! Profiles of `nicdrill.toml`: flags of `nicdrill run` under a name, such as those of a CI job.
//!
//! ```toml
//! [profile.ci]
//! report = ["junit=nicdrill.xml", "github"]
//! require = "process"
//! jobs = 4
//! full = true
//! ```
//! Start at [`with_profile`].

use std::{collections::BTreeMap, ffi::OsString};

use clap::{Arg, ArgAction, Command, CommandFactory as _, Parser as _, parser::ValueSource};
use files::{FileError, Place};
use harness::near;
use toml::{Spanned, Value};

use super::{FILE, Settings, Source};
use crate::{
    arguments::{self, Arguments, RunArguments},
    command::{Stop, run_values::can_be_read},
};

/// Flags that are for a person at the terminal, or that another key sets.
const NOT_IN_A_PROFILE: [&str; 5] = ["bless", "failed", "help", "profile", "store"];

/// The profiles by name, each with its keys in order; as a file has them.
pub(super) type ProfilesSpec = BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<Value>>>;

/// The profiles, by name.
#[derive(Debug, Default)]
pub(crate) struct Profiles(BTreeMap<String, Profile>);

#[derive(Debug)]
struct Profile {
    /// The place of its name in the file.
    place: Place,
    /// The words that it stands for, by flag.
    words: BTreeMap<String, Word>,
}

/// A word of the command line, such as `--jobs=4`.
#[derive(Debug)]
struct Word {
    text: String,
    /// The place of its value in the file.
    place: Place,
}

impl Profiles {
    /// Reads them from the text of the file, with each unknown key, each value that its flag does not take, and flags that
    /// exclude one another: what is wrong is left out.
    pub(super) fn of(source: Source<'_>, spec: ProfilesSpec) -> (Self, Vec<FileError>) {
        let command = Arguments::command();
        let flags = flags(&command);
        let names: Vec<&str> = flags.keys().map(String::as_str).collect();
        let mut mistakes = Vec::new();
        let mut profiles = BTreeMap::new();
        for (name, keys) in spec {
            let mut words = BTreeMap::new();
            for (key, value) in keys {
                let Some(flag) = flags.get(key.as_ref()) else {
                    mistakes.push(source.unknown(&key, &names));
                    continue;
                };
                match Word::of(source, flag, key.as_ref(), &value) {
                    Ok(word) => words.extend(word.map(|word| (key.into_inner(), word))),
                    Err(mistake) => mistakes.push(mistake),
                }
            }
            if let Err(stop) = taken(words.values().map(|word| word.text.as_str())) {
                mistakes.push(source.refused(name.span(), stop));
            }
            let place = source.place(name.span());
            profiles.insert(name.into_inner(), Profile { place, words });
        }
        (Self(profiles), mistakes)
    }

    /// What `nicdrill run` is asked for by each word alone, with the place of the word's value.
    pub(super) fn each_word(&self) -> impl Iterator<Item = (Place, RunArguments)> {
        let words = self.0.values().flat_map(|profile| profile.words.values());
        words.filter_map(|word| Some((word.place, taken([word.text.as_str()]).ok()?)))
    }

    /// What `nicdrill run` is asked for by each profile, with the place of its name.
    pub(super) fn each(&self) -> impl Iterator<Item = (Place, RunArguments)> {
        self.0.values().filter_map(|profile| {
            let words = profile.words.values().map(|word| word.text.as_str());
            Some((profile.place, taken(words).ok()?))
        })
    }
}

impl Word {
    /// The word that a key of the file stands for; none for a flag that is not set.
    fn of(
        source: Source<'_>,
        flag: &Arg,
        key: &str,
        value: &Spanned<Value>,
    ) -> Result<Option<Self>, FileError> {
        let place = source.place(value.span());
        let read = word(flag, key, value.as_ref());
        let read = read.map_err(|allowed| Stop::usage(format!("`{key}` takes {allowed}")));
        let word = read.and_then(|word| {
            let Some(text) = word else { return Ok(None) };
            taken([text.as_str()])?;
            Ok(Some(Self { text, place }))
        });
        word.map_err(|stop| source.refused(value.span(), stop))
    }
}

/// What `nicdrill run` is asked for by these words.
///
/// # Errors
/// What it says of them, if it does not take them.
fn taken<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<RunArguments, Stop> {
    let words = ["nicdrill", "run"].into_iter().chain(words);
    let read = Arguments::try_parse_from(words).map_err(|error| {
        let error = error.to_string();
        // What the flag cannot be used with may follow in lines of its own.
        let lines = error.lines().take_while(|line| !line.is_empty());
        let told = lines.map(str::trim).collect::<Vec<_>>().join(" ");
        Stop::usage(told.trim_start_matches("error: "))
    })?;
    let arguments = match read.command {
        arguments::Command::Run(arguments) => *arguments,
        _ => unreachable!("the first word is `run`"),
    };
    can_be_read(&arguments)?;
    Ok(arguments)
}

/// The words of a command line, with those of the profile that they name; a flag of the command line takes precedence over
/// that of the profile. Words that are no `nicdrill run` are returned as they are.
///
/// # Errors
/// If `nicdrill.toml` cannot be read or has no such profile.
pub(crate) fn with_profile(words: Vec<OsString>) -> Result<Vec<OsString>, Stop> {
    let names_profile = |word: &OsString| word.as_encoded_bytes().starts_with(b"--profile");
    if !words.iter().any(names_profile) {
        return Ok(words);
    }
    // What is wrong with the words is told by the parser that follows.
    let Ok(matches) = Arguments::command().try_get_matches_from(&words) else {
        return Ok(words);
    };
    let Some(("run", run)) = matches.subcommand() else {
        return Ok(words);
    };
    let Some(name) = run.get_one::<String>("profile") else {
        return Ok(words);
    };
    let Profiles(profiles) = Settings::read()?.profiles;
    let Some(profile) = profiles.get(name) else {
        let names: Vec<&str> = profiles.keys().map(String::as_str).collect();
        let stop = Stop::usage(format!("{FILE} has no profile `{name}`"));
        let near = near::did_you_mean(&near::names(name, &names));
        return Err(match near {
            Some(near) => stop.hint(near),
            None if names.is_empty() => stop.hint(format!("write `[profile.{name}]` into it")),
            None => stop.hint(format!("its profiles: {}", names.join(", "))),
        });
    };
    let command = Arguments::command();
    let flags = flags(&command);
    let is_given = |key: &str| {
        flags.get(key).is_some_and(|flag| {
            run.value_source(flag.get_id().as_str()) == Some(ValueSource::CommandLine)
        })
    };
    let added = profile.words.iter().filter(|(key, _)| !is_given(key));
    let added = added.map(|(_, word)| OsString::from(&word.text));
    // The program, `run`, the profile, and what the command line has.
    let mut with = words;
    let after = with.len().min(2);
    let _ = with.splice(after..after, added);
    Ok(with)
}

/// The flags of `nicdrill run` that a profile can have, by name.
fn flags(command: &Command) -> BTreeMap<String, &Arg> {
    let run = command.find_subcommand("run").into_iter();
    let named = run.flat_map(Command::get_arguments).filter_map(|flag| {
        let name = flag.get_long()?;
        (!NOT_IN_A_PROFILE.contains(&name)).then(|| (name.to_owned(), flag))
    });
    named.collect()
}

/// The word that a value stands for; none for `false`. The error is what the flag takes.
fn word(flag: &Arg, key: &str, value: &Value) -> Result<Option<String>, &'static str> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    let is_switch = matches!(flag.get_action(), ArgAction::SetTrue);
    let is_list = flag.get_value_delimiter().is_some();
    match value {
        Value::Boolean(is_on) if is_switch => Ok(is_on.then(|| format!("--{key}"))),
        _ if is_switch => Err("true or false"),
        Value::Array(values) if is_list => {
            let texts: Option<Vec<String>> = values.iter().map(one).collect();
            match texts {
                Some(texts) if texts.is_empty() => Ok(None),
                Some(texts) => Ok(Some(format!("--{key}={}", texts.join(",")))),
                None => Err("a list of texts"),
            }
        }
        value => match one(value) {
            Some(text) => Ok(Some(format!("--{key}={text}"))),
            None if is_list => Err("a text or a list of texts"),
            None => Err("a text or a number"),
        },
    }
}
