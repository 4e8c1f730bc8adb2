//! The rows between a run and its store: in order, in memory as far as that goes, and then in a file.
//!
//! Rows leave it only when they are written, so that at any moment what is not in the store is here. The
//! order is: what is in memory, then what is in the file; as long as the file holds any, new rows go there.
//! Nothing here waits; that is the writer's.

use std::{collections::VecDeque, io, path::Path, sync::Arc};

use crate::{row::Row, unstored::Unstored};

/// The name of the file in which rows wait that memory is not to hold. It is gone when the run has ended.
const WAITING: &str = "waiting.jsonl";
/// The name of the file of rows that are not in the store when the run has ended.
const UNSTORED: &str = "unstored.jsonl";

/// The rows that are not in the store.
#[derive(Debug)]
pub(super) struct Queue {
    memory: VecDeque<Arc<Row>>,
    memory_rows_max: usize,
    waiting: Unstored,
    unstored: Unstored,
    /// Why rows were lost or may be, if they were.
    broken: Option<String>,
}

impl Queue {
    /// An empty one, whose files lie in this folder.
    pub(super) fn new(folder: &Path, memory_rows_max: usize) -> Self {
        Self {
            memory: VecDeque::new(),
            memory_rows_max: memory_rows_max.max(1),
            waiting: Unstored::new(folder.join(WAITING)),
            unstored: Unstored::new(folder.join(UNSTORED)),
            broken: None,
        }
    }

    /// Adds rows at its end.
    pub(super) fn add(&mut self, rows: Vec<Row>) {
        for row in rows {
            let goes_to_file = self.waiting.rows() > 0 || self.memory.len() >= self.memory_rows_max;
            if !goes_to_file {
                self.memory.push_back(Arc::new(row));
            } else if let Err(error) = self.waiting.add(&row) {
                // Out of order is better than lost.
                self.fails(&error);
                self.memory.push_back(Arc::new(row));
            }
        }
    }

    /// The first rows, at most so many. They stay until [`Queue::drop_first`].
    pub(super) fn first(&mut self, rows_max: usize) -> Vec<Arc<Row>> {
        if self.memory.is_empty() {
            match self.waiting.take(self.memory_rows_max) {
                Ok(rows) => self.memory.extend(rows),
                Err(error) => self.fails(&error),
            }
        }
        self.memory.iter().take(rows_max).cloned().collect()
    }

    /// The first rows are in the store.
    pub(super) fn drop_first(&mut self, rows: usize) {
        self.memory.drain(..rows.min(self.memory.len()));
    }

    /// The store will never take the first row.
    pub(super) fn refuse_first(&mut self) {
        if let Some(row) = self.memory.pop_front()
            && let Err(error) = self.unstored.add(&row)
        {
            self.fails(&error);
        }
    }

    /// Puts whatever is left into the file of unstored rows.
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

    /// Why rows were lost or may be, if they were.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    fn fails(&mut self, error: &io::Error) {
        let folder = self.unstored.path().parent().unwrap_or(Path::new("."));
        let text = format!("`{}` cannot be written: {error}", folder.display());
        self.broken.get_or_insert(text);
    }
}
