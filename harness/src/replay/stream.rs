//! Reads the file of a recorded stream, in the formats that clusters export: lines of JSON, one list,
//! documents over several lines, and a CSV table, with or without a byte-order mark.

use std::{
    io::{BufRead, BufReader, Read as _},
    path::Path,
};

use cluster::recorded::{
    CsvTable, LINE_MAX_BYTES, goes_on, is_open, read_documents, read_line, read_list,
};
use proto::HealthEvents;

use super::ReplayError;
use crate::read_files::regular;

/// The byte-order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a stream; `take` receives each call in order.
///
/// # Errors
/// [`ReplayError`]; calls passed to `take` before remain valid.
pub(super) fn read(path: &Path, mut take: impl FnMut(&HealthEvents)) -> Result<(), ReplayError> {
    let file = path.display().to_string();
    let opened = regular::open(path);
    let mut reader = BufReader::new(opened.map_err(|cause| ReplayError::Io {
        file: file.clone(),
        cause,
    })?);
    let mut start = [0; MARK.len()];
    let mut length = 0;
    let mut io = |cause| ReplayError::Io {
        file: file.clone(),
        cause,
    };
    while length < start.len() {
        match reader.read(&mut start[length..]).map_err(&mut io)? {
            0 => break,
            more => length += more,
        }
    }
    if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        return Err(ReplayError::Utf16 { file });
    }
    let start: &[u8] = match &start[..length] {
        MARK => &[],
        other => other,
    };
    let mut reader = BufReader::new(start.chain(reader));
    let mut number = 0;
    while let Some(byte) = reader.fill_buf().map_err(&mut io)?.first().copied() {
        match byte {
            b'[' => {
                let list = read_list(reader, |call| take(&call));
                return list.map_err(|cause| ReplayError::Document { file, cause });
            }
            b'\n' => number += 1,
            b' ' | b'\t' | b'\r' => {}
            _ => break,
        }
        reader.consume(1);
    }
    let mut lines = Lines {
        file,
        reader,
        number,
    };
    lines.read(take)
}

struct Lines<R> {
    file: String,
    reader: R,
    /// The number of the line that was read last, from 1.
    number: usize,
}

impl<R: BufRead> Lines<R> {
    fn read(&mut self, mut take: impl FnMut(&HealthEvents)) -> Result<(), ReplayError> {
        let mut table: Option<CsvTable> = None;
        let mut is_first = true;
        while let Some(mut text) = self.line()? {
            let line = self.number;
            if text.trim().is_empty() {
                continue;
            }
            let at = |cause| ReplayError::Line {
                file: self.file.clone(),
                line,
                cause,
            };
            if is_first && goes_on(&text) {
                let rest = text.as_bytes().chain(&mut self.reader);
                let read = read_documents(rest, |call| take(&call));
                return read.map_err(|cause| ReplayError::Document {
                    file: self.file.clone(),
                    cause,
                });
            }
            let is_header = is_first && {
                table = first_of_table(&text);
                table.is_some_and(|table| table.has_header)
            };
            is_first = false;
            if is_header {
                continue;
            }
            if let Some(table) = table {
                while is_open(&text) {
                    match self.line()? {
                        Some(more) => text += &more,
                        None => break,
                    }
                }
                let at = |cause| ReplayError::Line {
                    file: self.file.clone(),
                    line,
                    cause,
                };
                let document = table.document(&text).map_err(at)?;
                if let Some(call) = read_line(&document).map_err(at)? {
                    take(&call);
                }
            } else if let Some(call) = read_line(&text).map_err(at)? {
                take(&call);
            }
        }
        Ok(())
    }

    /// The next line with its end; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<String>, ReplayError> {
        let mut bytes = Vec::new();
        let limit = LINE_MAX_BYTES as u64 + 1;
        let read = self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut bytes);
        let read = read.map_err(|cause| ReplayError::Io {
            file: self.file.clone(),
            cause,
        })?;
        self.number += 1;
        let not_text = || ReplayError::NotText {
            file: self.file.clone(),
            line: self.number,
        };
        if read > LINE_MAX_BYTES {
            return Err(not_text());
        }
        let text = String::from_utf8(bytes).map_err(|_| not_text())?;
        Ok((read > 0).then_some(text))
    }
}

/// The table that begins with this line, if it is no JSON.
fn first_of_table(line: &str) -> Option<CsvTable> {
    let begins_json =
        line.trim_start().starts_with('{') || line.trim_start().starts_with("\"{\\\"");
    if begins_json {
        return None;
    }
    CsvTable::beginning_with(line)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_stream_in_a_pipe_that_nobody_writes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let told = read(&pipe, |_| ()).unwrap_err().to_string();
        assert!(told.contains("it is not a regular file"), "{told}");
    }
}
