//! `nicdrill link show --summary`: which links are degraded, at which end, and since when.
//!
//! Four parts: links that are not active, links that were down and are back, links that are slower than
//! at rest or lost lanes, links whose host port counts errors. Hosts that rebooted, or whose driver does not
//! run, are named below the links. Reasons are read at both ends, as `opaportinfo` does on
//! the host and `opasmaquery` of the switch. Start at [`summary`].

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Cause, CauseText, Fabric, Shown, Side,
    opa::{LinkInitReason, LogEntry, Logical, OfflineDisabledReason, Physical, PortInfo, START_S},
};
use platforms::{CounterValue, Machine, NodeName, Port, PortState, SlotRef};
use scenarios::Story;
use simfs::SimTime;

use super::{
    cell_table::{aligned, row},
    port_rows::{
        END_TITLES, NamedLink, end_cells, foreign_lines, links_of, lost_lanes, partner_kind,
    },
};

/// The counters of errors of a port (IBTA volume 1, 16.1.3.5), by the names of their files.
const ERRORS: [&str; 12] = [
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_discards",
    "port_xmit_constraint_errors",
    "port_rcv_constraint_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
    "VL15_dropped",
];

/// The page.
pub(super) fn summary(story: &Story, fabric: &Fabric) -> String {
    let links = links_of(story, fabric);
    let manager = if fabric.is_managed() {
        "a subnet manager runs"
    } else {
        "no subnet manager answers"
    };
    let mut page = format!(
        "{} at {}: {}, {manager}\n",
        story.name,
        fabric.now(),
        counted(links.len(), "link")
    );
    page += &foreign_lines(fabric, links.iter().map(|link| &link.slot));
    page += &section("not active", &not_active(fabric, &links));
    page += &section("active again", &active_again(fabric, &links));
    page += &section("slow", &slow(fabric, &links));
    page += &section("counting errors", &counting(fabric, &links));
    page
}

/// How many links a part is about, and its text.
struct Part {
    count: usize,
    text: String,
}

fn section(name: &str, part: &Part) -> String {
    format!(
        "\n== {name}: {}\n{}",
        counted(part.count, "link"),
        part.text
    )
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

pub(super) fn is_active(fabric: &Fabric, slot: &SlotRef) -> bool {
    let last = fabric.walk(slot).last();
    last.is_some_and(|step| step.logical.iter().min() >= Some(&Logical::Active))
}

/// Both ends of each link that is not active, the age of its reasons, and who took it down.
fn not_active(fabric: &Fabric, links: &[NamedLink]) -> Part {
    let titles = [&["port"], &END_TITLES[..], &["age"]].concat();
    let mut rows: Vec<Vec<String>> = vec![titles.into_iter().map(ToOwned::to_owned).collect()];
    let mut causes = Vec::new();
    for link in links.iter().filter(|link| !is_active(fabric, &link.slot)) {
        let since = fabric.down_since(&link.slot);
        let age = since.map(|at| fabric.now().since(at).to_string());
        for (side, name) in [(Side::Here, &link.here), (Side::There, &link.there)] {
            let mut row = vec![name.clone()];
            row.extend(end_cells(fabric, &link.slot, side));
            row.resize(END_TITLES.len() + 1, String::new());
            row.extend(age.clone());
            rows.push(row);
        }
        let parts = [
            Some(cause_of(fabric, &link.slot).to_string()),
            last_cause(fabric, &link.slot).map(|(at, cause)| {
                format!(
                    "the fabric manager logged {} ago: {cause}",
                    fabric.now().since(at)
                )
            }),
            waits_for(fabric, &link.slot),
        ];
        causes.push(parts.into_iter().flatten().collect::<Vec<_>>().join("; "));
    }
    let mut part = with_causes(&rows, &causes);
    part.text += &machine_lines(fabric, links);
    part
}

/// The lines about whole machines below the links that are not active, each after an arrow.
fn machine_lines(fabric: &Fabric, links: &[NamedLink]) -> String {
    whole_machines(fabric, links) + &silent_hosts(fabric, links)
}

/// The lines about whole machines: below the links that are not active, and below those that are active again.
pub(super) fn notes(fabric: &Fabric, links: &[NamedLink]) -> Vec<String> {
    let lines = machine_lines(fabric, links) + &booted_lines(fabric, links);
    let bare = |line: &str| line.trim_start_matches("-> ").to_owned();
    lines.lines().map(bare).collect()
}

/// What keeps a link that has trained from being active; `None` if it has not trained.
pub(super) fn waits_for(fabric: &Fabric, slot: &SlotRef) -> Option<String> {
    let ends: Vec<PortInfo> = (Side::BOTH.into_iter())
        .filter_map(|side| fabric.port_info(slot, side))
        .collect();
    let is_up = |end: &PortInfo| end.physical == Physical::LinkUp;
    if ends.is_empty() || !ends.iter().all(is_up) {
        return None;
    }
    let objections = ends.iter().map(|end| end.init);
    let objection = objections
        .filter(|init| ![LinkInitReason::NONE, LinkInitReason::LINK_UP].contains(init))
        .max();
    Some(match objection {
        _ if !fabric.is_managed() => {
            "it is up and waits for a subnet manager, and none answers".to_owned()
        }
        Some(init) => format!("it is up, and the subnet manager keeps it so: {init}"),
        None => "it is up and waits for the subnet manager, which has not armed it yet".to_owned(),
    })
}

/// The hosts with links that are not active, which do not answer, or which answer without any device: that parts
/// a reboot from a driver that was unloaded, for both of which the fabric has the reason 35.
fn silent_hosts(fabric: &Fabric, links: &[NamedLink]) -> String {
    let down = links.iter().filter(|link| !is_active(fabric, &link.slot));
    let hosts: BTreeSet<&NodeName> = down.map(|link| &link.slot.node).collect();
    let mut text = String::new();
    for host in hosts {
        let machine = fabric.machine(host);
        let driven = machine.is_some_and(|machine| {
            let mut functions = machine.functions.values();
            functions.any(|function| function.rdma.is_some())
        });
        if fabric.booted_at(host).is_none() {
            text += &format!("-> host {host} does not answer: it reboots or has no power\n");
        } else if !driven {
            text +=
                &format!("-> host {host} answers and lists no device: its driver does not run\n");
        }
    }
    text
}

/// The hosts and switches all of whose links are not active for one and the same cause, in a line each: then it is
/// rather the machine than its ports.
fn whole_machines(fabric: &Fabric, links: &[NamedLink]) -> String {
    let mut machines: BTreeMap<String, Vec<&NamedLink>> = BTreeMap::new();
    for link in links {
        let host = format!("host {}", link.slot.node);
        machines.entry(host).or_default().push(link);
        if let Some((switch, _)) = link.there.split_once(" port ") {
            let switch = format!("switch {}", switch.trim_start_matches("switch "));
            machines.entry(switch).or_default().push(link);
        }
    }
    let mut text = String::new();
    for (machine, links) in machines.iter().filter(|(_, links)| links.len() > 1) {
        let causes = links.iter().map(|link| {
            (
                is_active(fabric, &link.slot),
                cause_of(fabric, &link.slot).to_string(),
            )
        });
        let causes: BTreeSet<(bool, String)> = causes.collect();
        if let [(false, cause)] = &causes.into_iter().collect::<Vec<_>>()[..] {
            let count = links.len();
            text += &format!("-> {machine}: all {count} of its links, each time {cause}\n");
        }
    }
    text
}

/// Why a link is not active, with the name of what is at its other end.
pub(super) fn cause_of(fabric: &Fabric, slot: &SlotRef) -> CauseText {
    fabric.cause(slot).told(partner_kind(fabric, slot))
}

/// A table with titles and two lines for each link, each pair of lines followed by its cause.
fn with_causes(rows: &[Vec<String>], causes: &[String]) -> Part {
    let mut text = String::new();
    if !causes.is_empty() {
        let table = aligned(rows);
        let mut lines = table.split_inclusive('\n');
        text.extend(lines.next());
        for cause in causes {
            text.extend(lines.by_ref().take(2));
            text += &format!("-> {cause}\n");
        }
    }
    Part {
        count: causes.len(),
        text,
    }
}

/// The last entries of the subnet manager's logs of both ends of a link, and who took it down then; `None` if they are
/// empty.
fn last_logged(fabric: &Fabric, slot: &SlotRef) -> Option<([Option<LogEntry>; 2], Cause)> {
    let log = |side| fabric.end(slot, side).map(|end| end.log);
    let [here, there] = Side::BOTH.map(|side| last(log(side).unwrap_or_default().entries()));
    here.or(there)?;
    // The switch port is read first: an older entry of the host's port is of an earlier time.
    let here = here.filter(|entry| there.is_none_or(|there| entry.at_s >= there.at_s));
    let cause = Cause::of([here, there].map(|entry| {
        Some(Shown {
            pair: entry.map(|entry| entry.pair).unwrap_or_default(),
            offline: OfflineDisabledReason::NONE,
        })
    }));
    Some(([here, there], cause))
}

/// Who took a link down the last time by the subnet manager's log, and when that was written; `None` if the log is empty, or
/// the link is down and an end still shows something.
pub(super) fn last_cause(fabric: &Fabric, slot: &SlotRef) -> Option<(SimTime, CauseText)> {
    if !is_active(fabric, slot) && fabric.cause(slot) != Cause::Unrecorded {
        return None;
    }
    let (entries, cause) = last_logged(fabric, slot)?;
    let last = entries
        .into_iter()
        .flatten()
        .map(|entry| entry.at_s)
        .max()?;
    Some((since_start(last), cause.told(partner_kind(fabric, slot))))
}

/// A time of the log as that of the drill.
pub(super) fn since_start(at_s: u64) -> SimTime {
    SimTime::from_secs(at_s.saturating_sub(START_S))
}

/// The last entry of the subnet manager's log of each active link that has one, and who took it down
/// then; and when their hosts booted, if that was after the start.
fn active_again(fabric: &Fabric, links: &[NamedLink]) -> Part {
    let mut rows = vec![row([
        "port",
        "entries",
        "LinkDownErrorLog",
        "NeighborLinkDownErrorLog",
        "age",
    ])];
    let mut causes = Vec::new();
    for link in links.iter().filter(|link| is_active(fabric, &link.slot)) {
        let Some(([here, there], cause)) = last_logged(fabric, &link.slot) else {
            continue;
        };
        causes.push(cause.told(partner_kind(fabric, &link.slot)).to_string());
        let ends = [
            (Side::Here, &link.here, here),
            (Side::There, &link.there, there),
        ];
        for (side, name, entry) in ends {
            let text = |of: fn(LogEntry) -> String| entry.map_or_else(|| "None".to_owned(), of);
            let entries = fabric.end(&link.slot, side).map_or(0, |end| end.log.len());
            rows.push(vec![
                name.clone(),
                entries.to_string(),
                text(|entry| entry.pair.local.to_string()),
                text(|entry| entry.pair.neighbour.to_string()),
                entry.map_or_else(String::new, |entry| age(fabric, entry)),
            ]);
        }
    }
    let mut part = with_causes(&rows, &causes);
    part.text += &booted_lines(fabric, links);
    part
}

/// When the hosts of links that are active again booted, if that was after the start.
fn booted_lines(fabric: &Fabric, links: &[NamedLink]) -> String {
    let back = links
        .iter()
        .filter(|link| is_active(fabric, &link.slot) && last_logged(fabric, &link.slot).is_some());
    let hosts: BTreeSet<&NodeName> = back.map(|link| &link.slot.node).collect();
    let booted = hosts.into_iter().filter_map(|host| {
        let at = fabric.booted_at(host).filter(|at| *at > SimTime::ZERO)?;
        Some(format!("-> host {host} booted at {at}\n"))
    });
    booted.collect()
}

fn last(entries: &[LogEntry]) -> Option<LogEntry> {
    let entries = entries.iter().filter(|entry| !entry.is_empty());
    entries.copied().max_by_key(|entry| entry.at_s)
}

/// The time since the sweep in which an entry was written.
fn age(fabric: &Fabric, entry: LogEntry) -> String {
    fabric.now().since(since_start(entry.at_s)).to_string()
}

/// The active links whose rate is lower than at rest, or which lost lanes since they came up, and the ends that
/// receive over fewer; one that is down has no rate of its own. A downgraded link shows the rate of before.
fn slow(fabric: &Fabric, links: &[NamedLink]) -> Part {
    let titles = ["port", "partner", "rate", "at rest", "lanes lost"];
    let mut rows = vec![row(titles)];
    for link in links {
        let Some((now, rest)) = port_now_and_at_rest(fabric, &link.slot) else {
            continue;
        };
        let lost = lost_lanes(fabric, link);
        let slower = now.state == PortState::ACTIVE && now.rate.gbps() < rest.rate.gbps();
        if slower || !lost.is_empty() {
            rows.push(vec![
                link.here.clone(),
                link.there.clone(),
                now.rate.to_string(),
                rest.rate.to_string(),
                lost,
            ]);
        }
    }
    listed(&rows)
}

/// The links whose host port counted errors since the start.
fn counting(fabric: &Fabric, links: &[NamedLink]) -> Part {
    let mut rows = vec![row(["port", "partner", "counters"])];
    for link in links {
        let Some(grown) = grown_errors(fabric, &link.slot) else {
            continue;
        };
        if !grown.is_empty() {
            rows.push(vec![
                link.here.clone(),
                link.there.clone(),
                grown.join(", "),
            ]);
        }
    }
    listed(&rows)
}

/// The counters of errors of a host's port that are higher than at rest, with their values; `None` while it is not there.
pub(in crate::pages) fn grown_errors(fabric: &Fabric, slot: &SlotRef) -> Option<Vec<String>> {
    let (now, rest) = port_now_and_at_rest(fabric, slot)?;
    let grown = ERRORS.iter().filter_map(|name| {
        let (now, rest) = (count(&now, name)?, count(&rest, name).unwrap_or(0));
        (now > rest).then(|| format!("{name} {now}"))
    });
    Some(grown.collect())
}

/// A table whose first row has the titles.
fn listed(rows: &[Vec<String>]) -> Part {
    Part {
        count: rows.len() - 1,
        text: match rows {
            [] | [_] => String::new(),
            _ => aligned(rows),
        },
    }
}

fn count(port: &Port, name: &str) -> Option<u64> {
    match port.counters.get(name)? {
        CounterValue::Count(count) => Some(*count),
        CounterValue::Text(_) | CounterValue::Fails(_) => None,
    }
}

/// A port as its node's kernel shows it, and as it is at rest; `None` while it is not there.
pub(super) fn port_now_and_at_rest(fabric: &Fabric, slot: &SlotRef) -> Option<(Port, Port)> {
    let of = |machine: &Machine| {
        let rdma = machine.functions.get(&slot.pci)?.rdma.as_ref()?;
        rdma.ports.get(&slot.port).map(|port| Port::clone(port))
    };
    let rest = fabric.platform(&slot.node)?.machine(&slot.node);
    Some((of(fabric.machine(&slot.node)?)?, of(&rest)?))
}
