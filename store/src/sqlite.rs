//! The store as an SQLite file.
//!
//! Every batch is one transaction with the default journal, so that other readers see whole batches only.
//! A reader that locks the file only delays the writes.

use std::{
    fs::{self, OpenOptions},
    path::Path,
    sync::Arc,
    time::Duration,
};

use rusqlite::{
    Connection, Error, ErrorCode, OpenFlags, OptionalExtension as _, TransactionBehavior, params,
    types::ValueRef,
};
use uuid::Uuid;

use crate::{
    keeper::{Keeper, Kept, NO_RUN, Trouble, Unfit, asked, runs_of, trial_in, tried},
    row::{READ_BACK, Row},
    run::Run,
    table::{Column, EVENTS, TABLES},
};

/// How long a write waits for another program's lock before it counts as failed. Chosen.
const LOCK_WAIT: Duration = Duration::from_secs(1);

const MAKE_TABLES: &str = include_str!("sqlite.sql");
const MAKE_FEED: &str = include_str!("sqlite_feed.sql");

/// An open file.
pub(super) struct Sqlite(Connection);

impl Sqlite {
    /// Opens the file, and creates it if it does not exist. Whoever gives up after `at_most` hears of no lock before.
    pub(super) fn begin(path: &Path, run: &Run, at_most: Duration) -> Result<Self, Unfit> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let unreachable = |error: Error| Unfit::Unreachable(cause(path, &error));
        // Of a pipe or a device SQLite says that it is a disk with errors.
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(Unfit::Unreachable("it is not a regular file".to_owned()));
        }
        let mut opened = Self(open(path, flags, at_most + LOCK_WAIT).map_err(unreachable)?);
        let mut transaction = opened
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(unreachable)?;
        let is_new = columns(&transaction, EVENTS.name)
            .map_err(unreachable)?
            .is_empty();
        transaction
            .execute_batch(MAKE_TABLES)
            .map_err(unreachable)?;
        for table in TABLES {
            let found = columns(&transaction, table.name).map_err(unreachable)?;
            if let Some(column) = table.missing(&found) {
                let table = table.name;
                return Err(Unfit::Lacks { table, column });
            }
            if let Some((column, found, wanted)) = table.unfit(&found) {
                return Err(Unfit::Types {
                    table: table.name,
                    column,
                    found,
                    wanted,
                });
            }
        }
        if is_new {
            transaction.execute_batch(MAKE_FEED).map_err(unreachable)?;
        }
        write_run(&transaction, run).map_err(unreachable)?;
        if !has_run(&transaction, run).map_err(unreachable)? {
            return Err(Unfit::Unreachable(NO_RUN.to_owned()));
        }
        let trial = [Row::trial(run)];
        let savepoint = transaction.savepoint().map_err(unreachable)?;
        insert(&savepoint, &trial).map_err(unreachable)?;
        let found = trial_in(&trial[0], |each| read_back(&savepoint, run.id, each));
        let found = found.map_err(unreachable)?;
        // Without a commit nothing of it stays.
        drop(savepoint);
        tried(found.as_ref(), &trial[0])?;
        transaction.commit().map_err(unreachable)?;
        opened.0.busy_timeout(LOCK_WAIT).map_err(unreachable)?;
        Ok(opened)
    }

    /// Opens the file, which must exist.
    pub(super) fn again(path: &Path) -> Result<Self, Trouble> {
        let opened = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, LOCK_WAIT);
        Ok(Self(
            opened.map_err(|error| Trouble::Away(cause(path, &error)))?,
        ))
    }

    /// Whether the run was written here.
    pub(super) fn knows(&self, run: Uuid) -> Result<bool, Trouble> {
        let asked = "SELECT 1 FROM nicdrill_runs WHERE id = ?1";
        let found = self.0.query_row(asked, [run.to_string()], |_| Ok(()));
        Ok(found.optional()?.is_some())
    }
}

impl Keeper for Sqlite {
    fn write(&mut self, rows: &[Arc<Row>]) -> Result<(), Trouble> {
        let transaction = self
            .0
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for run in runs_of(rows) {
            write_run(&transaction, run)?;
        }
        insert(&transaction, rows)?;
        Ok(transaction.commit()?)
    }

    fn read_back(&mut self, run: Uuid, each: &mut dyn FnMut(Kept)) -> Result<(), Trouble> {
        Ok(read_back(&self.0, run, each)?)
    }
}

/// Writes rows without their runs.
fn insert(connection: &Connection, rows: &[Arc<Row>]) -> Result<(), Error> {
    let mut event = connection.prepare(
        "INSERT INTO health_events (id, node_name, event_type, severity, recommended_action, \
         document, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) \
         ON CONFLICT DO NOTHING",
    )?;
    let mut origin = connection.prepare(
        "INSERT INTO nicdrill_events (event_id, run, drill, arm, poll, place) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
    )?;
    for row in rows {
        let id = row.id.to_string();
        event.execute(params![
            id,
            row.node_name,
            row.event_type,
            row.severity,
            row.recommended_action,
            row.document.get(),
            row.created_at,
        ])?;
        origin.execute(params![
            id,
            row.run.id.to_string(),
            row.drill,
            row.arm,
            row.poll.cast_signed(),
            row.place.cast_signed(),
        ])?;
    }
    Ok(())
}

/// Reads the events of a run back.
fn read_back(connection: &Connection, run: Uuid, each: &mut dyn FnMut(Kept)) -> Result<(), Error> {
    let mut asked = connection.prepare(
        "SELECT o.event_id, e.node_name, e.event_type, e.severity, e.recommended_action, \
         o.drill, o.arm, o.poll, o.place, e.document \
         FROM nicdrill_events AS o JOIN health_events AS e ON e.id = o.event_id \
         JOIN nicdrill_runs AS r ON r.id = o.run WHERE o.run = ?1",
    )?;
    let mut rows = asked.query([run.to_string()])?;
    while let Some(row) = rows.next()? {
        let mut columns: [Option<String>; READ_BACK] = Default::default();
        for (place, column) in (1_usize..).zip(&mut columns) {
            *column = text(row.get_ref(place)?);
        }
        let id = text(row.get_ref(0)?).unwrap_or_default();
        Kept::of(&id, &columns).into_iter().for_each(&mut *each);
    }
    Ok(())
}

/// A value as text, whatever its type is.
fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// SQLite's errors about values are errors of the row; all others are errors of the file.
impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let cause = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig) => {
                Self::Refused(cause)
            }
            _ => Self::Away(cause),
        }
    }
}

fn open(path: &Path, flags: OpenFlags, lock_wait: Duration) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(lock_wait)?;
    Ok(connection)
}

/// The text of an error. SQLite does not say why a file cannot be opened: the system does, of the file or of its folder, in
/// which SQLite makes a journal.
fn cause(path: &Path, error: &Error) -> String {
    if error.sqlite_error_code() != Some(ErrorCode::CannotOpen) {
        return error.to_string();
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let of_folder = || {
        let is_folder = fs::read_dir(folder).map(drop);
        is_folder.map_err(|cause| format!("the folder `{}`: {cause}", folder.display()))
    };
    let of_file = || {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).open(path);
        opened.map(drop).map_err(|cause| cause.to_string())
    };
    match of_folder().and_then(|()| of_file()) {
        Err(cause) => format!("{error}: {cause}"),
        Ok(()) => format!(
            "{error}: no journal can be made beside it, in `{}`",
            folder.display()
        ),
    }
}

fn write_run(connection: &Connection, run: &Run) -> Result<usize, Error> {
    connection.execute(
        "INSERT INTO nicdrill_runs (id, started, seed, asked) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT DO NOTHING",
        params![
            run.id.to_string(),
            run.started,
            run.seed.to_string(),
            asked(run)
        ],
    )
}

/// Whether the run is there as it was written.
fn has_run(connection: &Connection, run: &Run) -> Result<bool, Error> {
    let mut written = connection.prepare(
        "SELECT 1 FROM nicdrill_runs WHERE id = ?1 AND started = ?2 AND seed = ?3 AND asked = ?4",
    )?;
    written.exists(params![
        run.id.to_string(),
        run.started,
        run.seed.to_string(),
        asked(run)
    ])
}

/// The columns of a table; empty if it does not exist.
fn columns(connection: &Connection, table: &str) -> Result<Vec<Column>, Error> {
    let mut listed = connection.prepare("SELECT name, type FROM pragma_table_info(?1)")?;
    let columns = listed.query_map([table], |row| {
        Ok(Column {
            name: row.get(0)?,
            declared: row.get(1)?,
        })
    })?;
    columns.collect()
}
