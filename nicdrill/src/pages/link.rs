//! Both ends of a story's links at an instant, in the output formats of fabric tools.
//!
//! The world is played without a monitor, so steps at a moment of a poll are left out. The node's own end is printed as
//! by `opaportinfo` on the node, and both ends as by `opasaquery -o portinfo -vvv`. Start at [`link_page`];
//! its other views are in the files below.

mod cell_table;
mod degraded;
mod link_json;
mod port_rows;
mod switch_table;
mod written_lines;

use link_json::{dmesg_json, fm_log_json, links_at, links_json, summary_json};
use port_rows::{downgraded_ends, foreign_lines};

use super::json;

pub(super) use cell_table::aligned;
pub(super) use degraded::grown_errors;
pub(super) use port_rows::{END_TITLES, NamedLink, end_cells, host_port, links_of};

use std::borrow::Cow;
use std::fmt::Write as _;

use fabric::{
    Fabric, FunctionRef, PartnerKind, Side,
    opa::{Lanes, port_info_text, port_record_text},
};
use platforms::SlotRef;
use scenarios::Story;
use simfs::SimTime;

use director::{FreezeError, freeze_at};

/// The command that reads a node's own port.
const LOCAL: &str = "$ opaportinfo\n";

/// The command that asks the subnet administration for a port's record and its log.
const QUERY: &str = "$ opasaquery -o portinfo -vvv\n";

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkPageError {
    /// The world cannot be played to that instant.
    #[error(transparent)]
    Still(#[from] FreezeError),
    /// There is no port of this name.
    #[error("no port `{asked}` on {world} at {at}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchPort {
        /// The requested name.
        asked: String,
        /// The platform.
        world: String,
        /// The instant.
        at: SimTime,
        known: String,
    },
    /// There is no switch of this name.
    #[error("no switch `{asked}` in {world}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchSwitch {
        /// The requested name.
        asked: String,
        world: String,
        /// The known switches; empty if none has a name.
        known: String,
    },
}

impl LinkPageError {
    /// A hint for the user; `None` if the text needs none.
    pub(crate) fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoSuchPort { known, .. } => format!("the ports are {known}").into(),
            Self::NoSuchSwitch { known, .. } if known.is_empty() => {
                "only the file of a world of several nodes names switches".into()
            }
            Self::NoSuchSwitch { known, .. } => format!("the switches are {known}").into(),
            _ => return None,
        })
    }
}

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkView<'a> {
    /// Both ends of a port's link, or of every port with a reason or a log entry at either end.
    Ends(Option<&'a str>),
    /// The degraded links.
    Summary,
    /// The ports of this switch.
    Switch(&'a str),
    /// What the fabric manager wrote, of one port's link or of all.
    FmLog(Option<&'a str>),
    /// What the kernels wrote, of one port's node or of all.
    Dmesg(Option<&'a str>),
}

/// The page, and the lines of the story that were left out.
///
/// `at` is limited to the story's end, which is its default. A port is `mlx5_0` or `mlx5_0/2`, in a world of
/// several nodes `vm1/mlx5_0`. `as_json` makes it JSON.
///
/// # Errors
/// [`LinkPageError`], by cause.
pub(crate) fn link_page(
    story: &Story,
    at: Option<&str>,
    view: LinkView<'_>,
    as_json: bool,
) -> Result<(String, Vec<String>), LinkPageError> {
    let (director, left_out) = freeze_at(story, at)?;
    let fabric = director.fabric();
    let of = |port: Option<&str>| port.map(|asked| named(story, fabric, asked)).transpose();
    if as_json {
        let page = match view {
            LinkView::Ends(port) => {
                let slots = of(port)?.map_or_else(|| affected(story, fabric), |slot| vec![slot]);
                links_json(story, fabric, &links_at(story, fabric, &slots))
            }
            LinkView::Summary => summary_json(story, fabric),
            LinkView::Switch(asked) => {
                let links = switch_table::links_to(story, fabric, asked);
                links_json(
                    story,
                    fabric,
                    &links.map_err(|known| no_switch(story, asked, known))?,
                )
            }
            LinkView::FmLog(port) => fm_log_json(story, fabric, of(port)?.as_ref()),
            LinkView::Dmesg(port) => dmesg_json(story, fabric, of(port)?.as_ref()),
        };
        return Ok((json::page(&page), left_out));
    }
    let page = match view {
        LinkView::Ends(port) => ends_page(story, fabric, of(port)?),
        LinkView::Summary => degraded::summary(story, fabric),
        LinkView::Switch(asked) => {
            let page = switch_table::switch_page(story, fabric, asked);
            page.map_err(|known| no_switch(story, asked, known))?
        }
        LinkView::FmLog(port) => written_lines::fm_log(story, fabric, of(port)?.as_ref()),
        LinkView::Dmesg(port) => written_lines::dmesg(story, fabric, of(port)?.as_ref()),
    };
    Ok((page, left_out))
}

fn no_switch(story: &Story, asked: &str, known: String) -> LinkPageError {
    LinkPageError::NoSuchSwitch {
        asked: asked.to_owned(),
        world: story.world.clone(),
        known,
    }
}

/// Both ends, as the tools print them.
fn ends_page(story: &Story, fabric: &Fabric, slot: Option<SlotRef>) -> String {
    let slots = slot.map_or_else(|| affected(story, fabric), |slot| vec![slot]);
    let mut page = format!("{} at {}\n", story.name, fabric.now());
    page += &foreign_lines(fabric, &slots);
    if slots.is_empty() {
        page += "\nevery link is up, and neither end of any remembers a thing\n";
    }
    for slot in slots {
        let device = fabric.name_of(&FunctionRef {
            node: slot.node.clone(),
            pci: slot.pci,
        });
        let device = device.map_or_else(|| slot.pci.to_string(), ToString::to_string);
        for (side, word) in [(Side::Here, "here"), (Side::There, "there")] {
            let node = if story.nodes.len() > 1 {
                format!("{} ", slot.node)
            } else {
                String::new()
            };
            let partner = match side {
                Side::Here => String::new(),
                Side::There => known_partner(fabric, &slot),
            };
            writeln!(
                page,
                "\n== {node}{device} port {}, {word}{partner}",
                slot.port
            )
            .expect("writing to a string cannot fail");
            page += &lanes_text(fabric, &slot, side);
            page += &end_text(fabric, &slot, side);
        }
    }
    page
}

/// A partner that a world's file or its story names.
fn known_partner(fabric: &Fabric, slot: &SlotRef) -> String {
    let port = fabric.partner_port(slot);
    match port.map(|port| (port.of, &port.switch, port.number)) {
        Some((_, Some(name), number)) => format!(": {name} port {number}"),
        Some((PartnerKind::Host, None, number)) => format!(": another host's port {number}"),
        Some((PartnerKind::Switch, None, _)) | None => String::new(),
    }
}

/// The lanes of an end that lost some, in a line that no tool prints: no public source has their format.
fn lanes_text(fabric: &Fabric, slot: &SlotRef, side: Side) -> String {
    let lanes = fabric.lanes(slot, side);
    lanes
        .filter(|lanes| lanes.is_downgraded())
        .map_or_else(String::new, |lanes| {
            let Lanes {
                sends,
                receives,
                full,
            } = lanes;
            format!("slow: it sends over {sends} and receives over {receives} of {full} lanes\n")
        })
}

/// The output of the tools that can be asked about an end.
fn end_text(fabric: &Fabric, slot: &SlotRef, side: Side) -> String {
    if fabric.end(slot, side).is_none() {
        return "a virtual function's port: its link is its physical one's\n".to_owned();
    }
    let by_host = match side {
        Side::Here => format!("{LOCAL}{}", local_text(fabric, slot)),
        Side::There => String::new(),
    };
    format!("{by_host}{QUERY}{}", record_text(fabric, slot, side))
}

/// What the tool prints that reads the node's own port on the node.
fn local_text(fabric: &Fabric, slot: &SlotRef) -> String {
    match fabric.port_info(slot, Side::Here) {
        Some(info) => port_info_text(&info),
        None => "unavailable: the port cannot be read\n".to_owned(),
    }
}

/// What the tool prints that asks the subnet administration, which has the log of an end.
fn record_text(fabric: &Fabric, slot: &SlotRef, side: Side) -> String {
    match fabric.query(slot, side) {
        Some((info, log)) => port_record_text(&info, &log),
        None => format!("unavailable: {}\n", why_no_record(fabric)),
    }
}

/// Why the subnet administration has no record of an end.
fn why_no_record(fabric: &Fabric) -> &'static str {
    if fabric.is_managed() {
        "the subnet manager does not reach it"
    } else {
        "no subnet manager answers"
    }
}

/// Every port by name, including those of absent functions or hosts.
fn slots(story: &Story, fabric: &Fabric) -> Vec<(String, SlotRef)> {
    let slots = story.nodes.iter();
    let slots = slots.flat_map(|(node, _)| fabric.slots_of(node));
    let named = slots.filter_map(|slot| {
        let function = FunctionRef {
            node: slot.node.clone(),
            pci: slot.pci,
        };
        let name = format!("{}/{}", fabric.name_of(&function)?, slot.port);
        Some(if story.nodes.len() > 1 {
            (format!("{}/{name}", slot.node), slot)
        } else {
            (name, slot)
        })
    });
    named.collect()
}

fn named(story: &Story, fabric: &Fabric, asked: &str) -> Result<SlotRef, LinkPageError> {
    let known = slots(story, fabric);
    let whole = format!("{asked}/1");
    let found = known
        .iter()
        .find(|(name, _)| *name == asked || *name == whole);
    found.map(|(_, slot)| slot.clone()).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        LinkPageError::NoSuchPort {
            asked: asked.to_owned(),
            world: story.world.clone(),
            at: fabric.now(),
            known: names.join(", "),
        }
    })
}

/// The ports with a reason or a log entry at either end, or with fewer lanes than when they came up.
fn affected(story: &Story, fabric: &Fabric) -> Vec<SlotRef> {
    let reports = |slot: &SlotRef| {
        Side::BOTH.iter().any(|side| {
            fabric.end(slot, *side).is_some_and(|end| {
                let pair = end.record.map(|record| record.shown());
                pair.is_none_or(|pair| !pair.is_clear()) || !end.log.is_empty()
            })
        })
    };
    let slots = story.nodes.iter();
    let slots = slots.flat_map(|(node, _)| fabric.slots_of(node));
    let has_lost_lanes = |slot: &SlotRef| !downgraded_ends(fabric, slot).is_empty();
    slots
        .filter(|slot| reports(slot) || has_lost_lanes(slot))
        .collect()
}
