//! A file of rows that are not in the store: one line of JSON per row, with everything needed to store it
//! later.
//!
//! `nicdrill replay` reads such a file too: each line has the row's `document`.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use reports::visible;

use crate::row::Row;

/// A file of rows; it does not exist while it has none.
#[derive(Debug)]
pub(super) struct Unstored {
    path: PathBuf,
    file: Option<File>,
    /// The start of the first row that was not taken back yet, in bytes.
    from: u64,
    /// The end of the last complete row, in bytes.
    to: u64,
    /// The number of rows between.
    rows: usize,
}

impl Unstored {
    /// A file at this path, which is created with the first row.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            from: 0,
            to: 0,
            rows: 0,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of rows that were not taken back.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Appends a row.
    pub(super) fn add(&mut self, row: &Row) -> io::Result<()> {
        let mut line = visible(&serde_json::to_string(row)?).into_owned();
        line.push('\n');
        let path = &self.path;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(OpenOptions::new().append(true).create(true).open(path)?),
        };
        if let Err(error) = file.write_all(line.as_bytes()) {
            // A partial line would corrupt the next one. If this fails too, reading will report it.
            let _ = file.set_len(self.to);
            return Err(error);
        }
        self.to += line.len() as u64;
        self.rows += 1;
        Ok(())
    }

    /// Removes and returns the oldest rows, at most this many.
    pub(super) fn take(&mut self, rows_max: usize) -> io::Result<Vec<Arc<Row>>> {
        if self.rows == 0 {
            return Ok(Vec::new());
        }
        let mut file = BufReader::new(File::open(&self.path)?);
        file.seek(SeekFrom::Start(self.from))?;
        let mut taken = Vec::new();
        let mut bytes = 0;
        let mut line = String::new();
        while taken.len() < rows_max.min(self.rows) {
            line.clear();
            bytes += file.read_line(&mut line)? as u64;
            taken.push(Arc::new(serde_json::from_str(&line)?));
        }
        self.from += bytes;
        self.rows -= taken.len();
        if self.rows == 0 {
            self.remove()?;
        }
        Ok(taken)
    }

    fn remove(&mut self) -> io::Result<()> {
        self.file = None;
        (self.from, self.to) = (0, 0);
        fs::remove_file(&self.path)
    }
}
