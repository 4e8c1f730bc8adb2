//! `nicdrill lnet show --json`: traces. Views and tables are converted where they are printed.
//!
//! Start at [`trace_json`].

use lnet::{
    AnswerLine, AnswerPart, Candidate, Choice, Lnet, MessageId, Side, TraceEntry, Traced, Traces,
    UnknownMessage, What,
};
use serde_json::{Value, json};

use super::ALL_CARRIED;
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
    let note = requests.is_empty().then_some(ALL_CARRIED);
    let requests: Vec<Value> = requests
        .into_iter()
        .map(|request| request_json(traces, request))
        .collect();
    Ok(json!({ "workload": workload, "requests": requests, "note": note }))
}

fn request_json(traces: Traces<'_>, request: MessageId) -> Value {
    let entries = traces.of_request(request).into_iter();
    let entries: Vec<Value> = entries.filter_map(entry_json).collect();
    let answer = traces.answer(request);
    let timer = answer.first_timer.as_ref();
    let unsent: Vec<u64> = answer.unsent.iter().map(|message| message.get()).collect();
    let at_zero: Vec<String> = answer.at_zero.iter().map(ToString::to_string).collect();
    let mut value = json!({
        "request": request.get(),
        "first_timer": timer.map(|(at, text)| json!({ "at_ns": at.as_ns(), "text": text })),
        "not_sent": unsent,
        "no_health_to_lose": at_zero,
        "entries": entries,
    });
    for part in AnswerPart::ALL {
        let lines = answer.lines.iter().filter(|line| line.part == part);
        let lines: Vec<Value> = lines.map(line_json).collect();
        value[part.to_string().replace(' ', "_")] = json!(lines);
    }
    value
}

/// A line of the answers: an entry's own keys, and the words of this line.
fn line_json(line: &AnswerLine<'_>) -> Value {
    let mut value = base_json(line.entry);
    value["text"] = json!(line.text);
    if let Some(reason) = &line.reason {
        value["reason"] = json!(reason);
    }
    match &line.entry.what {
        Traced::Choice(choice) => {
            value["attempt"] = json!(choice.attempt);
            value["destination"] = json!(choice.destination.to_string());
            if let Ok((by, to)) = &choice.path {
                value["by"] = json!(by.to_string());
                value["to"] = json!(to.to_string());
            }
        }
        Traced::Event(What::Health { .. }) => value["health"] = health_json(line.entry),
        _ => {}
    }
    value
}

/// What every entry has.
fn base_json(entry: &TraceEntry) -> Value {
    json!({
        "at_ns": entry.at.as_ns(),
        "node": entry.node.as_str(),
        "message": entry.message().map(MessageId::get),
        "request": entry.request().map(MessageId::get),
    })
}

/// A change of health; null if an entry is none.
fn health_json(entry: &TraceEntry) -> Value {
    let Traced::Event(What::Health {
        ni,
        side,
        before,
        after,
        ..
    }) = &entry.what
    else {
        return Value::Null;
    };
    json!({
        "ni": ni.to_string(),
        "side": match side {
            Side::Local => "own",
            Side::Peer => "peer",
        },
        "before": before.value(),
        "after": after.value(),
    })
}

/// An entry; `None` for one that others tell.
fn entry_json(entry: &TraceEntry) -> Option<Value> {
    let mut value = base_json(entry);
    value["text"] = json!(entry.text()?);
    match &entry.what {
        Traced::Choice(choice) => value["choice"] = choice_json(choice),
        Traced::Event(What::Health { .. }) => value["health"] = health_json(entry),
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
        "errand": choice.errand.to_string(),
        "destination": choice.destination.to_string(),
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
