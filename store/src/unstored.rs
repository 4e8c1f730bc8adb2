//! A file of rows that are not in the store: a line of JSON for each, with everything that is needed to put it
//! there later.
//!
//! `nicdrill replay` reads such a file too: a line is a row with its `document`.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::row::Row;

/// A file of rows; not there as long as it has none.
#[derive(Debug)]
pub(super) struct Unstored {
    path: PathBuf,
    file: Option<File>,
    /// Where the rows begin that were not taken back yet, in bytes.
    from: u64,
    /// Where the last whole row ends, in bytes.
    to: u64,
    /// How many those are.
    rows: usize,
}

impl Unstored {
    /// A file that may come to be here.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            from: 0,
            to: 0,
            rows: 0,
        }
    }

    /// Where it is, if it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The rows in it that were not taken back.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &Row) -> io::Result<()> {
        let mut line = serde_json::to_string(row)?;
        line.push('\n');
        let path = &self.path;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(OpenOptions::new().append(true).create(true).open(path)?),
        };
        if let Err(error) = file.write_all(line.as_bytes()) {
            // Half a line would spoil the next one. Where this fails too, reading will tell.
            let _ = file.set_len(self.to);
            return Err(error);
        }
        self.to += line.len() as u64;
        self.rows += 1;
        Ok(())
    }

    /// Takes the oldest rows back, at most so many.
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
