//! The store as a PostgreSQL database.
//!
//! A batch is one transaction of three statements, each with the whole batch as arrays of texts, so that
//! the number of round trips does not depend on the number of rows. Rows are inserted in order, which is
//! the order of the change feed.

mod server;
mod tls;

use std::{error::Error as _, sync::Arc};

use ::postgres::{Client, Error, GenericClient, fallible_iterator::FallibleIterator as _};
use uuid::Uuid;

pub(super) use self::server::Server;
use crate::{
    keeper::{Keeper, Kept, NO_RUN, Trouble, Unfit, asked, runs_of, trial_in, tried},
    row::{READ_BACK, Row},
    run::Run,
    table::{Column, EVENTS, TABLES},
};

/// The advisory lock for creating tables, so that two runs that start at once create them once. Chosen: any
/// number that no other program uses.
const MAKING: i64 = 0x6e69_6364_7269_6c6c;

const MAKE_TABLES: &str = include_str!("postgres.sql");
const MAKE_FEED: &str = include_str!("postgres_feed.sql");

/// A connection.
pub(super) struct Postgres(Client);

impl Postgres {
    /// Connects and creates missing tables.
    pub(super) fn begin(server: &Server, run: &Run) -> Result<Self, Unfit> {
        let unreachable = |error: Error| Unfit::Unreachable(reason(&error));
        let mut client = server.connect().map_err(Unfit::Unreachable)?;
        let mut transaction = client.transaction().map_err(unreachable)?;
        transaction
            .execute("SELECT pg_advisory_xact_lock($1)", &[&MAKING])
            .map_err(unreachable)?;
        let is_new = columns(&mut transaction, EVENTS.name)
            .map_err(unreachable)?
            .is_empty();
        transaction
            .batch_execute(MAKE_TABLES)
            .map_err(unreachable)?;
        for table in TABLES {
            let found = columns(&mut transaction, table.name).map_err(unreachable)?;
            if let Some(column) = table.missing(&found) {
                let table = table.name;
                return Err(Unfit::Lacks { table, column });
            }
        }
        if is_new {
            transaction.batch_execute(MAKE_FEED).map_err(unreachable)?;
        }
        write_run(&mut transaction, run).map_err(unreachable)?;
        if !has_run(&mut transaction, run).map_err(unreachable)? {
            return Err(Unfit::Unreachable(NO_RUN.to_owned()));
        }
        // A column of another type refuses it, and a trigger may drop or change it.
        let trial = [Row::trial(run)];
        let mut savepoint = transaction.transaction().map_err(unreachable)?;
        insert(&mut savepoint, &trial).map_err(unreachable)?;
        let found = trial_in(&trial[0], |each| read_back(&mut savepoint, run.id, each));
        let found = found.map_err(unreachable)?;
        savepoint.rollback().map_err(unreachable)?;
        tried(found.as_ref(), &trial[0])?;
        transaction.commit().map_err(unreachable)?;
        Ok(Self(client))
    }

    /// Reconnects.
    pub(super) fn again(server: &Server) -> Result<Self, Trouble> {
        server.connect().map(Self).map_err(Trouble::Away)
    }

    /// Whether the run was written here.
    pub(super) fn knows(&mut self, run: Uuid) -> Result<bool, Trouble> {
        let asked = "SELECT 1 FROM nicdrill_runs WHERE id = $1::text::uuid";
        Ok(self.0.query_opt(asked, &[&run.to_string()])?.is_some())
    }
}

impl Keeper for Postgres {
    fn write(&mut self, rows: &[Arc<Row>]) -> Result<(), Trouble> {
        let mut transaction = self.0.transaction()?;
        for run in runs_of(rows) {
            write_run(&mut transaction, run)?;
        }
        insert(&mut transaction, rows)?;
        Ok(transaction.commit()?)
    }

    fn read_back(&mut self, run: Uuid, each: &mut dyn FnMut(Kept)) -> Result<(), Trouble> {
        Ok(read_back(&mut self.0, run, each)?)
    }
}

/// Writes rows without their runs.
fn insert(client: &mut impl GenericClient, rows: &[Arc<Row>]) -> Result<(), Error> {
    let ids: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
    client.execute(
        "INSERT INTO health_events (id, node_name, event_type, severity, recommended_action, \
         document, created_at, updated_at) \
         SELECT id::uuid, node_name, event_type, severity, recommended_action, \
         document::jsonb, at::timestamptz, at::timestamptz \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], \
         $7::text[]) WITH ORDINALITY AS given \
         (id, node_name, event_type, severity, recommended_action, document, at, nth) \
         ORDER BY nth ON CONFLICT DO NOTHING",
        &[
            &ids,
            &column(rows, |row| &row.node_name),
            &column(rows, |row| &row.event_type),
            &column(rows, |row| &row.severity),
            &column(rows, |row| &row.recommended_action),
            &column(rows, |row| row.document.get()),
            &column(rows, |row| &row.created_at),
        ],
    )?;
    let runs: Vec<String> = rows.iter().map(|row| row.run.id.to_string()).collect();
    let number = |of: fn(&Row) -> u64| -> Vec<i64> {
        rows.iter().map(|row| of(row).cast_signed()).collect()
    };
    client.execute(
        "INSERT INTO nicdrill_events (event_id, run, drill, arm, poll, place) \
         SELECT id::uuid, run::uuid, drill, arm, poll, place \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) \
         WITH ORDINALITY AS given (id, run, drill, arm, poll, place, nth) \
         ORDER BY nth ON CONFLICT DO NOTHING",
        &[
            &ids,
            &runs,
            &column(rows, |row| &row.drill),
            &column(rows, |row| &row.arm),
            &number(|row| row.poll),
            &number(|row| row.place),
        ],
    )?;
    Ok(())
}

/// Reads the events of a run back, as they come from the server.
fn read_back(
    client: &mut impl GenericClient,
    run: Uuid,
    each: &mut dyn FnMut(Kept),
) -> Result<(), Error> {
    let asked = "SELECT o.event_id::text, e.node_name::text, e.event_type::text, \
                 e.severity::text, e.recommended_action::text, o.drill::text, o.arm::text, \
                 o.poll::text, o.place::text, e.document::text \
                 FROM nicdrill_events AS o JOIN health_events AS e ON e.id = o.event_id \
                 JOIN nicdrill_runs AS r ON r.id = o.run WHERE o.run = $1::text::uuid";
    let mut rows = client.query_raw(asked, [run.to_string()])?;
    while let Some(row) = rows.next()? {
        let mut columns: [Option<String>; READ_BACK] = Default::default();
        for (place, column) in (1_usize..).zip(&mut columns) {
            *column = row.try_get(place)?;
        }
        let id: String = row.try_get(0)?;
        Kept::of(&id, &columns).into_iter().for_each(&mut *each);
    }
    Ok(())
}

/// Values that the server cannot accept or that violate a constraint are errors of the row (SQLSTATE
/// classes 22 and 23; "PostgreSQL documentation, Error Codes"); all others are errors of the server.
impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let cause = reason(&error);
        match error.code().map(|state| &state.code()[..2]) {
            Some("22" | "23") => Self::Refused(cause),
            _ => Self::Away(cause),
        }
    }
}

/// The error in one line, with its causes.
fn reason(error: &Error) -> String {
    let text = match error.as_db_error() {
        Some(reported) => reported.message().to_owned(),
        None => match error.source() {
            Some(source) => source.to_string(),
            None => error.to_string(),
        },
    };
    text.lines().next().unwrap_or_default().to_owned()
}

fn write_run(client: &mut impl GenericClient, run: &Run) -> Result<u64, Error> {
    client.execute(
        "INSERT INTO nicdrill_runs (id, started, seed, asked) \
         VALUES ($1::text::uuid, $2::text::timestamptz, $3, $4::text::jsonb) ON CONFLICT DO NOTHING",
        &[
            &run.id.to_string(),
            &run.started,
            &run.seed.to_string(),
            &asked(run),
        ],
    )
}

/// Whether the run is there as it was written.
fn has_run(client: &mut impl GenericClient, run: &Run) -> Result<bool, Error> {
    let written = client.query_opt(
        "SELECT 1 FROM nicdrill_runs WHERE id = $1::text::uuid \
         AND started = $2::text::timestamptz AND seed = $3 AND asked::text::jsonb = $4::text::jsonb",
        &[
            &run.id.to_string(),
            &run.started,
            &run.seed.to_string(),
            &asked(run),
        ],
    )?;
    Ok(written.is_some())
}

/// The columns of a table; empty if it does not exist.
fn columns(client: &mut impl GenericClient, table: &str) -> Result<Vec<Column>, Error> {
    let listed = client.query(
        "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass($1) \
         AND attnum > 0 AND NOT attisdropped",
        &[&table],
    )?;
    let column = |row: &::postgres::Row| {
        Ok(Column {
            name: row.try_get(0)?,
            declared: row.try_get(1)?,
        })
    };
    listed.iter().map(column).collect()
}

fn column<'a>(rows: &'a [Arc<Row>], of: impl Fn(&'a Row) -> &'a str) -> Vec<&'a str> {
    rows.iter().map(|row| of(row)).collect()
}
