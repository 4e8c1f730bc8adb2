//! The queue of rows between a run and its store: in order, in memory up to a limit, and then in a file.
//!
//! Rows leave it only once they are written, so that it always has everything that is not in the store; the last of those
//! are kept beside it until they were read back, because a store may have lost them.
//! Rows in memory come before those in the file; while the file has any, new rows are appended there.
//! Nothing here waits; the writer does.

use std::{
    collections::{BTreeSet, VecDeque},
    io,
    path::Path,
    sync::Arc,
};

use uuid::Uuid;

use crate::{row::Row, unstored::Unstored};

/// The name of the file for rows beyond the memory limit. It is removed at the end of the run.
const WAITING: &str = "waiting.jsonl";
/// The name of the file of rows that are not in the store at the end of the run.
const UNSTORED: &str = "unstored.jsonl";

/// The rows that are not in the store yet.
#[derive(Debug)]
pub(super) struct Queue {
    memory: VecDeque<Arc<Row>>,
    /// The last rows that were written, at most as many as memory is to hold.
    written: VecDeque<Arc<Row>>,
    memory_rows_max: usize,
    waiting: Unstored,
    unstored: Unstored,
    /// Why rows were or may be lost, if so.
    broken: Option<String>,
}

impl Queue {
    /// An empty queue with its files in this folder.
    pub(super) fn new(folder: &Path, memory_rows_max: usize) -> Self {
        Self {
            memory: VecDeque::new(),
            written: VecDeque::new(),
            memory_rows_max: memory_rows_max.max(1),
            waiting: Unstored::new(folder.join(WAITING)),
            unstored: Unstored::new(folder.join(UNSTORED)),
            broken: None,
        }
    }

    /// Appends rows.
    pub(super) fn add(&mut self, rows: Vec<Row>) {
        for row in rows {
            let goes_to_file = self.waiting.rows() > 0 || self.memory.len() >= self.memory_rows_max;
            if !goes_to_file {
                self.memory.push_back(Arc::new(row));
            } else if let Err(error) = self.waiting.add(&row) {
                // Rows out of order are better than lost ones.
                self.fails(&error);
                self.memory.push_back(Arc::new(row));
            }
        }
    }

    /// The first rows, at most this many. They stay until [`Queue::drop_first`].
    pub(super) fn first(&mut self, rows_max: usize) -> Vec<Arc<Row>> {
        if self.memory.is_empty() {
            match self.waiting.take(self.memory_rows_max) {
                Ok(rows) => self.memory.extend(rows),
                Err(error) => self.fails(&error),
            }
        }
        self.memory.iter().take(rows_max).cloned().collect()
    }

    /// Removes the first rows, which were written.
    pub(super) fn drop_first(&mut self, rows: usize) {
        let rows = rows.min(self.memory.len());
        self.written.extend(self.memory.drain(..rows));
        let over = self.written.len().saturating_sub(self.memory_rows_max);
        self.written.drain(..over);
    }

    /// Moves those of the last rows that were not read back to the file of unstored rows; returns how many there are.
    pub(super) fn not_found(&mut self, found: &BTreeSet<Uuid>) -> u64 {
        let mut rows = 0;
        for row in std::mem::take(&mut self.written) {
            if !found.contains(&row.id) {
                rows += 1;
                if let Err(error) = self.unstored.add(&row) {
                    self.fails(&error);
                }
            }
        }
        rows
    }

    /// Moves the first row, which the store rejects, to the file of unstored rows.
    pub(super) fn refuse_first(&mut self) {
        if let Some(row) = self.memory.pop_front()
            && let Err(error) = self.unstored.add(&row)
        {
            self.fails(&error);
        }
    }

    /// Moves all remaining rows to the file of unstored rows.
    pub(super) fn give_up(&mut self) {
        loop {
            let rows = self.first(self.memory_rows_max);
            if rows.is_empty() {
                break;
            }
            rows.iter().for_each(|_| self.refuse_first());
        }
    }

    /// The file of rows that are not in the store.
    pub(super) fn file(&self) -> &Path {
        self.unstored.path()
    }

    /// Why rows were or may be lost, if so.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    fn fails(&mut self, error: &io::Error) {
        let folder = self.unstored.path().parent().unwrap_or(Path::new("."));
        let text = format!("`{}` cannot be written: {error}", folder.display());
        self.broken.get_or_insert(text);
    }
}
