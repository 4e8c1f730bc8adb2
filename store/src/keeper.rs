//! Access to a database: an open SQLite file or a connection to PostgreSQL.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use uuid::Uuid;

use crate::{
    postgres::Postgres,
    row::Row,
    run::Run,
    sqlite::Sqlite,
    url::{Place, StoreUrl},
};

/// An open store.
pub(super) trait Keeper: Send {
    /// Writes rows and their runs, all or none. Existing rows stay unchanged.
    fn write(&mut self, rows: &[Arc<Row>]) -> Result<(), Trouble>;

    /// Counts the events of a run that can be read.
    fn count(&mut self, run: Uuid) -> Result<Counted, Trouble>;

    /// The ids of those of these rows that can be read.
    fn found(&mut self, rows: &[Arc<Row>]) -> Result<BTreeSet<Uuid>, Trouble>;
}

/// What was read back of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// How many events there are.
    pub(super) events: u64,
    /// Of how many drills.
    pub(super) drills: u64,
}

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
        /// The store.
        store: String,
        /// The cause.
        cause: String,
    },
    /// A column of an existing table has a type that cannot hold what is written.
    #[error("the column `{column}` of the table `{table}` of the store `{store}` has the type `{found}`, and {wanted} are written\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    AnotherType {
        /// The store.
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
        /// The store.
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

/// What is said of a store that takes an event and does not have it.
pub(super) const NOT_THERE: &str = "it takes an event, and when it is read back it is not there: a trigger or a rule of its tables drops it";

/// Opens a store, creates missing tables, and writes the run into it.
pub(super) fn begin(url: &StoreUrl, run: &Run) -> Result<Box<dyn Keeper>, StoreError> {
    let begun = match &url.0 {
        Place::Sqlite(path) => Sqlite::begin(path, run).map(boxed),
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
