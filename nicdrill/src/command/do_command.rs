//! `nicdrill do`: does something in a sandbox that runs, from inside or from another terminal.

use std::{env, path::PathBuf, thread};

use harness::sandbox::{
    control::{self, Request, SANDBOX},
    verbs,
};
use reports::ExitCode;

use super::{
    Stop,
    sandbox_line::{OWN_WORDS, SandboxLine},
};
use crate::{
    arguments::{Color, DoArguments},
    terminal::Terminal,
};

/// Does it.
pub(crate) fn do_command(arguments: &DoArguments) -> Result<ExitCode, Stop> {
    let mut terminal = Terminal::new(Color::Never);
    if arguments.complete {
        terminal.out(&completed(arguments));
        return Ok(ExitCode::Success);
    }
    let words: Vec<&str> = arguments.words.iter().map(String::as_str).collect();
    let line = match (words.as_slice(), &arguments.save) {
        ([], Some(file)) => SandboxLine::Save(file.clone()),
        (_, Some(_)) => return Err(Stop::usage("`--save` takes one file, and stands alone")),
        (words, None) => SandboxLine::read(words)?,
    };
    let text = line.execute(|request| ask(arguments, request), thread::sleep)?;
    terminal.out(&text);
    Ok(ExitCode::Success)
}

/// Asks the sandbox that is meant.
fn ask(arguments: &DoArguments, request: &Request) -> Result<String, Stop> {
    let socket = socket(arguments)?;
    let answer = control::ask(&socket, request);
    let answer = answer.map_err(|error| no_sandbox(&format!("`{}`: {error}", socket.display())))?;
    answer.map_err(|why| {
        Stop::usage(why.to_string()).hint("`nicdrill do help` lists what can be done")
    })
}

/// The socket of the sandbox that is meant.
fn socket(arguments: &DoArguments) -> Result<PathBuf, Stop> {
    let asked = arguments.sandbox.as_deref();
    if let (None, Some(inside)) = (asked, env::var_os(SANDBOX)) {
        return Ok(inside.into());
    }
    let running = control::running().map_err(Stop::input)?;
    let meant = |(name, _): &&(String, PathBuf)| asked.is_none_or(|asked| name == asked);
    let found: Vec<&(String, PathBuf)> = running.iter().filter(meant).collect();
    match found.as_slice() {
        [(_, socket)] => Ok(socket.clone()),
        [] => Err(no_sandbox(match asked {
            Some(asked) => asked,
            None => "no sandbox runs",
        })),
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            let text = format!("several sandboxes run: {}", names.join(", "));
            Err(Stop::usage(text).hint("name one with `--sandbox`"))
        }
    }
}

fn no_sandbox(what: &str) -> Stop {
    Stop::usage(format!("no such sandbox: {what}"))
        .hint("`nicdrill shell PLATFORM` opens one, `nicdrill do list` lists them")
}

/// The words that may follow, one on each line.
fn completed(arguments: &DoArguments) -> String {
    let mut words: Vec<String> = Vec::new();
    match arguments.words.split_first() {
        None => {
            words.extend(verbs().iter().map(|word| word.word.to_owned()));
            words.extend(OWN_WORDS.map(|(word, _)| word.to_owned()));
        }
        Some((verb, _)) => {
            if let Some(word) = verbs().iter().find(|word| word.word == verb) {
                words.extend(word.keys.iter().map(|key| key.word.to_owned()));
                words.extend(word.choices.iter().map(|(choice, _)| (*choice).to_owned()));
            }
            let names = socket(arguments).ok();
            let names = names.and_then(|socket| control::ask(&socket, &Request::Names).ok());
            if let Some(Ok(names)) = names {
                words.extend(names.lines().map(str::to_owned));
            }
        }
    }
    words.sort();
    words.dedup();
    words.iter().map(|word| format!("{word}\n")).collect()
}
