//! `nicdrill link show --fm-log` and `--dmesg`: what the fabric manager and the hosts' kernels wrote.
//!
//! Start at [`fm_log`] and [`dmesg`].

use fabric::{Fabric, ManagerTerm, Side};
use platforms::SlotRef;
use scenarios::Story;

use super::port_rows::{foreign_lines, host_port, links_of};

/// The fabric manager's messages, of one link or of all: the time in the drill and the host's port,
/// then condition and details as in the system's log. The log's own prefix is not modelled. If another manager took
/// over, or one was interrupted, each has a part of its own, and the last line tells what the present one knows of
/// links that went down.
pub(super) fn fm_log(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>) -> String {
    let mut page = format!("{} at {}: the fabric manager\n", story.name, fabric.now());
    page += &foreign_lines(fabric, &slots_of(story, fabric, slot));
    let terms = fabric.manager_terms();
    let mut numbers: Vec<u16> = terms.iter().map(|term| term.number).collect();
    numbers.dedup();
    let is_one = matches!(terms, [term] if term.until.is_none());
    for &number in &numbers {
        let terms = terms.iter().filter(|term| term.number == number);
        page += "\n";
        if !is_one {
            let ran: Vec<String> = terms.map(ran).collect();
            page += &format!("== manager {number}, ran {}\n", ran.join(", then "));
        }
        page += &written_by(story, fabric, slot, number);
    }
    if let (false, Some(&last)) = (is_one, numbers.last()) {
        let known = known_of_links(story, fabric, slot).into_iter();
        let known: Vec<String> = known
            .map(|(name, entries)| format!("{name} ({entries})"))
            .collect();
        let known = if known.is_empty() {
            "empty".to_owned()
        } else {
            known.join(", ")
        };
        page += &format!("\nLinkDownErrorLogs of manager {last}: {known}\n");
    }
    page
}

/// This port, or all with a link.
pub(super) fn slots_of(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>) -> Vec<SlotRef> {
    match slot {
        Some(slot) => vec![slot.clone()],
        None => links_of(story, fabric)
            .into_iter()
            .map(|link| link.slot)
            .collect(),
    }
}

/// When a manager ran, and whether it began without its logs.
fn ran(term: &ManagerTerm) -> String {
    let without = match term {
        ManagerTerm {
            remembers: false, ..
        } => " without earlier logs",
        _ => "",
    };
    match term.until {
        Some(until) => format!("{} to {until}{without}", term.from),
        None => format!("from {}{without}", term.from),
    }
}

/// What the manager that runs, or ran last, has in its logs of links that went down: the number of entries of each
/// port that has some.
pub(super) fn known_of_links(
    story: &Story,
    fabric: &Fabric,
    slot: Option<&SlotRef>,
) -> Vec<(String, usize)> {
    let links = links_of(story, fabric);
    let links = links
        .iter()
        .filter(|link| slot.is_none_or(|slot| link.slot == *slot));
    links
        .flat_map(|link| {
            let ends = [(Side::Here, &link.here), (Side::There, &link.there)];
            let log = |side| fabric.end(&link.slot, side).map_or(0, |end| end.log.len());
            ends.map(|(side, name)| (name.clone(), log(side)))
        })
        .filter(|(_, entries)| *entries > 0)
        .collect()
}

/// The messages of one manager.
fn written_by(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>, number: u16) -> String {
    let notices = fabric.notices().iter();
    let notices = notices.filter(|notice| notice.manager == number);
    let notices = notices.filter(|notice| slot.is_none_or(|slot| notice.slot == *slot));
    let lines: Vec<String> = notices
        .map(|notice| {
            let port = host_port(fabric, &notice.slot, story.nodes.len() > 1);
            let (at, condition) = (notice.at.to_string(), notice.condition.text());
            format!("{at:>9}  {port}: {condition}; {}\n", notice.detail())
        })
        .collect();
    if lines.is_empty() {
        "it wrote nothing\n".to_owned()
    } else {
        lines.concat()
    }
}

/// The kernel logs of all nodes, or of one link's node, as `dmesg` prints them.
pub(super) fn dmesg(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>) -> String {
    let mut page = format!("{} at {}\n", story.name, fabric.now());
    let nodes = story.nodes.iter().map(|(node, _)| node);
    for node in nodes.filter(|node| slot.is_none_or(|slot| slot.node == **node)) {
        page += &format!("\n== {node}\n$ dmesg\n{}", fabric.dmesg(node));
    }
    page
}
