//! Recorded streams: health events as JSON, one call or one event per line.
//!
//! Accepted are: a call in a drill's run folder (`{"events":[…]}`), a single event, and documents
//! exported from NVSentinel's stores (`{"healthevent":{…}}`, or a row with `document`). Keys are
//! compared case-insensitively, enumerations may be names or numbers, and missing fields are empty,
//! false or zero, as in the stores. Start at [`read_line`].

mod document;
mod write;

use proto::HealthEvents;
use serde_json::Value;

use document::Fields;
pub use write::{RecordedCall, write_call};

/// The largest size of one line, in bytes.
pub const LINE_MAX_BYTES: usize = 1 << 20;

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
    let value: Value = serde_json::from_str(line).map_err(|error| {
        let cause = format!("column {}: no JSON: {}", error.column(), reason(&error));
        RecordError::new(cause, "one line holds one whole JSON object")
    })?;
    let fields = Fields::of(&value, "the line")?;
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
    let mut inner = &value;
    for wrapper in ["document", "healthevent", "spec"] {
        if let Some(found) = Fields::of(inner, "the line")?.get(wrapper) {
            inner = found;
        }
    }
    Ok(Some(HealthEvents {
        version: proto::VERSION,
        events: vec![document::health_event(inner)?],
    }))
}

/// The error's message without its place, which is reported separately.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}
