//! Replays a recorded event stream through rules, conditions and quarantine, and prints what the cluster
//! would have done, and when.
//!
//! This file reads the files; `cluster` evaluates them. The clock is the latest timestamp read so far:
//! before a line is processed, every rule that is due by then runs at its time. Start at [`replay`].

use std::{
    borrow::Cow,
    collections::BTreeSet,
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    path::Path,
};

use cluster::{
    Clearing, Cluster, Consequence, ConsequenceKind, Quarantine, Rulesets, Stamp,
    recorded::{LINE_MAX_BYTES, RecordError, read_line},
    rules::{Analyzer, Cabling, FiringKind, Rule, RuleError, SHIPPED, read, read_cabling, shipped},
};
use platforms::Platforms;
use proto::{HealthEvent, HealthEvents};
use scenarios::{AtRest, ScenarioError, World};

use crate::read_files::{ReadError, text_of};

/// Why a replay cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The stream cannot be read.
    #[error("`{file}` cannot be read: {cause}")]
    Io {
        /// The file.
        file: String,
        /// The cause.
        cause: io::Error,
    },
    /// A line of the stream is invalid.
    #[error("{file}:{line}: {cause}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The cause.
        cause: RecordError,
    },
    /// A line of the stream is not text.
    #[error("{file}:{line}: the line is not text in UTF-8, or has more than {LINE_MAX_BYTES} bytes\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NotText {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// The stream contains no event.
    #[error("`{file}` holds no health event\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Empty {
        /// The file.
        file: String,
    },
    /// There is no rule profile of this name.
    #[error("there are no rules `{asked}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchRules {
        /// The name.
        asked: String,
        /// The known profiles.
        known: String,
    },
    /// Another file cannot be read.
    #[error(transparent)]
    File(#[from] ReadError),
    /// A rule file or cabling file is invalid.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// The world is invalid.
    #[error(transparent)]
    World(#[from] ScenarioError),
}

impl ReplayError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NotText { .. } => "one line of JSON is one call or one event".into(),
            Self::Empty { .. } => {
                "one line of JSON is one call or one event; see `docs/rules.md`".into()
            }
            Self::NoSuchRules { known, .. } => {
                format!("give a file that ends in `.toml`, or one of {known}").into()
            }
            _ => return None,
        })
    }
}

/// The rules that `asked` means: a shipped profile's name, or a file.
fn rules(asked: &str) -> Result<Vec<Rule>, ReplayError> {
    if let Some(rules) = shipped(asked) {
        return Ok(rules);
    }
    if !asked.ends_with(".toml") {
        let known: Vec<String> = SHIPPED
            .iter()
            .map(|file| format!("`{}`", file.name))
            .collect();
        return Err(ReplayError::NoSuchRules {
            asked: asked.to_owned(),
            known: known.join(", "),
        });
    }
    Ok(read(asked, &text_of(Path::new(asked))?)?)
}

/// Which switch each port is cabled to: from a world's file, or from a file with a cabling only.
fn cabling(path: &Path, platforms: &Platforms) -> Result<Cabling, ReplayError> {
    let (file, text) = (path.display().to_string(), text_of(path)?);
    if !matches!(path.extension(), Some(kind) if kind == "yaml" || kind == "yml") {
        return Ok(read_cabling(&file, &text)?);
    }
    let world = AtRest::of_world(&World::read(&file, &text)?, platforms)?;
    Ok(judge::cabling(&world.cables()))
}

/// Replays a stream; `report` receives the output line by line. A world may use these platforms.
///
/// # Errors
/// [`ReplayError`]; lines passed to `report` before remain valid.
pub fn replay(
    events: &Path,
    rules_asked: &str,
    world: Option<&Path>,
    platforms: &Platforms,
    mut report: impl FnMut(&str),
) -> Result<(), ReplayError> {
    let rules = rules(rules_asked)?;
    let cabling = world.map(|path| cabling(path, platforms));
    let analyzer = Analyzer::new(rules, cabling.transpose()?);
    for rule in analyzer.unevaluable() {
        let text = rule.to_string();
        report(text.lines().next().unwrap_or(&text));
    }
    let quarantine = Quarantine::new(Rulesets::shipped());
    let mut replay = Replay {
        cluster: Cluster::new(Clearing::ALL, quarantine, analyzer),
        sum: Sum::default(),
    };
    let file = events.display().to_string();
    let io = |cause| ReplayError::Io {
        file: file.clone(),
        cause,
    };
    let mut reader = BufReader::new(File::open(events).map_err(io)?);
    for line in 1.. {
        let mut bytes = Vec::new();
        let limit = LINE_MAX_BYTES as u64 + 1;
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut bytes);
        if read.map_err(io)? == 0 {
            break;
        }
        let not_text = || ReplayError::NotText {
            file: file.clone(),
            line,
        };
        if bytes.len() > LINE_MAX_BYTES {
            return Err(not_text());
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| not_text())?;
        let call = read_line(text).map_err(|cause| ReplayError::Line {
            file: file.clone(),
            line,
            cause,
        })?;
        if let Some(call) = call {
            replay.call(&call, &mut report);
        }
    }
    if replay.sum.events == 0 {
        return Err(ReplayError::Empty { file });
    }
    replay.end(&mut report);
    Ok(())
}

struct Replay {
    cluster: Cluster,
    sum: Sum,
}

/// Totals of a replay.
#[derive(Default)]
struct Sum {
    calls: usize,
    events: usize,
    nodes: BTreeSet<String>,
    fired: usize,
    span: Option<(Stamp, Stamp)>,
}

impl Replay {
    fn call(&mut self, call: &HealthEvents, report: &mut impl FnMut(&str)) {
        self.sum.take(call);
        let clock = self.sum.span.map_or(Stamp::default(), |(_, latest)| latest);
        let due = self.cluster.run_until(clock);
        self.print(&due, report);
        match self.cluster.receive(call) {
            Ok(consequences) => self.print(&consequences, report),
            Err(refused) => {
                let text = refused.to_string();
                let cause = text.lines().next().unwrap_or(&text);
                report(&format!("{clock}  refused    the whole call: {cause}"));
            }
        }
    }

    fn print(&mut self, consequences: &[Consequence], report: &mut impl FnMut(&str)) {
        for consequence in consequences {
            match &consequence.what {
                // Repeated sightings of one Kubernetes event only raise its count.
                ConsequenceKind::KubeEvent { count, .. } if *count > 1 => continue,
                ConsequenceKind::Rule(firing) if firing.kind == FiringKind::Fired => {
                    self.sum.fired += 1
                }
                _ => {}
            }
            report(&consequence.to_string());
        }
    }

    fn end(mut self, report: &mut impl FnMut(&str)) {
        report(&self.summary());
        for (node, annotation) in self.cluster.quarantine().cordoned() {
            report(&format!(
                "  {node} is cordoned, faults outstanding: {}",
                annotation.faults()
            ));
        }
        for (node, conditions) in self.cluster.conditions() {
            for (check, condition) in conditions.iter().filter(|(_, one)| one.is_faulty) {
                report(&format!("  {node} {check}: {}", condition.message));
            }
        }
        let later = self.cluster.run_until(Stamp::from_ns(i64::MAX));
        if !later.is_empty() {
            report("if nothing more comes:");
            self.print(&later, report);
        }
    }

    fn summary(&self) -> String {
        let Sum {
            calls,
            events,
            nodes,
            fired,
            span,
        } = &self.sum;
        let (first, last) = span.unwrap_or_default();
        let standing = self.cluster.conditions().values();
        let standing: usize = standing.map(|node| node.faulty().count()).sum();
        let cordoned = self.cluster.quarantine().cordoned().count();
        format!(
            "events: {events} in {calls} calls, nodes: {}, from {first} to {last}; rules fired: {fired}; at the end \
             conditions that stand: {standing}, nodes cordoned: {cordoned}",
            nodes.len()
        )
    }
}

impl Sum {
    fn take(&mut self, call: &HealthEvents) {
        self.calls += 1;
        self.events += call.events.len();
        for event in &call.events {
            let at = stamp(event);
            let (first, last) = self.span.unwrap_or((at, at));
            self.span = Some((first.min(at), last.max(at)));
            if !self.nodes.contains(&event.node_name) {
                self.nodes.insert(event.node_name.clone());
            }
        }
    }
}

fn stamp(event: &HealthEvent) -> Stamp {
    Stamp::of(event.generated_timestamp.as_ref())
}
