//! `nicdrill lnet show --over`: each node's interfaces, queues and counters over a span of time, a row where something changed.
//!
//! Start at [`over_page`].

use std::collections::BTreeMap;

use director::{FreezeError, watch};
use lnet::Node;
use scenarios::{Story, parse_time};
use serde_json::{Map, Value, json};
use simfs::SimTime;

use super::{LnetAsked, LnetPageError, nets, unknown};
use crate::pages::{json as page_json, link::aligned};

/// The counters of `lnetctl stats show` that tell of trouble.
const COUNTERS: [&str; 3] = ["resend_count", "response_timeout_count", "errors"];

/// The table of each node of a workload.
type Tables = BTreeMap<(String, String), Table>;

/// What a node showed: the titles of the columns, and the cells at each time that has a row.
#[derive(Default)]
struct Table {
    titles: Vec<String>,
    rows: Vec<(SimTime, Vec<String>)>,
}

/// The tables, and the lines of the story that were left out. Nodes are looked at once a tick; the first and the last tick
/// of the span have a row in any case.
///
/// # Errors
/// [`LnetPageError`], by cause; one is that the span reaches beyond the story's end.
pub(crate) fn over_page(
    story: &Story,
    asked: LnetAsked<'_>,
    span: &str,
) -> Result<(String, Vec<String>), LnetPageError> {
    let (from, to) = read_span(span)?;
    if to > story.until {
        let (asked, until) = (span.to_owned(), story.until);
        return Err(FreezeError::PastTheEnd { asked, until }.into());
    }
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
                            tables.entry(key).or_default().add(node, now, is_edge);
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
        let tables = tables.iter().map(|((workload, node), table)| {
            json!({ "workload": workload, "node": node, "rows": table.rows_json() })
        });
        let tables: Vec<_> = tables.collect();
        let page = json!({
            "story": story.name,
            "from_ns": from.as_ns(),
            "to_ns": to.as_ns(),
            "tables": tables,
        });
        return Ok((page_json::page(&page), left_out));
    }
    let mut page = String::new();
    for ((workload, node), table) in &tables {
        page += &format!(
            "# {node}, workload {workload}, {from} to {to}\n{}",
            aligned(&table.lines())
        );
    }
    Ok((page, left_out))
}

impl Table {
    /// Adds a row if it differs from the one before, or stands at an edge of the span.
    fn add(&mut self, node: &Node, now: SimTime, is_edge: bool) {
        let (titles, cells) = cells(node);
        self.titles = titles;
        let is_new = self.rows.last().is_none_or(|(_, last)| *last != cells);
        if is_new || is_edge {
            self.rows.push((now, cells));
        }
    }

    /// The rows below their titles, each after its time.
    fn lines(&self) -> Vec<Vec<String>> {
        let line = |time: String, cells: &[String]| [&[time][..], cells].concat();
        let rows = self.rows.iter();
        let rows = rows.map(|(at, cells)| line(at.to_string(), cells));
        std::iter::once(line("time".to_owned(), &self.titles))
            .chain(rows)
            .collect()
    }

    /// Each row as an object with a key for each title.
    fn rows_json(&self) -> Vec<Value> {
        let object = |(at, cells): &(SimTime, Vec<String>)| {
            let cells = self.titles.iter().zip(cells);
            let mut row: Map<_, _> = cells
                .map(|(title, cell)| (title.clone(), Value::from(cell.as_str())))
                .collect();
            row.insert("time".to_owned(), Value::from(at.to_string()));
            row.insert("at_ns".to_owned(), Value::from(at.as_ns()));
            Value::Object(row)
        };
        self.rows.iter().map(object).collect()
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
