//! `nicdrill run --store`: writes the events of a run to a database.
//!
//! `store` writes them; this file handles the arguments and the messages.

use std::{env, path::Path};

use harness::process;
use observe::Recording;
use reports::{ArmName, DrillName, counted};
use store::{Ending, Limits, Passwords, Reached, Run, Store, StoreUrl};

use super::Stop;
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

/// Opens the store; a run starts only if that succeeds.
pub(crate) fn reach(
    store: Option<&StoreUrl>,
    arguments: &RunArguments,
    asked: &[String],
) -> Result<Option<Reached>, Stop> {
    let run = || Run::now(arguments.how.seed, asked.to_vec());
    let reached = store.map(|store| store.reach(run()).map_err(Stop::input));
    reached.transpose()
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
    pub(crate) fn take(&mut self, drill: &DrillName, recordings: &[(ArmName, Recording)]) {
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
        let Ending {
            store,
            drills,
            stored,
            ..
        } = &ending;
        let (events, of) = (counted(*stored, "event"), counted(*drills, "drill"));
        terminal.out(&format!("store: {events} of {of} in {store}\n"));
        unstored(&ending)
    }
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
