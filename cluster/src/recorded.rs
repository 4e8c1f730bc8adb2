//! Recorded streams: health events as JSON, one call or one event per line, as one list, or in a column
//! of a CSV table.
//!
//! Accepted are: a call in a drill's run folder (`{"events":[…]}`), a single event, and documents
//! exported from NVSentinel's stores (`{"healthevent":{…}}`, or a row with `document`), also where a
//! document is a text that holds JSON. Keys are compared case-insensitively, enumerations may be names or numbers, and missing fields are empty,
//! false or zero, as in the stores. Start at [`read_line`].

mod csv;
mod document;
mod kubernetes;
mod sequence;
mod write;

use proto::HealthEvents;
use serde_json::Value;

pub use csv::{CsvTable, is_open};
use document::Fields;
pub use sequence::{read_documents, read_list};
pub use write::{RecordedCall, write_call};

/// The largest size of one line, in bytes.
pub const LINE_MAX_BYTES: usize = 1 << 20;

/// The commands that write what can be read.
const EXPORTS: &str = "`mongoexport --db HealthEventsDatabase --collection HealthEvents`, or `psql --csv -c 'select document \
    from health_events order by created_at'`, writes such a stream";

/// Why a line is invalid; the reader of the file adds the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}\nhint: {hint}")]
pub struct RecordError {
    /// What was found, and what is allowed.
    pub cause: String,
    /// The hint.
    pub hint: String,
}

impl RecordError {
    fn new(cause: impl Into<String>, hint: &str) -> Self {
        Self {
            cause: cause.into(),
            hint: hint.to_owned(),
        }
    }
}

/// Parses a line to a call; `None` for an empty line and for a call that was not accepted.
///
/// # Errors
/// [`RecordError`], if the line is neither a health event nor a call.
pub fn read_line(line: &str) -> Result<Option<HealthEvents>, RecordError> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    if line.len() > LINE_MAX_BYTES {
        let cause = format!(
            "the line has {} bytes, at most {LINE_MAX_BYTES}",
            line.len()
        );
        return Err(RecordError::new(cause, "one line is one call or one event"));
    }
    read_value(&serde_json::from_str(line).map_err(|error| no_json(line, &error))?)
}

/// Whether a line is the beginning of a document that goes on in the next one.
#[must_use]
pub fn goes_on(line: &str) -> bool {
    let read: Result<Value, _> = serde_json::from_str(line);
    line.trim_start().starts_with('{') && read.is_err_and(|error| error.is_eof())
}

fn no_json(line: &str, error: &serde_json::Error) -> RecordError {
    let cause = format!("column {}: no JSON: {}", error.column(), reason(error));
    // `psql` without `--csv` draws a table of dashes and bars, whose first line names the columns.
    let is_table = line.contains(" | ") || line.trim_start().starts_with("---");
    let hint = if is_table {
        EXPORTS
    } else {
        "one line holds one whole JSON object"
    };
    RecordError::new(cause, hint)
}

/// Parses a document to a call; `None` for a call that was not accepted.
fn read_value(value: &Value) -> Result<Option<HealthEvents>, RecordError> {
    let unwrapped = text_as_json(value)?;
    let value = unwrapped.as_ref().unwrap_or(value);
    let fields = Fields::of(value, "the line")?;
    if let Some(refused) = kubernetes::refused(&fields) {
        return Err(refused);
    }
    if fields.get("event").is_some_and(Value::is_string) {
        return Err(RecordError::new(
            "the line is about a run, not a health event",
            "a drill's health events are in `drills/…/memory-health-events.jsonl` (`nicdrill run --keep`)",
        ));
    }
    if let Some(events) = fields.list("events")? {
        if fields.get("accepted") == Some(&Value::Bool(false)) {
            return Ok(None);
        }
        let read = events.iter().map(document::health_event);
        return Ok(Some(HealthEvents {
            version: proto::VERSION,
            events: read.collect::<Result<_, _>>()?,
        }));
    }
    let mut inner = value.clone();
    for wrapper in ["document", "healthevent", "spec"] {
        let found = Fields::of(&inner, "the line")?.get(wrapper).cloned();
        if let Some(found) = found {
            inner = text_as_json(&found)?.unwrap_or(found);
        }
    }
    Ok(Some(HealthEvents {
        version: proto::VERSION,
        events: vec![document::health_event(&inner)?],
    }))
}

/// The JSON that a text holds; `None` if the value is no text.
fn text_as_json(value: &Value) -> Result<Option<Value>, RecordError> {
    let Value::String(text) = value else {
        return Ok(None);
    };
    serde_json::from_str(text).map(Some).map_err(|error| {
        let cause = format!("the text holds no JSON: {}", reason(&error));
        RecordError::new(cause, EXPORTS)
    })
}

/// The error's message without its place, which is reported separately.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}
