//! `nicdrill link show --switch`: every port of one switch, and the host's port at its other end.
//!
//! Start at [`switch_page`].

use std::collections::BTreeSet;

use fabric::{Fabric, Side, opa::state_text};
use scenarios::Story;

use super::{
    cell_table::aligned,
    port_rows::{END_TITLES, NamedLink, end_cells, foreign_lines, links_of, lost_lanes},
};

/// The links of a switch, in the order of its ports; otherwise the names of the world's switches.
pub(super) fn links_to(
    story: &Story,
    fabric: &Fabric,
    asked: &str,
) -> Result<Vec<NamedLink>, String> {
    let links = numbered(story, fabric, asked)?;
    Ok(links.into_iter().map(|(_, link)| link).collect())
}

/// The links of a switch by the numbers of its ports.
fn numbered(story: &Story, fabric: &Fabric, asked: &str) -> Result<Vec<(u8, NamedLink)>, String> {
    let links = links_of(story, fabric);
    let switch = |link: &NamedLink| fabric.partner_port(&link.slot)?.switch.clone();
    let mut known: Vec<(u8, NamedLink)> = Vec::new();
    let mut names = BTreeSet::new();
    for link in links {
        let Some(name) = switch(&link) else { continue };
        if name == asked
            && let Some(port) = fabric.partner_port(&link.slot)
        {
            known.push((port.number, link));
        } else {
            names.insert(format!("`{name}`"));
        }
    }
    if known.is_empty() {
        return Err(Vec::from_iter(names).join(", "));
    }
    known.sort_by_key(|(number, _)| *number);
    Ok(known)
}

/// The page; otherwise the names of the world's switches.
pub(super) fn switch_page(story: &Story, fabric: &Fabric, asked: &str) -> Result<String, String> {
    let known = numbered(story, fabric, asked)?;
    let titles = [
        &["port"],
        &END_TITLES[..],
        &["log", "host port", "its state", "lanes lost"],
    ]
    .concat();
    let mut rows: Vec<Vec<String>> = vec![titles.into_iter().map(ToOwned::to_owned).collect()];
    let note = foreign_lines(fabric, known.iter().map(|(_, link)| &link.slot));
    for (number, link) in known {
        let mut row = vec![number.to_string()];
        row.extend(end_cells(fabric, &link.slot, Side::There));
        row.resize(END_TITLES.len() + 1, String::new());
        let there = fabric.end(&link.slot, Side::There);
        let entries = there.map_or(0, |end| end.log.len());
        let here = fabric.port_info(&link.slot, Side::Here);
        let lost = lost_lanes(fabric, &link);
        row.push(entries.to_string());
        row.push(link.here);
        row.push(here.map_or_else(|| "unavailable".to_owned(), |info| state_text(&info)));
        row.push(lost);
        rows.push(row);
    }
    let now = fabric.now();
    Ok(format!(
        "{} at {now}: {asked}\n{note}\n{}",
        story.name,
        aligned(&rows)
    ))
}
