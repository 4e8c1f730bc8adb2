//! `nicdrill lnet show --json`: traces and tables. Views are converted where they are printed.
//!
//! Start at [`trace_json`].

use lnet::{
    Candidate, Choice, Lnet, MessageId, Side, TraceEntry, Traced, Traces, UnknownMessage, What,
};
use serde_json::{Map, Value, json};

use crate::arguments::Why;

/// What was recorded of a workload: every entry, or those of one request, or of the requests that met trouble.
///
/// # Errors
/// [`UnknownMessage`].
pub(super) fn trace_json(
    workload: &str,
    lnet: &Lnet,
    why: Option<Why>,
) -> Result<Value, UnknownMessage> {
    let traces = Traces(lnet.trace(), lnet.now());
    let requests = match why {
        None => {
            let entries: Vec<Value> = lnet.trace().iter().filter_map(entry_json).collect();
            return Ok(json!({ "workload": workload, "entries": entries }));
        }
        Some(Why::Of(message)) => vec![traces.request_of(message)?],
        Some(Why::Failed) => {
            let troubled = traces.troubled().into_iter();
            let requests = troubled.map(|request| traces.request_of(request));
            requests.collect::<Result<_, _>>()?
        }
    };
    let requests: Vec<Value> = requests
        .into_iter()
        .map(|request| request_json(traces, request))
        .collect();
    Ok(json!({ "workload": workload, "requests": requests }))
}

fn request_json(traces: Traces<'_>, request: MessageId) -> Value {
    let entries = traces.of_request(request).into_iter();
    let entries: Vec<Value> = entries.filter_map(entry_json).collect();
    let timer = traces.first_timer(request);
    json!({
        "request": request.get(),
        "first_timer": timer.map(|(at, text)| json!({ "at_ns": at.as_ns(), "text": text })),
        "entries": entries,
    })
}

/// An entry; `None` for one that others tell.
fn entry_json(entry: &TraceEntry) -> Option<Value> {
    let mut value = json!({
        "at_ns": entry.at.as_ns(),
        "node": entry.node.as_str(),
        "message": entry.message().map(MessageId::get),
        "request": entry.request().map(MessageId::get),
        "text": entry.text()?,
    });
    match &entry.what {
        Traced::Choice(choice) => value["choice"] = choice_json(choice),
        Traced::Event(What::Health {
            ni,
            side,
            before,
            after,
            ..
        }) => {
            value["health"] = json!({
                "ni": ni.to_string(),
                "side": match side {
                    Side::Local => "own",
                    Side::Peer => "peer",
                },
                "before": before.value(),
                "after": after.value(),
            });
        }
        Traced::Event(What::Judged { status, resend, .. }) => {
            value["status"] = json!(status.name());
            value["resend"] = json!(resend);
        }
        _ => {}
    }
    Some(value)
}

fn choice_json(choice: &Choice) -> Value {
    let all = |all: &[Candidate]| -> Vec<Value> { all.iter().map(candidate_json).collect() };
    let (by, to, no_path) = match &choice.path {
        Ok((by, to)) => (Some(by.to_string()), Some(to.to_string()), None),
        Err(why) => (None, None, Some(*why)),
    };
    json!({
        "attempt": choice.attempt,
        "kind": choice.kind.name(),
        "portal": choice.portal,
        "bytes": choice.length,
        "by": by,
        "to": to,
        "no_path": no_path.map(|why| why.status().name()),
        "no_path_because": no_path.map(|why| why.to_string()),
        "gateways": all(&choice.gateways),
        "sources": all(&choice.local),
        "destinations": all(&choice.remote),
    })
}

fn candidate_json(candidate: &Candidate) -> Value {
    json!({
        "nid": candidate.nid.to_string(),
        "health": candidate.health.value(),
        "down": candidate.down,
        "credits": candidate.credits,
        "priority": candidate.priority,
        "selected": candidate.sequence,
        "passed_over": candidate.passed_over.map(|why| why.to_string()),
    })
}

/// A table whose first row has the titles: an object for each other row.
pub(super) fn rows_json(rows: &[Vec<String>]) -> Vec<Value> {
    let Some((titles, rows)) = rows.split_first() else {
        return Vec::new();
    };
    let object = |row: &Vec<String>| {
        let cells = titles.iter().zip(row);
        let cells = cells.map(|(title, cell)| (title.clone(), Value::from(cell.as_str())));
        Value::Object(cells.collect::<Map<_, _>>())
    };
    rows.iter().map(object).collect()
}
