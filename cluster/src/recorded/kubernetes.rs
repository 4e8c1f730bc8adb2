//! What `kubectl … -o json` prints, which is refused: Kubernetes events hold neither fatal faults nor
//! recoveries, and repeats of one only as a count (NVSentinel, platform connector).

use serde_json::Value;

use super::{EXPORTS, RecordError, document::Fields};

/// Why an object of Kubernetes is no recorded event; `None` if it is none, or one that holds a health
/// event.
pub(super) fn refused(fields: &Fields<'_>) -> Option<RecordError> {
    let kind = |value: &Value| value.get("kind").and_then(Value::as_str).map(str::to_owned);
    let own = fields.get("kind").and_then(Value::as_str)?;
    let items = fields.get("items").and_then(Value::as_array);
    let first = items.and_then(|items| kind(items.first()?));
    let is_event = |kind: &str| matches!(kind, "Event" | "EventList");
    if is_event(own) || first.as_deref().is_some_and(is_event) {
        let cause = "these are Kubernetes events: they hold neither fatal faults nor recoveries";
        return Some(RecordError::new(cause, EXPORTS));
    }
    items.map(|_| {
        let cause = format!("this is one list of objects, a `{own}`");
        RecordError::new(cause, "`jq -c '.items[]'` writes one object a line")
    })
}
