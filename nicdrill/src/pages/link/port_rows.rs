//! Links by the names of their ends, and what one end shows as cells of a table.
//!
//! Start at [`links_of`] and [`end_cells`].

use std::collections::BTreeSet;

use fabric::{
    Fabric, FunctionRef, PartnerKind, Side,
    opa::{Lanes, state_text},
};
use platforms::{Driver, SlotRef};
use scenarios::Story;

/// The kernel's driver of the ports that the tools of Omni-Path read.
const OMNI_PATH: &str = "hfi1";

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

/// The driver of a node's own port.
fn driver<'f>(fabric: &'f Fabric, slot: &SlotRef) -> Option<&'f Driver> {
    let platform = fabric.platform(&slot.node)?;
    let mut ports = platform.ports().into_iter();
    let facts = ports.find(|port| port.pci == slot.pci && port.port == slot.port)?;
    platform.driver(&facts.driver_file)
}

/// Whether the tools of Omni-Path read a node's own port.
pub(super) fn is_omni_path(fabric: &Fabric, slot: &SlotRef) -> bool {
    driver(fabric, slot).is_some_and(|driver| driver.kernel_driver == OMNI_PATH)
}

/// What is to be said of ports that those tools do not read, by their drivers; `None` if all are Omni-Path's.
pub(super) fn foreign_note<'s>(
    fabric: &Fabric,
    slots: impl IntoIterator<Item = &'s SlotRef>,
) -> Option<String> {
    let drivers = slots
        .into_iter()
        .filter_map(|slot| driver(fabric, slot))
        .map(|driver| driver.kernel_driver.as_str());
    let foreign: BTreeSet<&str> = drivers.filter(|name| *name != OMNI_PATH).collect();
    let names: Vec<String> = foreign.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "ports of {} are not Omni-Path: no tool shows this on such a host; the links are modelled with Omni-Path's reasons \
             and shown in its tools' format",
            names.join(", ")
        )
    })
}

/// What to do about ports that the tools of Omni-Path do not read.
pub(super) const FOREIGN_HINT: &str =
    "Omni-Path is on a platform whose ports have the driver `hfi1`, such as `opa-cn5000`";

/// The note and the hint below the heading of a page; empty if all ports are Omni-Path's.
pub(super) fn foreign_lines<'s>(
    fabric: &Fabric,
    slots: impl IntoIterator<Item = &'s SlotRef>,
) -> String {
    foreign_note(fabric, slots).map_or_else(String::new, |note| {
        format!("note: {note}\nhint: {FOREIGN_HINT}\n")
    })
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
