//! Rows of a table as `psql --csv` and `\copy … csv` write them (RFC 4180): fields between commas, those
//! with commas, quotes or line breaks in quotes, quotes in them doubled.

use super::{EXPORTS, RecordError};

/// The column of the table that holds the event.
const COLUMN: &str = "document";

/// A table of events, by its first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvTable {
    /// The number of the column with the event, from 0.
    column: usize,
    /// Whether the first record names the columns.
    pub has_header: bool,
}

impl CsvTable {
    /// The table that begins with this record; `None` if it is none with events: it has neither a column
    /// `document` nor a field that holds JSON.
    #[must_use]
    pub fn beginning_with(record: &str) -> Option<Self> {
        let fields = fields(record)?;
        let named = fields.iter().position(|field| field.trim() == COLUMN);
        let found = |has_header| move |column| Self { column, has_header };
        let json = || fields.iter().position(|field| field.starts_with('{'));
        named.map(found(true)).or_else(|| json().map(found(false)))
    }

    /// The field with the event.
    ///
    /// # Errors
    /// If the record has no such field.
    pub fn document(&self, record: &str) -> Result<String, RecordError> {
        let mut fields = fields(record).unwrap_or_default();
        if self.column < fields.len() {
            return Ok(fields.swap_remove(self.column));
        }
        let (has, needed) = (fields.len(), self.column + 1);
        let cause = format!("the record has {has} fields, and field {needed} holds the event");
        Err(RecordError::new(cause, EXPORTS))
    }
}

/// Whether a quoted field is still open at the end of this text, so that the record goes on in the next
/// line.
#[must_use]
pub fn is_open(record: &str) -> bool {
    record.matches('"').count() % 2 == 1
}

/// The fields of a whole record; `None` if a quoted field does not end.
fn fields(record: &str) -> Option<Vec<String>> {
    let record = record.trim_end_matches(['\r', '\n']);
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = record.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields.last_mut()?.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    (!is_quoted).then_some(fields)
}
