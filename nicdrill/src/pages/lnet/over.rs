//! `nicdrill lnet show --over`: each node's interfaces, queues and counters over a span of time, a row where something changed.
//!
//! Start at [`over_page`].

use std::collections::BTreeMap;

use director::{FreezeError, watch};
use lnet::Node;
use scenarios::{Story, parse_time};
use simfs::SimTime;

use super::{LnetAsked, LnetPageError, lnet_json::rows_json, nets, unknown};
use crate::pages::{json, link::aligned};

/// The counters of `lnetctl stats show` that tell of trouble.
const COUNTERS: [&str; 3] = ["resend_count", "response_timeout_count", "errors"];

/// A node of a workload, and its rows; the first has the titles.
type Tables = BTreeMap<(String, String), Vec<Vec<String>>>;

/// The tables, and the lines of the story that were left out. Nodes are looked at once a tick; the first and the last tick
/// of the span have a row in any case.
///
/// # Errors
/// [`LnetPageError`], by cause.
pub(crate) fn over_page(
    story: &Story,
    asked: LnetAsked<'_>,
    span: &str,
) -> Result<(String, Vec<String>), LnetPageError> {
    let (from, to) = read_span(span)?;
    if from > story.until {
        let (asked, until) = (span.to_owned(), story.until);
        return Err(FreezeError::PastTheEnd { asked, until }.into());
    }
    let to = to.min(story.until);
    let last = story.ticks.last_until(to);
    let mut tables = Tables::new();
    let mut tick = 0;
    let mut wrong = None;
    let director = watch(story, |director| {
        let now = story.ticks.at(tick);
        let is_edge = tick == story.ticks.first_from(from) || tick == last;
        if (from..=to).contains(&now) && wrong.is_none() {
            match nets(story, director, asked.workload) {
                Err(error) => wrong = Some(error),
                Ok(all) => {
                    for (name, net) in all {
                        let meant = |node: &&Node| {
                            asked.node.is_none_or(|asked| asked == node.name().as_str())
                        };
                        for node in net.nodes().filter(meant) {
                            let key = (name.to_owned(), node.name().to_string());
                            add(tables.entry(key).or_default(), node, now, is_edge);
                        }
                    }
                }
            }
        }
        tick += 1;
    })?;
    if let Some(error) = wrong {
        return Err(error);
    }
    if let Some(asked) = asked.node.filter(|_| tables.is_empty()) {
        let all = nets(story, &director, None)?;
        let names: Vec<&str> = all
            .iter()
            .flat_map(|(_, net)| net.nodes().map(|node| node.name().as_str()))
            .collect();
        return Err(unknown("node on LNet", asked, &names));
    }
    let left_out = director.missed().iter();
    let left_out = left_out.map(|(place, text)| format!("{place}: {text}"));
    let left_out = left_out.collect();
    if asked.json {
        let tables = tables.iter().map(|((workload, node), rows)| {
            serde_json::json!({ "workload": workload, "node": node, "rows": rows_json(rows) })
        });
        let tables: Vec<_> = tables.collect();
        let page = serde_json::json!({
            "story": story.name,
            "from_ns": from.as_ns(),
            "to_ns": to.as_ns(),
            "tables": tables,
        });
        return Ok((json::page(&page), left_out));
    }
    let mut page = String::new();
    for ((workload, node), rows) in &tables {
        page += &format!(
            "# {node}, workload {workload}, {from} to {to}\n{}",
            aligned(rows)
        );
    }
    Ok((page, left_out))
}

/// Adds a row if it differs from the one before, or stands at an edge of the span.
fn add(rows: &mut Vec<Vec<String>>, node: &Node, now: SimTime, is_edge: bool) {
    let (titles, cells) = cells(node);
    let titles: Vec<String> = std::iter::once("time".to_owned()).chain(titles).collect();
    let row: Vec<String> = std::iter::once(now.to_string()).chain(cells).collect();
    if rows.is_empty() {
        rows.push(titles);
    }
    let is_new = rows.last().is_none_or(|last| last[1..] != row[1..]);
    if is_new || is_edge {
        rows.push(row);
    }
}

/// What a node shows of its interfaces, its peers', its recovery queues and its counters; titles first.
fn cells(node: &Node) -> (Vec<String>, Vec<String>) {
    let mut cells: Vec<(String, String)> = Vec::new();
    for ni in node.nis() {
        let status = match (node.is_up(ni), ni.fatal) {
            (_, true) => "fatal",
            (true, false) => "up",
            (false, false) => "down",
        };
        cells.push((ni.nid().to_string(), format!("{status} {}", ni.health)));
    }
    for ni in node.peers().flat_map(|peer| &peer.nis) {
        cells.push((format!("peer {}", ni.nid), ni.health.to_string()));
    }
    let queued = [node.local_queue().len(), node.peer_queue().len()];
    cells.push((
        "in recovery".to_owned(),
        format!("{}+{}", queued[0], queued[1]),
    ));
    let counters = node.statistics().rows();
    let told = counters.iter().filter(|(name, _)| COUNTERS.contains(name));
    cells.extend(told.map(|(name, count)| ((*name).to_owned(), count.to_string())));
    cells.into_iter().unzip()
}

/// Two times with `..` between them, the second not before the first.
fn read_span(text: &str) -> Result<(SimTime, SimTime), LnetPageError> {
    let times = text.split_once("..");
    let times = times.and_then(|(from, to)| Some((parse_time(from)?, parse_time(to)?)));
    times
        .filter(|(from, to)| from <= to)
        .ok_or_else(|| LnetPageError::NoSpan(text.to_owned()))
}
