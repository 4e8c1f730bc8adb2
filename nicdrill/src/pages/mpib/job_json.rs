//! `nicdrill mpib show --json`: a job's connections, rails, fate, and with `--timeline` its course.
//!
//! Start at [`job_json`].

use mpib::{ConnectionId, Edge, HintSlot, Job, Net, Rail, ShareSource, Side, Transport};
use serde_json::{Value, json};
use simfs::SimTime;

use super::{edge_name, hazard_text, refusal_text, timeline};

/// A job at the instant up to which it was played.
pub(super) fn job_json(name: &str, job: &Job, with_course: bool) -> Value {
    let net = job.net();
    let ranks: Vec<&str> = job
        .ranks()
        .map(|host| net.host(host).name.as_str())
        .collect();
    let edges: Vec<Value> = job
        .edges()
        .map(|(edge, connection, messages)| edge_json(net, edge, connection, messages))
        .collect();
    let hosts: Vec<Value> = job
        .ranks()
        .map(|host| {
            let rails = Rail::BOTH.map(|rail| {
                let bytes = net.nic(host, rail);
                json!({
                    "rail": rail.to_string(),
                    "device": net.host(host).nics[rail].device.as_str(),
                    "bytes_sent": bytes.sent.get(),
                    "bytes_received": bytes.received.get(),
                })
            });
            json!({
                "host": net.host(host).name.as_str(),
                "hints_read": net.hint_reads(host),
                "rails": rails.to_vec(),
            })
        })
        .collect();
    let refusals: Vec<Value> = job
        .refusals()
        .iter()
        .map(|(host, refusal)| {
            let (reason, hint) = refusal_text(refusal);
            json!({
                "host": net.host(*host).name.as_str(),
                "result": refusal.result().to_string(),
                "reason": reason,
                "hint": hint,
            })
        })
        .collect();
    let hazards = net.hazards().iter();
    let hazards: Vec<String> = hazards.map(|hazard| hazard_text(job, *hazard)).collect();
    let stalls: Vec<Value> = job
        .stalls()
        .map(|stall| {
            json!({
                "edge": edge_name(net, stall.edge),
                "from_ns": stall.from.as_ns(),
                "to_ns": stall.to.map(SimTime::as_ns),
            })
        })
        .collect();
    let failure = job.failure().map(|failure| {
        json!({
            "at_ns": failure.at.as_ns(),
            "edge": failure.edge.map(|edge| edge_name(net, edge)),
            "result": failure.cause.result().map(|result| result.to_string()),
            "cause": timeline::cause_text(net, failure.cause),
        })
    });
    let mut value = json!({
        "job": name,
        "at_ns": net.now().as_ns(),
        "ranks": ranks,
        "transport": match job.transport() {
            Transport::Mpib => "mpib",
            Transport::Internal => "internal",
        },
        "profile": net.settings().profile.to_string(),
        "tries": {
            "count": net.settings().retries.tries(),
            "each_ns": net.settings().ack_timeout.as_ns(),
            "exponent": timeline::exponent(net.settings().ack_timeout),
        },
        "refusals": refusals,
        "edges": edges,
        "hosts": hosts,
        "hazards": hazards,
        "stalls": stalls,
        "failure": failure,
        "verdict": timeline::verdict(job).lines().collect::<Vec<_>>(),
    });
    if with_course {
        let course = timeline::course(job).into_iter();
        let course = course.map(|(at, text)| json!({ "at_ns": at.as_ns(), "text": text }));
        value["timeline"] = course.collect();
    }
    value
}

fn edge_json(net: &Net, edge: Edge, connection: ConnectionId, messages: u64) -> Value {
    let [_, sout, sup, both] = net.masks(connection);
    json!({
        "from": net.host(edge.from).name.as_str(),
        "to": net.host(edge.to).name.as_str(),
        "delivered": messages,
        "by_mask": { "0x1": sout, "0x2": sup, "0x3": both },
        "sends": end_json(net, connection, Side::Send),
        "receives": end_json(net, connection, Side::Receive),
    })
}

fn end_json(net: &Net, connection: ConnectionId, side: Side) -> Value {
    let path = net.path(connection, side);
    let pairs = path.queue_pairs();
    json!({
        "class": path.class().map(|class| class.to_string()),
        "sup_share": match path.share() {
            ShareSource::Agent => Value::from("hint"),
            ShareSource::Cached(share) => Value::from(share.get()),
        },
        "clear_to_send": path.cts_rail().to_string(),
        "queue_pairs": { "SOUT": pairs.sout, "SUP": pairs.sup },
        "hint_slot": net.slot(connection, side).map(HintSlot::number),
    })
}
