//! `nicdrill link show --fm-log` and `--dmesg`: what the fabric manager and the hosts' kernels wrote.
//!
//! Start at [`fm_log`] and [`dmesg`].

use fabric::Fabric;
use platforms::SlotRef;
use scenarios::Story;

use super::port_rows::host_port;

/// The fabric manager's messages, of one link or of all: the time in the drill and the host's port,
/// then condition and details as in the system's log. The log's own prefix is not modelled.
pub(super) fn fm_log(story: &Story, fabric: &Fabric, slot: Option<&SlotRef>) -> String {
    let mut page = format!("{} at {}: the fabric manager\n\n", story.name, fabric.now());
    let notices = fabric.notices().iter();
    let notices = notices.filter(|notice| slot.is_none_or(|slot| notice.slot == *slot));
    let lines: Vec<String> = notices
        .map(|notice| {
            let port = host_port(fabric, &notice.slot, story.nodes.len() > 1);
            let (at, condition) = (notice.at.to_string(), notice.condition.text());
            format!("{at:>9}  {port}: {condition}; {}\n", notice.detail())
        })
        .collect();
    if lines.is_empty() {
        page += "it wrote nothing\n";
    }
    page + &lines.concat()
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
