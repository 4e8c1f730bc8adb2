//! Replays a recorded event stream through rules, conditions and quarantine, and prints what the cluster
//! would have done, and when.
//!
//! `replay/stream.rs` reads the stream; `cluster` evaluates it. The clock is the latest timestamp read so far:
//! before a line is processed, every rule that is due by then runs at its time. Start at [`replay`].

mod stream;

use std::{borrow::Cow, collections::BTreeSet, io, path::Path};

use cluster::{
    Clearing, Cluster, Consequence, ConsequenceKind, Quarantine, Rulesets, Stamp,
    recorded::{LINE_MAX_BYTES, RecordError},
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
        /// The path as it was given.
        file: String,
        /// The cause.
        cause: io::Error,
    },
    /// A line of the stream is invalid.
    #[error("{file}:{line}: {cause}")]
    Line {
        /// The path as it was given.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The cause.
        cause: RecordError,
    },
    /// A line of the stream is not text.
    #[error("{file}:{line}: the line is not text in UTF-8, or has more than {LINE_MAX_BYTES} bytes\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NotText {
        /// The path as it was given.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// A document of a stream that is no lines is invalid.
    #[error("{file}: {cause}")]
    Document {
        /// The path as it was given.
        file: String,
        /// The cause, with the document's number.
        cause: RecordError,
    },
    /// The stream is text in another encoding.
    #[error("`{file}` is text in UTF-16\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Utf16 {
        /// The path as it was given.
        file: String,
    },
    /// The stream contains no event.
    #[error("`{file}` holds no health event\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Empty {
        /// The path as it was given.
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
            Self::Utf16 { file } => {
                format!("`iconv -f UTF-16 -t UTF-8 {file}` writes it in UTF-8").into()
            }
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
    let rulesets = Rulesets::shipped();
    let agents: Vec<String> = rulesets
        .agents()
        .map(|agent| format!("`{agent}`"))
        .collect();
    report(&format!(
        "rule sets of {} decide on cordons; those of other agents (GPUs, cloud maintenance, Kubernetes objects, preflight) \
         are left out",
        agents.join(" and ")
    ));
    for rule in analyzer.unevaluable() {
        let text = rule.to_string();
        report(text.lines().next().unwrap_or(&text));
    }
    let quarantine = Quarantine::new(rulesets);
    let mut replay = Replay {
        cluster: Cluster::new(Clearing::ALL, quarantine, analyzer),
        sum: Sum::default(),
    };
    stream::read(events, |call| replay.call(call, &mut report))?;
    let file = events.display().to_string();
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
    /// Agents whose rule sets are left out.
    left_out: BTreeSet<String>,
    fired: usize,
    span: Option<(Stamp, Stamp)>,
}

impl Replay {
    fn call(&mut self, call: &HealthEvents, report: &mut impl FnMut(&str)) {
        let strangers = self.sum.take(call);
        let clock = self.sum.span.map_or(Stamp::default(), |(_, latest)| latest);
        let due = self.cluster.run_until(clock);
        self.print(&due, report);
        for agent in strangers {
            report(&format!(
                "{clock}  left out   rule sets of `{agent}`: its faults cordon no node here, and hold one that is cordoned"
            ));
        }
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
        let quarantine = self.cluster.quarantine();
        for (node, annotation) in quarantine.cordoned() {
            let faults = annotation.faults();
            let others: Vec<String> = quarantine.left_out(node).into_iter().collect();
            let others = match others.join("`, `") {
                others if others.is_empty() => others,
                others => format!("; held by `{others}` too, whose rule sets are left out"),
            };
            report(&format!(
                "  {node} is cordoned, faults outstanding: {faults}{others}"
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
            ..
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
    /// Counts a call; returns the agents in it that are new and whose rule sets are left out.
    fn take(&mut self, call: &HealthEvents) -> Vec<String> {
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
        let agents = call.events.iter().map(|event| &event.agent);
        let strange = agents.filter(|agent| Rulesets::shipped().leave_out(agent));
        let new = strange.filter(|agent| self.left_out.insert((*agent).clone()));
        new.cloned().collect()
    }
}

fn stamp(event: &HealthEvent) -> Stamp {
    Stamp::of(event.generated_timestamp.as_ref())
}
