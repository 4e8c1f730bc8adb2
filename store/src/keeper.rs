//! Access to a database: an open SQLite file or a connection to PostgreSQL.

use std::{borrow::Cow, sync::Arc, time::Duration};

use uuid::Uuid;

use crate::{
    postgres::Postgres,
    row::{READ_BACK, Row, digest},
    run::Run,
    sqlite::Sqlite,
    url::{Place, StoreUrl},
};

/// An open store.
pub(super) trait Keeper: Send {
    /// Writes rows and their runs, all or none. Existing rows stay unchanged.
    fn write(&mut self, rows: &[Arc<Row>]) -> Result<(), Trouble>;

    /// Reads the events of a run back, in any order. Without its run, its drill or its document none is there.
    fn read_back(&mut self, run: Uuid, each: &mut dyn FnMut(Kept)) -> Result<(), Trouble>;
}

/// An event that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) id: Uuid,
    pub(super) drill: String,
    /// Of what counts ([`digest`]).
    pub(super) digest: Uuid,
}

impl Kept {
    /// An event by its id and the columns that count; `None` if nothing that was written has such an id.
    pub(super) fn of(id: &str, columns: &[Option<String>; READ_BACK]) -> Option<Self> {
        Some(Self {
            id: Uuid::parse_str(id).ok()?,
            drill: columns[DRILL].clone().unwrap_or_default(),
            digest: digest(columns.each_ref().map(Option::as_deref)),
        })
    }
}

/// The place of the drill among the columns that count.
const DRILL: usize = 4;

/// Why rows were not written.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The database is not available now, but may be later.
    Away(String),
    /// The database rejects the rows permanently.
    Refused(String),
}

/// Why a run cannot start with a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached or written.
    #[error("the store `{store}` cannot be used: {cause}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Unreachable {
        /// Its URL, without secrets.
        store: String,
        /// The cause.
        cause: String,
    },
    /// It had not opened when the time for that was over.
    #[error("the store `{store}` did not answer within {at_most_s} s\nhint: {hint}", at_most_s = .at_most.as_secs_f64(), hint = self.hint().unwrap_or_default())]
    Silent {
        /// Its URL, without secrets.
        store: String,
        /// The time that it had.
        at_most: Duration,
    },
    /// It had not opened when an early end was asked for.
    #[error("an early end was asked for before the store `{store}` had answered")]
    Ended {
        /// Its URL, without secrets.
        store: String,
    },
    /// A column of an existing table has a type that cannot hold what is written.
    #[error("the column `{column}` of the table `{table}` of the store `{store}` has the type `{found}`, and {wanted} are written\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    AnotherType {
        /// Its URL, without secrets.
        store: String,
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// Its type.
        found: String,
        /// What is written to it: `texts` or `whole numbers`.
        wanted: &'static str,
    },
    /// An existing table of that name has other columns.
    #[error("the table `{table}` of the store `{store}` has no column `{column}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    AnotherTable {
        /// Its URL, without secrets.
        store: String,
        /// The table.
        table: &'static str,
        /// The missing column.
        column: &'static str,
    },
}

impl StoreError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Unreachable { .. } => "a run begins only if its store is there; without `--store` events are kept in memory".into(),
            Self::Silent { .. } => "see whether the database listens there, and whether somebody holds a lock on its tables; a run begins only if its store is there, and without `--store` events are kept in memory".into(),
            Self::Ended { .. } => return None,
            Self::AnotherTable { .. } | Self::AnotherType { .. } => "name another database, or move that table away".into(),
        })
    }
}

/// Why a store could not be opened for the first time.
pub(super) enum Unfit {
    Unreachable(String),
    Lacks {
        table: &'static str,
        column: &'static str,
    },
    Types {
        table: &'static str,
        column: &'static str,
        found: String,
        wanted: &'static str,
    },
}

/// What is said of a store that takes a run and has none, or another one.
pub(super) const NO_RUN: &str = "it takes a run, and when it is read back it is not there as it was written: a trigger or a rule of the table `nicdrill_runs` drops or changes it";

/// Reads back, and picks the trial row out of it.
///
/// # Errors
/// Those of the reading.
pub(super) fn trial_in<E>(
    trial: &Row,
    read_back: impl FnOnce(&mut dyn FnMut(Kept)) -> Result<(), E>,
) -> Result<Option<Kept>, E> {
    let mut found = None;
    read_back(&mut |kept| found = found.take().or((kept.id == trial.id).then_some(kept)))?;
    Ok(found)
}

/// Checks what was read back of the trial row.
///
/// # Errors
/// [`Unfit`]: it is not there, or is another one.
pub(super) fn tried(kept: Option<&Kept>, trial: &Row) -> Result<(), Unfit> {
    let what = match kept {
        Some(kept) if kept.digest == trial.digest() => return Ok(()),
        Some(_) => "it is another one: a trigger or a rule of its tables changes it",
        None => "it is not there: a trigger or a rule of its tables drops it",
    };
    let cause = format!("it takes an event, and when it is read back {what}");
    Err(Unfit::Unreachable(cause))
}

/// Opens a store, creates missing tables, and writes the run into it. Nobody waits for it any more after `at_most`.
pub(super) fn begin(
    url: &StoreUrl,
    run: &Run,
    at_most: Duration,
) -> Result<Box<dyn Keeper>, StoreError> {
    let begun = match &url.0 {
        Place::Sqlite(path) => Sqlite::begin(path, run, at_most).map(boxed),
        Place::Postgres(server) => Postgres::begin(server, run).map(boxed),
    };
    begun.map_err(|unfit| match unfit {
        Unfit::Unreachable(cause) => StoreError::Unreachable {
            store: url.to_string(),
            cause,
        },
        Unfit::Lacks { table, column } => StoreError::AnotherTable {
            store: url.to_string(),
            table,
            column,
        },
        Unfit::Types {
            table,
            column,
            found,
            wanted,
        } => StoreError::AnotherType {
            store: url.to_string(),
            table,
            column,
            found,
            wanted,
        },
    })
}

/// Opens a store again. It must contain the run; otherwise it is another database.
pub(super) fn again(url: &StoreUrl, run: Uuid) -> Result<Box<dyn Keeper>, Trouble> {
    let (keeper, is_known) = match &url.0 {
        Place::Sqlite(path) => {
            let sqlite = Sqlite::again(path)?;
            let is_known = sqlite.knows(run)?;
            (boxed(sqlite), is_known)
        }
        Place::Postgres(server) => {
            let mut postgres = Postgres::again(server)?;
            let is_known = postgres.knows(run)?;
            (boxed(postgres), is_known)
        }
    };
    if is_known {
        Ok(keeper)
    } else {
        Err(Trouble::Away("it no longer knows the run".to_owned()))
    }
}

fn boxed(keeper: impl Keeper + 'static) -> Box<dyn Keeper> {
    Box::new(keeper)
}

/// The runs of these rows, without duplicates.
pub(super) fn runs_of(rows: &[Arc<Row>]) -> Vec<&Run> {
    let mut runs: Vec<&Run> = Vec::new();
    for row in rows {
        if runs.last().is_none_or(|last| last.id != row.run.id) {
            runs.push(&row.run);
        }
    }
    runs
}

/// The words of a command line as JSON.
///
/// # Panics
/// Never: a list of texts is JSON.
pub(super) fn asked(run: &Run) -> String {
    serde_json::to_string(&run.asked).expect("a list of texts is JSON")
}
