//! `nicdrill run --store`: writes the events of a run to a database.
//!
//! `store` writes them; this file handles the arguments and the messages.

use std::{env, path::Path};

use harness::process;
use observe::Recording;
use reports::{DrillName, ExitCode, counted};
use store::{Ending, Limits, Opening, Passwords, Reached, Run, Store, StoreError, StoreUrl};
use terms::Arm;

use super::{Stop, stage::Here};
use crate::{
    arguments::RunArguments,
    settings::Settings,
    terminal::{Terminal, log},
};

/// The ways by which a password comes that no other user sees.
const WAYS: &str = "leave it out, and set `PGPASSWORD`, or write a line `HOST:PORT:DATABASE:USER:PASSWORD` into `~/.pgpass` or \
                    the file that `PGPASSFILE` names (mode 0600), or write the whole address as `store` into `nicdrill.toml`";

/// The store named on the command line, else in `nicdrill.toml`, with its password. A password on the command line is refused:
/// every user of the machine can read it there.
pub(crate) fn asked_for(arguments: &RunArguments) -> Result<Option<StoreUrl>, Stop> {
    let store = match &arguments.reporting.store {
        Some(text) => {
            let store: StoreUrl = text.parse().map_err(Stop::input)?;
            if store.has_password() {
                let found = format!(
                    "the address of the store `{store}` has a password, which `ps` shows to everybody"
                );
                return Err(Stop::usage(found).hint(WAYS));
            }
            Some(store)
        }
        None => Settings::read()?.store,
    };
    let Some(mut store) = store else {
        return Ok(None);
    };
    let variable = |name: &str| match name {
        "PGPASSWORD" => process::password(),
        other => env::var_os(other),
    };
    let passwords = Passwords::of(variable).map_err(Stop::input)?;
    let warn = |warning: &str| log(&format!("warning: {warning}"));
    store.unlock(&passwords, warn).map_err(Stop::input)?;
    Ok(Some(store))
}

/// Opens the store; a run starts only if that succeeds, and a signal ends the wait for it.
pub(crate) fn reach(
    store: Option<&StoreUrl>,
    arguments: &RunArguments,
    asked: &[String],
    here: &Here,
) -> Result<Option<Reached>, Stop> {
    let Some(store) = store else {
        return Ok(None);
    };
    let opening = Opening {
        is_ended: &|| here.interruption.is_asked_for(),
        ..Opening::default()
    };
    let run = Run::now(arguments.how.seed, asked.to_vec());
    let reached = store.reach(run, opening).map_err(|error| match error {
        StoreError::Ended { .. } => {
            Stop::with(here.exit_code(ExitCode::Interrupted), error.to_string())
        }
        error => Stop::input(error),
    });
    reached.map(Some)
}

/// The store of a run in progress.
pub(crate) struct Storing {
    store: Store,
    seed: u64,
    asked: Vec<String>,
}

impl Storing {
    /// Starts writing; what cannot be written goes to the run folder.
    pub(crate) fn begin(
        reached: Reached,
        folder: &Path,
        arguments: &RunArguments,
        asked: Vec<String>,
    ) -> Self {
        Self {
            store: reached.keep(folder, Limits::default(), log),
            seed: arguments.how.seed,
            asked,
        }
    }

    /// Queues the events of a finished drill.
    pub(crate) fn take(&mut self, drill: &DrillName, recordings: &[(Arm, Recording)]) {
        self.store.take(drill, recordings);
    }

    /// Starts a new run in the store for a repeat; the first repeat uses the run with which the store was
    /// opened.
    pub(crate) fn repeat(&mut self, number: u32) {
        if number > 1 {
            self.store.begin(Run::now(self.seed, self.asked.clone()));
        }
    }

    /// Waits for pending writes, and prints what is where. Events that are not in the store are an error.
    pub(crate) fn finish(self, terminal: &mut Terminal) -> Result<(), String> {
        let ending = self.store.finish();
        terminal.out(&stored(&ending));
        unstored(&ending)
    }
}

/// The line about what is in the store.
fn stored(ending: &Ending) -> String {
    let store = &ending.store;
    if let Some(cause) = &ending.uncounted {
        return format!("store: the events in {store} cannot be counted: {cause}\n");
    }
    let events = counted(ending.stored, "event");
    let drills = counted(ending.drills, "drill");
    format!("store: {events} of {drills} in {store}\n")
}

fn unstored(ending: &Ending) -> Result<(), String> {
    if ending.unstored == 0 {
        return Ok(());
    }
    let verb = if ending.unstored == 1 { "was" } else { "were" };
    let events = counted(ending.unstored, "event");
    let cause = ending.cause.as_deref().unwrap_or("it was silent");
    let place = match &ending.broken {
        None => format!("they lie in `{}`", ending.file.display()),
        Some(broken) => format!("not all of them lie in the run folder: {broken}"),
    };
    Err(format!(
        "{events} {verb} not stored ({cause}); {place}, a row a line, as `nicdrill replay` reads them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uncounted: Option<&str>, line: &str) {
        let ending = Ending {
            store: "sqlite:events.db".to_owned(),
            drills: 0,
            stored: 0,
            uncounted: uncounted.map(str::to_owned),
            unstored: 3,
            file: "nicdrill.out/unstored.jsonl".into(),
            cause: None,
            broken: None,
        };
        assert_eq!(stored(&ending), line);
    }

    #[test]
    fn no_event_is_told_apart_from_events_that_nobody_could_count() {
        check(None, "store: 0 events of 0 drills in sqlite:events.db\n");
        check(
            Some("disk I/O error"),
            "store: the events in sqlite:events.db cannot be counted: disk I/O error\n",
        );
    }
}
