//! `nicdrill link show --json`: both ends of links, and what was written about them.
//!
//! Start at [`links_json`].

use fabric::{
    Fabric, Side,
    opa::{Lanes, LinkDownReason, LogEntry, Pair, PortInfo},
};
use platforms::SlotRef;
use scenarios::Story;
use serde_json::{Value, json};
use simfs::SimTime;

use super::{
    degraded::{
        cause_of, grown_errors, is_active, last_cause, notes, port_now_and_at_rest, since_start,
        waits_for,
    },
    port_rows::{
        FOREIGN_HINT, NamedLink, foreign_note, host_port, is_omni_path, links_of, lost_lanes,
    },
    why_no_record,
    written_lines::{known_of_links, slots_of},
};

/// All links, and what they tell of whole machines.
pub(super) fn summary_json(story: &Story, fabric: &Fabric) -> Value {
    let links = links_of(story, fabric);
    let mut page = links_json(story, fabric, &links);
    page["notes"] = json!(notes(fabric, &links));
    page
}

/// Links with both ends: what each shows, the manager's log of it, and who took the link down as far as both tell.
pub(super) fn links_json(story: &Story, fabric: &Fabric, links: &[NamedLink]) -> Value {
    let slots = links.iter().map(|link| &link.slot);
    let links: Vec<Value> = links.iter().map(|link| link_json(fabric, link)).collect();
    json!({
        "story": story.name,
        "at_ns": fabric.now().as_ns(),
        "managed": fabric.is_managed(),
        "not_omni_path": foreign_json(fabric, slots),
        "links": links,
    })
}

/// What is to be said of ports that are not Omni-Path's; null if all are.
fn foreign_json<'s>(fabric: &Fabric, slots: impl IntoIterator<Item = &'s SlotRef>) -> Value {
    foreign_note(fabric, slots).map_or(
        Value::Null,
        |note| json!({ "note": note, "hint": FOREIGN_HINT }),
    )
}

fn link_json(fabric: &Fabric, link: &NamedLink) -> Value {
    let slot = &link.slot;
    let last = last_cause(fabric, slot);
    let is_active = is_active(fabric, slot);
    let rates = port_now_and_at_rest(fabric, slot);
    let rates = rates.map(|(now, rest)| [now.rate.to_string(), rest.rate.to_string()]);
    let [rate, rate_at_rest] = rates.map_or([None, None], |rates| rates.map(Some));
    let ends: Vec<Value> = Side::BOTH
        .into_iter()
        .map(|side| end_json(fabric, slot, side))
        .collect();
    json!({
        "here": link.here,
        "there": link.there,
        "omni_path": is_omni_path(fabric, slot),
        "virtual_function": fabric.end(slot, Side::Here).is_none(),
        "active": is_active,
        "cause": (!is_active).then(|| cause_of(fabric, slot).to_string()),
        "waits_for": waits_for(fabric, slot).filter(|_| !is_active),
        "last_cause": last.map(|(_, cause)| cause.to_string()),
        "last_cause_logged_ns": last.map(|(at, _)| at.as_ns()),
        "down_since_ns": fabric.down_since(slot).map(SimTime::as_ns),
        "lanes_lost": lost_lanes(fabric, link),
        "rate": rate,
        "rate_at_rest": rate_at_rest,
        "errors": grown_errors(fabric, slot).unwrap_or_default(),
        "ends": ends,
    })
}

fn end_json(fabric: &Fabric, slot: &SlotRef, side: Side) -> Value {
    let log: Vec<Value> = fabric
        .end(slot, side)
        .map_or_else(Vec::new, |end| end.log.printed().map(entry_json).collect());
    json!({
        "end": match side {
            Side::Here => "here",
            Side::There => "there",
        },
        "port": fabric.port_info(slot, side).map(|info| port_json(&info)),
        "no_record": fabric.query(slot, side).is_none().then(|| why_no_record(fabric)),
        "lanes": fabric.lanes(slot, side).map(|Lanes { sends, receives, full }| {
            json!({ "sends": sends, "receives": receives, "full": full })
        }),
        "log": log,
    })
}

fn port_json(info: &PortInfo) -> Value {
    json!({
        "state": info.logical.to_string(),
        "physical": info.physical.to_string(),
        "reasons": pair_json(info.pair),
        "offline": { "code": info.offline.code(), "text": info.offline.to_string() },
        "init": info.init.to_string(),
        "number": info.port,
        "subnet": format!("{:#018x}", info.subnet),
        "guid": format!("{:#018x}", info.guid),
        "lid": info.lid,
        "sm_lid": info.sm_lid,
        "configured": info.configured,
        "neighbour_normal": info.neighbour_normal,
    })
}

fn entry_json(entry: LogEntry) -> Value {
    let at_ns = since_start(entry.at_s).as_ns();
    json!({ "at_ns": at_ns, "at_s": entry.at_s, "reasons": pair_json(entry.pair) })
}

fn pair_json(pair: Pair) -> Value {
    let reason =
        |reason: LinkDownReason| json!({ "code": reason.code(), "text": reason.to_string() });
    json!({ "own": reason(pair.local), "neighbour": reason(pair.neighbour) })
}

/// What the fabric manager wrote, of one link or of all; who managed the subnet when, and how many entries the present
/// manager's logs have.
pub(super) fn fm_log_json(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>) -> Value {
    let notices = fabric.notices().iter();
    let notices = notices.filter(|notice| slot.is_none_or(|slot| notice.slot == *slot));
    let notices: Vec<Value> = notices
        .map(|notice| {
            json!({
                "at_ns": notice.at.as_ns(),
                "manager": notice.manager,
                "port": host_port(fabric, &notice.slot, story.nodes.len() > 1),
                "condition": notice.condition.text(),
                "detail": notice.detail(),
            })
        })
        .collect();
    let managers: Vec<Value> = fabric
        .manager_terms()
        .iter()
        .map(|term| {
            json!({
                "manager": term.number,
                "from_ns": term.from.as_ns(),
                "until_ns": term.until.map(SimTime::as_ns),
                "remembers": term.remembers,
            })
        })
        .collect();
    let known: Vec<Value> = known_of_links(story, fabric, slot)
        .into_iter()
        .map(|(port, entries)| json!({ "port": port, "entries": entries }))
        .collect();
    json!({
        "story": story.name,
        "at_ns": fabric.now().as_ns(),
        "not_omni_path": foreign_json(fabric, &slots_of(story, fabric, slot)),
        "managers": managers,
        "notices": notices,
        "known": known,
    })
}

/// The kernel logs of all nodes, or of one link's node.
pub(super) fn dmesg_json(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>) -> Value {
    let nodes = story.nodes.iter().map(|(node, _)| node);
    let nodes = nodes.filter(|node| slot.is_none_or(|slot| slot.node == **node));
    let nodes: Vec<Value> = nodes
        .map(|node| {
            let log = fabric.dmesg(node);
            json!({ "node": node.as_str(), "lines": log.lines().collect::<Vec<_>>() })
        })
        .collect();
    json!({ "story": story.name, "at_ns": fabric.now().as_ns(), "nodes": nodes })
}

/// These links by their ports, in the order of the story's links; a virtual function's port has a link without a name.
pub(super) fn links_at(story: &Story, fabric: &Fabric, slots: &[SlotRef]) -> Vec<NamedLink> {
    let mut links: Vec<NamedLink> = links_of(story, fabric)
        .into_iter()
        .filter(|link| slots.contains(&link.slot))
        .collect();
    for slot in slots {
        if links.iter().all(|link| link.slot != *slot) {
            links.push(NamedLink {
                here: host_port(fabric, slot, story.nodes.len() > 1),
                there: String::new(),
                slot: slot.clone(),
            });
        }
    }
    links
}
