//! Links by the names of their ends, and what one end shows as cells of a table.
//!
//! Start at [`links_of`] and [`end_cells`].

use fabric::{
    Fabric, FunctionRef, PartnerKind, Side,
    opa::{Lanes, state_text},
};
use platforms::SlotRef;
use scenarios::Story;

/// The titles of [`end_cells`].
pub(in crate::pages) const END_TITLES: [&str; 5] = [
    "state",
    "physical",
    "LinkDownReason",
    "NeighborLinkDownReason",
    "OfflineDisabledReason",
];

/// A link, by the names of its ends.
pub(in crate::pages) struct NamedLink {
    /// The node's own port.
    pub(in crate::pages) slot: SlotRef,
    /// That port, as `hfi1_2/1`; in a world of several nodes `node-2 hfi1_2/1`.
    pub(in crate::pages) here: String,
    /// Its partner, as `leaf-3 port 2`, `switch 0xbfff port 2` or `host 0x003e port 1`.
    pub(in crate::pages) there: String,
}

/// The links of a story's world that have a cable when nothing is broken, in the order of nodes and
/// functions. A virtual function's port has no link of its own.
pub(in crate::pages) fn links_of(story: &Story, fabric: &Fabric) -> Vec<NamedLink> {
    let slots = story.nodes.iter().flat_map(|(node, _)| {
        let platform = fabric.platform(node);
        let ports = platform.map_or_else(Vec::new, platforms::Platform::ports);
        let cabled = ports.into_iter().filter(|port| port.cabled && !port.is_vf);
        cabled.map(move |port| SlotRef {
            node: node.clone(),
            pci: port.pci,
            port: port.port,
        })
    });
    let many = story.nodes.len() > 1;
    slots
        .map(|slot| NamedLink {
            here: host_port(fabric, &slot, many),
            there: partner_port(fabric, &slot),
            slot,
        })
        .collect()
}

/// A node's own port, as `hfi1_2/1`; of `many` nodes, after its node's name.
pub(in crate::pages) fn host_port(fabric: &Fabric, slot: &SlotRef, many: bool) -> String {
    let function = FunctionRef {
        node: slot.node.clone(),
        pci: slot.pci,
    };
    let device = fabric.name_of(&function);
    let device = device.map_or_else(|| slot.pci.to_string(), ToString::to_string);
    let port = format!("{device}/{}", slot.port);
    if many {
        format!("{} {port}", slot.node)
    } else {
        port
    }
}

fn partner_port(fabric: &Fabric, slot: &SlotRef) -> String {
    let Some(port) = fabric.partner_port(slot) else {
        return "its partner".to_owned();
    };
    let kind = match port.of {
        PartnerKind::Switch => "switch",
        PartnerKind::Host => "host",
    };
    match &port.switch {
        Some(name) => format!("{name} port {}", port.number),
        None => format!("{kind} {:#06x} port {}", port.lid, port.number),
    }
}

/// What is at the other end of a link.
pub(super) fn partner_kind(fabric: &Fabric, slot: &SlotRef) -> PartnerKind {
    let port = fabric.partner_port(slot);
    port.map_or(PartnerKind::Switch, |port| port.of)
}

/// The end of a link that receives over fewer lanes than when it came up, and its lanes; both ends may, the
/// node's own first.
pub(super) fn downgraded_ends(fabric: &Fabric, slot: &SlotRef) -> Vec<(Side, Lanes)> {
    let ends = Side::BOTH.into_iter();
    let lanes = ends.filter_map(|side| Some((side, fabric.lanes(slot, side)?)));
    lanes
        .filter(|(_, lanes)| lanes.receives < lanes.full)
        .collect()
}

/// The ends of a link that receive over fewer lanes than when it came up, in words; empty if none does.
pub(super) fn lost_lanes(fabric: &Fabric, link: &NamedLink) -> String {
    let ends = downgraded_ends(fabric, &link.slot).into_iter();
    let ends = ends.map(|(side, lanes)| {
        let end = match side {
            Side::Here => &link.here,
            Side::There => &link.there,
        };
        format!("{end} receives over {} of {}", lanes.receives, lanes.full)
    });
    ends.collect::<Vec<_>>().join(", ")
}

/// What an end shows now, by the texts of the fabric's tools; `unavailable` if it cannot be queried.
pub(in crate::pages) fn end_cells(fabric: &Fabric, slot: &SlotRef, side: Side) -> Vec<String> {
    match fabric.port_info(slot, side) {
        Some(info) => vec![
            state_text(&info),
            info.physical.to_string(),
            info.pair.local.to_string(),
            info.pair.neighbour.to_string(),
            info.offline.to_string(),
        ],
        None => vec!["unavailable".to_owned()],
    }
}
