//! What a monitor cannot know any more of what it said: with its state file it loses everything, with a change of what
//! decides about its scope the functions that this is about. Their healthy events are owed once more (docs/decisions.md,
//! 3 and 10). How it decides about its scope is left out: what changes there is enough. Start at [`forgotten`].

use std::collections::{BTreeMap, BTreeSet};

use director::{Act, Episode, FunctionView, NodeView, Occurrence, Target};
use observe::Recording;
use platforms::{Machine, Metadata, MetadataFile, NodeName, PciAddress, Platform, Routes};
use regex::Regex;
use scenarios::{FileRef, MonitorAction};

use crate::{
    demands::polled,
    fits::JudgeContext,
    readings::Readings,
    scope::{self, EXCLUSIONS, PINS},
};

/// The flag that chooses checks.
const CHECKS: &str = "--checks";

/// What the monitor of a node cannot know any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forgotten {
    pub(crate) node: NodeName,
    /// The first poll of a monitor that does not know it.
    pub(crate) from: u64,
    /// The subjects, as events name them; `None` for all of the node.
    pub(crate) subjects: Option<BTreeSet<String>>,
}

/// What is forgotten in a drill, in order of time.
pub(crate) fn forgotten(context: &JudgeContext<'_>, recording: &Recording) -> Vec<Forgotten> {
    let nodes = context.story.nodes.iter();
    let monitored = nodes.filter(|(node, _)| context.story.monitors.contains(node));
    if !context.truth.log.acts.iter().any(may_forget) {
        return Vec::new();
    }
    let mut all: Vec<Forgotten> = monitored
        .flat_map(|(node, platform)| of_node(context, recording, node, platform))
        .collect();
    all.sort_by_key(|it| it.from);
    all
}

/// Whether a monitor may know less after an act.
fn may_forget(act: &Act) -> bool {
    let changes = |what: &Occurrence| match what {
        Occurrence::Collected(_) | Occurrence::Routed(_) => true,
        Occurrence::Episode { kind, .. } => matches!(
            kind,
            Episode::Reboot | Episode::Rename | Episode::DriverLoad { .. }
        ),
        _ => false,
    };
    matches!(act.on, Target::StateFile(_) | Target::Monitor(_)) || act.what.iter().any(changes)
}

fn of_node(
    context: &JudgeContext<'_>,
    recording: &Recording,
    node: &NodeName,
    platform: &Platform,
) -> Vec<Forgotten> {
    let story = context.story;
    let readings = Readings::of(*context, recording.healing_from);
    let acts = context.truth.log.acts.iter();
    let mut acts = acts.filter(|act| act.on.node() == Some(node)).peekable();
    let mut sources = Sources {
        config: &story.config,
        checks: chosen(&story.flags),
        metadata: Collected::AtRest,
        routes: None,
    };
    let mut read = sources.clone();
    let machine = platform.machine(node);
    let metadata = platform.collect(&machine);
    let rest = Rest { machine, metadata };
    let (mut is_running, mut is_lost, mut is_healed) = (true, false, false);
    let mut before: Option<BTreeMap<PciAddress, String>> = None;
    let mut seen: Option<&NodeView> = None;
    let mut all = Vec::new();
    for tick in polled(recording, node) {
        let mut starts = before.is_none();
        while let Some(act) = acts.next_if(|act| act.tick <= tick) {
            is_lost |= matches!(act.on, Target::StateFile(_));
            for what in &act.what {
                starts |= sources.change(what, &mut is_running);
            }
        }
        if recording.healing_from.is_some_and(|from| from <= tick) && !is_healed {
            is_healed = true;
            sources.metadata = Collected::Now;
            if !is_running {
                (sources.config, sources.checks) = (&story.config, chosen(&story.flags));
                starts = true;
            }
        }
        let of_state = |file: &FileRef| matches!(file, FileRef::StateFile);
        if starts {
            read = sources.clone();
            let is_lost = std::mem::take(&mut is_lost);
            if before.is_some() && (is_lost || readings.is_file_ruled(node, tick, of_state)) {
                all.push(Forgotten {
                    node: node.clone(),
                    from: tick,
                    subjects: None,
                });
            }
        }
        let Some([views, _]) = readings.views(node, tick) else {
            continue;
        };
        // Ticks in which nothing changed share one view, and what decides is read at starts only.
        let is_as_before = seen
            .replace(views)
            .is_some_and(|seen| std::ptr::eq(seen, views));
        if is_as_before && !starts {
            continue;
        }
        let deciding = read.deciding(&rest);
        let now = views.0.iter();
        let now: BTreeMap<PciAddress, String> = now
            .map(|(pci, view)| (*pci, deciding.about(*pci, view)))
            .collect();
        let then = before.replace(now.clone()).unwrap_or_default();
        let changed = views.0.iter().filter(|(pci, _)| {
            let then = then.get(pci);
            then.is_some_and(|then| now.get(pci) != Some(then))
        });
        let subjects: BTreeSet<String> = changed
            .flat_map(|(pci, view)| subjects(*pci, view))
            .collect();
        if !subjects.is_empty() {
            all.push(Forgotten {
                node: node.clone(),
                from: tick,
                subjects: Some(subjects),
            });
        }
    }
    all
}

/// A function, its ports and its card, as events name them.
fn subjects(pci: PciAddress, view: &FunctionView) -> Vec<String> {
    let ports = view.ports.keys();
    let ports = ports.map(|port| format!("NIC={} NICPort={port}", view.name));
    let others = [format!("NIC={}", view.name), format!("NIC={}", pci.card())];
    ports.chain(others).collect()
}

/// What a monitor reads at its start that decides about its scope.
#[derive(Clone)]
struct Sources<'s> {
    config: &'s str,
    /// The last flag that chooses checks.
    checks: Option<&'s str>,
    metadata: Collected<'s>,
    /// Those at rest, if none.
    routes: Option<&'s Routes>,
}

/// What the metadata collector wrote.
#[derive(Clone)]
enum Collected<'s> {
    /// The platform at rest.
    AtRest,
    /// The node with its present names.
    Now,
    File(&'s MetadataFile),
}

impl<'s> Sources<'s> {
    /// Changes what happened to them on their node; whether it starts a monitor.
    fn change(&mut self, what: &'s Occurrence, is_running: &mut bool) -> bool {
        match what {
            Occurrence::Collected(file) => self.metadata = Collected::File(file),
            Occurrence::Routed(routes) => self.routes = Some(routes),
            Occurrence::Episode {
                kind: Episode::Reboot,
                ..
            } => {
                self.reboot();
                return true;
            }
            Occurrence::Monitor(action) => match action {
                MonitorAction::Restart { flags, config, .. } => {
                    self.config = config.as_deref().unwrap_or(self.config);
                    self.checks = chosen(flags).or(self.checks);
                    *is_running = true;
                    return true;
                }
                MonitorAction::Start { flags } => {
                    self.checks = chosen(flags).or(self.checks);
                    *is_running = true;
                    return true;
                }
                MonitorAction::Stop { .. } => *is_running = false,
                MonitorAction::Pause { .. } => {}
            },
            _ => {}
        }
        false
    }

    /// The collector runs again.
    fn reboot(&mut self) {
        if !matches!(
            self.metadata,
            Collected::File(MetadataFile::Text(_) | MetadataFile::Missing)
        ) {
            self.metadata = Collected::Now;
        }
    }

    /// What they decide by.
    fn deciding(&self, rest: &'s Rest) -> Deciding<'s> {
        Deciding {
            sources: self.clone(),
            excluded: scope::names(self.config, EXCLUSIONS),
            pinned: scope::names(self.config, PINS),
            rest,
        }
    }
}

/// A node at rest, and what the collector finds of it.
struct Rest {
    machine: Machine,
    metadata: Metadata,
}

/// What decides about the scope of a node.
struct Deciding<'s> {
    sources: Sources<'s>,
    excluded: Option<Vec<Regex>>,
    pinned: Option<Vec<Regex>>,
    rest: &'s Rest,
}

impl Deciding<'_> {
    /// What decides about a function, as text.
    fn about(&self, pci: PciAddress, view: &FunctionView) -> String {
        let is_meant = |names: &Option<Vec<Regex>>| {
            let names = names.as_ref();
            names.map(|names| names.iter().any(|of| of.is_match(view.name.as_str())))
        };
        let Rest { machine, metadata } = self.rest;
        let row = match self.sources.metadata {
            Collected::AtRest => format!("{:?}", metadata.nic_topology.get(&view.name)),
            Collected::Now => {
                let at_rest = machine.functions.get(&pci);
                let rdma = at_rest.and_then(|function| function.rdma.as_ref());
                let row = rdma.and_then(|rdma| metadata.nic_topology.get(&rdma.name));
                format!("{row:?}")
            }
            Collected::File(MetadataFile::Written(written)) => {
                let gpus = Some(&written.gpus).filter(|gpus| **gpus != metadata.gpus);
                let gpus = gpus.map_or_else(String::new, |gpus| format!("{gpus:?}"));
                format!("{:?}{gpus}", written.nic_topology.get(&view.name))
            }
            Collected::File(file) => format!("{file:?}"),
        };
        let route = match self.sources.routes.unwrap_or(&machine.routes) {
            Routes::Rows(rows) => {
                let mut rows = rows.iter().filter(|row| row.prefix == 0);
                format!(
                    "{}",
                    rows.any(|row| Some(&row.interface) == view.netdev.as_ref())
                )
            }
            Routes::Missing => "false".to_owned(),
            Routes::Text(text) => text.clone(),
        };
        let checks = self.sources.checks;
        let (excluded, pinned) = (is_meant(&self.excluded), is_meant(&self.pinned));
        let excluded = excluded.unwrap_or_default();
        format!("{excluded} {pinned:?} {row} {route} {checks:?}")
    }
}

/// The last flag that chooses checks.
fn chosen(flags: &[String]) -> Option<&str> {
    let mut flags = flags.iter().rev();
    flags
        .find(|flag| flag.starts_with(CHECKS))
        .map(String::as_str)
}
