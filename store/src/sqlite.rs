//! The store as an SQLite file.
//!
//! Every batch is one transaction with the default journal, so that other readers see whole batches only.
//! A reader that locks the file only delays the writes.

use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};

use rusqlite::{
    Connection, Error, ErrorCode, OpenFlags, OptionalExtension as _, TransactionBehavior, params,
};
use uuid::Uuid;

use crate::{
    keeper::{Counted, Keeper, NOT_THERE, Trouble, Unfit, asked, runs_of},
    row::Row,
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
    /// Opens the file, and creates it if it does not exist.
    pub(super) fn begin(path: &Path, run: &Run) -> Result<Self, Unfit> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let unreachable = |error: Error| Unfit::Unreachable(error.to_string());
        let mut opened = Self(open(path, flags).map_err(unreachable)?);
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
        let trial = [Row::trial(run)];
        let savepoint = transaction.savepoint().map_err(unreachable)?;
        insert(&savepoint, &trial).map_err(unreachable)?;
        let found = found(&savepoint, &trial).map_err(unreachable)?;
        // Without a commit nothing of it stays.
        drop(savepoint);
        if found.is_empty() {
            return Err(Unfit::Unreachable(NOT_THERE.to_owned()));
        }
        transaction.commit().map_err(unreachable)?;
        Ok(opened)
    }

    /// Opens the file, which must exist.
    pub(super) fn again(path: &Path) -> Result<Self, Trouble> {
        Ok(Self(open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?))
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

    fn count(&mut self, run: Uuid) -> Result<Counted, Trouble> {
        let asked = "SELECT count(*), count(DISTINCT drill) FROM nicdrill_events \
                     JOIN health_events ON health_events.id = event_id WHERE run = ?1";
        let counted = self.0.query_row(asked, [run.to_string()], |row| {
            let (events, drills): (i64, i64) = (row.get(0)?, row.get(1)?);
            Ok(Counted {
                events: events.unsigned_abs(),
                drills: drills.unsigned_abs(),
            })
        });
        Ok(counted?)
    }

    fn found(&mut self, rows: &[Arc<Row>]) -> Result<BTreeSet<Uuid>, Trouble> {
        Ok(found(&self.0, rows)?)
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

/// The ids of those of these rows that can be read.
fn found(connection: &Connection, rows: &[Arc<Row>]) -> Result<BTreeSet<Uuid>, Error> {
    let mut asked = connection.prepare(
        "SELECT 1 FROM health_events JOIN nicdrill_events ON event_id = health_events.id \
         WHERE health_events.id = ?1",
    )?;
    let mut found = BTreeSet::new();
    for row in rows {
        if asked.exists([row.id.to_string()])? {
            found.insert(row.id);
        }
    }
    Ok(found)
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

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(LOCK_WAIT)?;
    Ok(connection)
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
