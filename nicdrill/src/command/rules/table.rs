//! What alert rules noticed of each kind of fault, over drills and phases of the evaluation. Start at [`Table`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use judge::Noticed;
use observe::Recording;
use scenarios::Story;
use terms::Severity;

/// The name without which a page says nothing about the ports of devices.
const PORTS: &str = "node_infiniband_state_id";

/// The counts by kind of fault.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<String, Row>,
    drills: usize,
    broke_off: usize,
    false_alarms: BTreeMap<String, BTreeSet<String>>,
    unnamed: BTreeSet<String>,
    faults: Vec<String>,
}

/// What was noticed in one phase of the evaluation.
#[derive(Debug)]
pub(super) struct Phase {
    /// By alarms about the port, device or card.
    pub(super) port: Noticed,
    /// By any alarm on the node.
    pub(super) node: Noticed,
    /// The alerts that nothing gives a meaning.
    pub(super) unnamed: BTreeMap<String, u64>,
}

/// One kind of fault.
#[derive(Debug, Default)]
struct Row {
    faults: usize,
    /// Noticed in every phase, and in some only.
    always: usize,
    sometimes: usize,
    /// Not noticed, while another alarm stood on the node.
    node: usize,
    /// Not noticed, and no scrape fell into the time in which it stood: no rule could tell of it.
    unscraped: usize,
    /// Not noticed, while pages came and none had a word about ports.
    blind: usize,
    /// How late, over faults and phases, in milliseconds.
    late_ms: Vec<u64>,
}

impl Table {
    /// Adds a drill, with what was noticed in each phase.
    pub(super) fn take(&mut self, story: &Story, recording: &Recording, phases: &[Phase]) {
        self.drills += 1;
        let drill = format!("{}@{}", story.name, story.world);
        if let Some(broken) = &recording.broken {
            self.broke_off += 1;
            self.faults
                .push(format!("{drill}: it broke off: {broken:?}"));
            return;
        }
        let Some(first) = phases.first() else { return };
        for (at, fault) in first.port.faults.iter().enumerate() {
            let row = self.rows.entry(fault.kind.to_string()).or_default();
            row.faults += 1;
            let after = |noticed: &Noticed| noticed.faults.get(at)?.noticed_after_ms;
            let late: Vec<u64> = phases
                .iter()
                .filter_map(|phase| after(&phase.port))
                .collect();
            let of_node = phases.iter().filter_map(|phase| after(&phase.node)).min();
            // What is scraped while everything is mended is no page about the fault.
            let to = fault.to.min(recording.healing_from.unwrap_or(u64::MAX));
            let pages = Pages::of(recording, &fault.node, fault.from, to);
            let told = match (late.iter().min(), late.iter().max()) {
                (Some(least), Some(most)) if late.len() == phases.len() => {
                    row.always += 1;
                    format!("noticed after {} to {}", seconds(*least), seconds(*most))
                }
                (Some(least), _) => {
                    row.sometimes += 1;
                    let (some, all) = (late.len(), phases.len());
                    format!(
                        "noticed in {some} of {all} phases, after {} at the least",
                        seconds(*least)
                    )
                }
                _ if pages == Pages::None => {
                    row.unscraped += 1;
                    "not scraped while it stood".to_owned()
                }
                _ => {
                    let is_blind = pages == Pages::WithoutPorts;
                    row.node += usize::from(of_node.is_some());
                    row.blind += usize::from(is_blind);
                    let node = of_node.map_or_else(
                        || "never noticed".to_owned(),
                        |after| {
                            format!(
                                "noticed elsewhere on the node, after {} at the least",
                                seconds(after)
                            )
                        },
                    );
                    let blind = if is_blind {
                        ": no page had a port while it stood"
                    } else {
                        ""
                    };
                    format!("{node}{blind}")
                }
            };
            row.late_ms.extend(late);
            let ticks = fault
                .to
                .min(recording.ticks.len() as u64)
                .saturating_sub(fault.from);
            let stood = seconds(ticks * (story.ticks.interval().as_ns() / 1_000_000));
            let (kind, place) = (&fault.kind, &fault.place);
            self.faults.push(format!(
                "{drill}: {kind} of {place}, which stood {stood}: {told}"
            ));
        }
        for Phase { port, unnamed, .. } in phases {
            for alarm in &port.false_alarms {
                let drills = self
                    .false_alarms
                    .entry(without_polls(&alarm.line))
                    .or_default();
                drills.insert(drill.clone());
            }
            self.unnamed.extend(unnamed.keys().cloned());
        }
    }

    /// How many drills broke off.
    pub(super) fn broke_off(&self) -> usize {
        self.broke_off
    }

    /// The page that is printed.
    pub(super) fn page(&self, verbose: bool) -> String {
        let mut page = String::new();
        if verbose {
            for fault in &self.faults {
                let _ = writeln!(page, "{fault}");
            }
            page.push('\n');
        }
        let _ = writeln!(
            page,
            "{:<28} {:>6} {:>7} {:>9} {:>11} {:>6} {:>6} {:>6}   {:>8} {:>8} {:>8}",
            "kind of fault",
            "faults",
            "noticed",
            "sometimes",
            "not scraped",
            "node",
            "never",
            "blind",
            "least",
            "median",
            "most"
        );
        for (kind, row) in &self.rows {
            let mut late = row.late_ms.clone();
            late.sort_unstable();
            let of = |at: usize| {
                late.get(at)
                    .map_or_else(|| "-".to_owned(), |ms| seconds(*ms))
            };
            let told = row.always + row.sometimes + row.node;
            let never = row.faults - told - row.unscraped;
            let last = late.len().saturating_sub(1);
            let _ = writeln!(
                page,
                "{kind:<28} {:>6} {:>7} {:>9} {:>11} {:>6} {never:>6} {:>6}   {:>8} {:>8} {:>8}",
                row.faults,
                row.always,
                row.sometimes,
                row.unscraped,
                row.node,
                row.blind,
                of(0),
                of(last / 2),
                of(last)
            );
        }
        let _ = writeln!(
            page,
            "{} drills, {} of which broke off",
            self.drills, self.broke_off
        );
        let _ = writeln!(page, "false alarms: {}", self.false_alarms.len());
        for (alarm, drills) in &self.false_alarms {
            let (first, count) = (drills.first().map_or("", String::as_str), drills.len());
            let more = if count > 1 {
                format!(" and {} more", count - 1)
            } else {
                String::new()
            };
            let _ = writeln!(page, "  {alarm}: in {first}{more}");
        }
        if !self.unnamed.is_empty() {
            let names: Vec<&str> = self.unnamed.iter().map(String::as_str).collect();
            let _ = writeln!(
                page,
                "fired, and `alerts` does not say what they mean: {}",
                names.join(", ")
            );
        }
        page
    }
}

/// What was scraped while a fault stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pages {
    /// Nothing.
    None,
    /// Pages that say nothing about the ports of devices, and failed scrapes.
    WithoutPorts,
    /// At least one page with ports.
    WithPorts,
}

impl Pages {
    /// Of a node, from a tick until before another one.
    fn of(recording: &Recording, node: &str, from: u64, to: u64) -> Self {
        let ticks = (0..).zip(&recording.ticks);
        let stood = ticks.filter(|(tick, _)| (from..to).contains(tick));
        let scrapes = stood.flat_map(|(_, tick)| {
            tick.monitors
                .get(node)
                .map(|monitor| &monitor.scrapes[..])
                .unwrap_or_default()
        });
        scrapes.fold(Self::None, |before, scrape| {
            let page = scrape.series().unwrap_or_default();
            let has_ports = page.iter().any(|series| series.name == PORTS);
            match has_ports || before == Self::WithPorts {
                true => Self::WithPorts,
                false => Self::WithoutPorts,
            }
        })
    }
}

/// An alarm's line without the polls in which it stood.
fn without_polls(line: &str) -> String {
    let words = [Severity::Fatal, Severity::NonFatal].map(|severity| severity.to_string());
    let at = words
        .iter()
        .filter_map(|word| line.find(word.as_str()))
        .min();
    line[at.unwrap_or(0)..].to_owned()
}

/// Milliseconds as seconds.
fn seconds(ms: u64) -> String {
    format!("{} s", ms / 1000)
}
