//! A drill as lanes over time, of its story, the true state, the recording and the findings. Start at [`lanes`].

use std::collections::BTreeMap;

use platforms::{NodeName, PciAddress, PortNumber};
use reports::{Finding, Judged, Lane, Lanes, Mark, MarkKind, Stretch, one_line};
use scenarios::Story;
use terms::{Arm, Severity};

use director::{NodeView, Target, Truth};
use observe::{Descriptor, MonitorTick, Observation, Recording, Subject, told_read};

use crate::{
    Consequences,
    facts::{self},
    normal,
    trace::ended,
};

mod expected;
mod subject;

use subject::{Names, Of};

/// How many reads that differ from the poll before are told at one mark. Chosen.
const READS_TOLD_MAX: usize = 12;

/// What a drill was judged to be, in one arm.
#[derive(Clone, Copy, Debug)]
pub struct JudgedIn<'a> {
    /// The arm.
    pub arm: Arm,
    /// The findings of the drill; those of other arms are passed over.
    pub findings: &'a [Finding],
    /// What was judged.
    pub judged: &'a Judged,
}

/// The lanes of a drill in one arm.
#[must_use]
pub fn lanes(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
    of: JudgedIn<'_>,
) -> Lanes {
    let named = normal::normal(recording, descriptor, story);
    let mut drawing = Drawing {
        story,
        truth,
        recording: &named,
        lanes: BTreeMap::new(),
    };
    drawing.states();
    drawing.steps();
    drawing.monitors();
    drawing.consequences();
    drawing.expectations(of);
    drawing.findings(of);
    drawing.lanes(of.arm)
}

/// What a lane holds.
#[derive(Default)]
struct Drawn {
    stretches: Vec<Stretch>,
    marks: Vec<Mark>,
}

struct Drawing<'a> {
    story: &'a Story,
    truth: &'a Truth,
    recording: &'a Recording,
    lanes: BTreeMap<Of, Drawn>,
}

impl Drawing<'_> {
    fn mark(&mut self, of: Of, tick: u64, kind: MarkKind, text: impl Into<String>) {
        let marks = &mut self.lanes.entry(of).or_default().marks;
        marks.push(Mark {
            tick,
            since: None,
            kind,
            text: text.into(),
        });
    }

    /// A state of a subject in a tick. A change is marked.
    fn state(&mut self, of: Of, tick: u64, is_well: bool, text: &str) {
        let drawn = self.lanes.entry(of).or_default();
        match drawn.stretches.last_mut() {
            Some(last) if last.text == text && last.is_well == is_well => last.to = tick,
            last => {
                let change = last.map(|before| format!("{} → {text}", before.text));
                drawn.marks.extend(change.map(|text| Mark {
                    tick,
                    since: None,
                    kind: MarkKind::Change,
                    text,
                }));
                drawn.stretches.push(Stretch {
                    from: tick,
                    to: tick,
                    is_well,
                    text: text.to_owned(),
                });
            }
        }
    }

    fn last(&self) -> u64 {
        (self.recording.ticks.len() as u64).saturating_sub(1)
    }

    /// The true states of ports, devices, links and workloads.
    fn states(&mut self) {
        let truth = self.truth;
        let mut links = BTreeMap::new();
        for (tick, all) in (0..).zip(&truth.ticks) {
            for (node, state) in all.nodes.iter() {
                for (pci, function) in state.views.0.iter().filter(|(_, view)| view.monitored) {
                    let text = match function.listed {
                        true => function.name.0.as_str(),
                        false => "gone",
                    };
                    let device = Of::Device(node.clone(), *pci);
                    self.state(device, tick, function.listed, text);
                    for (number, port) in &function.ports {
                        let text = match function.listed && port.listed {
                            true => format!("{}, {}", port.state, port.phys_state),
                            false => "gone".to_owned(),
                        };
                        let is_well = function.listed && port.healthy();
                        self.state(Of::Port(node.clone(), *pci, *number), tick, is_well, &text);
                    }
                }
            }
            for (slot, link) in &all.links {
                let text = format!(
                    "link: here {}; there {}",
                    facts::shown_end(&link.here),
                    facts::shown_end(&link.there)
                );
                let before = links.insert(slot, text.clone());
                if before.is_some_and(|before| before != text) {
                    self.mark(Of::slot(slot), tick, MarkKind::Change, text);
                }
            }
            for (name, stats) in &all.workloads {
                let cause = stats
                    .cause
                    .map_or_else(String::new, |it| format!(" ({it})"));
                let text = format!("{}{cause}", stats.outcome);
                let is_well = stats.outcome == workloads::WorkloadOutcome::Survived;
                self.state(Of::Workload(name.clone()), tick, is_well, &text);
            }
        }
        for (tick, text) in [
            (self.recording.healing_from, "the world is healed"),
            (
                self.recording.settled_at,
                "every port that should be is ACTIVE",
            ),
        ] {
            if let Some(tick) = tick {
                self.mark(Of::World, tick, MarkKind::Change, text);
            }
        }
    }

    fn steps(&mut self) {
        let story = self.story;
        for (steps, is_given) in [(&story.given, true), (&story.steps, false)] {
            for step in steps {
                let tick = match is_given {
                    true => 0,
                    false => story.ticks.first_from(step.at).min(self.last()),
                };
                let when = match is_given {
                    true => "before the monitor starts".to_owned(),
                    false => step.at.to_string(),
                };
                let targets = step.actions.iter().map(Target::of);
                let mut subjects: Vec<Of> = targets.flat_map(|of| acted_on(&of)).collect();
                subjects.sort();
                subjects.dedup();
                for of in subjects {
                    let text = format!("{when}: {}", step.text);
                    self.mark(of, tick, MarkKind::Step, text);
                }
            }
        }
    }

    /// What the monitors read, said and how they ended, and what their connectors answered.
    fn monitors(&mut self) {
        let recording = self.recording;
        let monitors = self.story.monitors_by_name();
        let mut reads: BTreeMap<&str, &MonitorTick> = BTreeMap::new();
        for (tick, all) in (0..).zip(&recording.ticks) {
            for (name, monitor) in all.monitors.iter() {
                let Some(node) = monitors.get(&**name).copied() else {
                    continue;
                };
                let node = node.clone();
                let of = Of::Monitor(node.clone());
                let polls = if monitor.polls > 0 {
                    "polls"
                } else {
                    "no poll"
                };
                self.state(of.clone(), tick, monitor.polls > 0, polls);
                for call in &monitor.calls {
                    for said in &call.observations {
                        let kind = match (call.accepted, said.severity) {
                            (false, _) => MarkKind::Refused,
                            (true, Severity::Fatal) => MarkKind::Fatal,
                            (true, Severity::NonFatal) => MarkKind::NonFatal,
                            (true, Severity::Healthy) => MarkKind::Healthy,
                            (true, Severity::Unknown) => MarkKind::Unknown,
                        };
                        let text = one_line(&said.to_string().replace("{root}", ""));
                        let text = match call.accepted {
                            true => text,
                            false => format!("{text} ({})", call.answer),
                        };
                        self.mark(self.said_of(&node, tick, said), tick, kind, text);
                    }
                    let kind = match call.accepted {
                        true => MarkKind::Accepted,
                        false => MarkKind::Refused,
                    };
                    let events = reports::counted(call.observations.len() as u64, "event");
                    let text = format!("a call of {events}: {}", call.answer);
                    if recording.protocol.has_connector() {
                        self.mark(Of::Connector(node.clone()), tick, kind, text);
                    }
                }
                for exit in &monitor.exits {
                    self.mark(of.clone(), tick, MarkKind::Exit, ended(*exit));
                }
                if !monitor.reads.is_empty() {
                    let before = reads.insert(name, monitor);
                    self.mark(of, tick, MarkKind::Read, read(before, monitor));
                }
            }
        }
    }

    /// The lane of what a monitor said about a subject, by the names that its node has in the tick.
    fn said_of(&self, node: &NodeName, tick: u64, said: &Observation) -> Of {
        let monitor = || Of::Monitor(node.clone());
        let device = |name: &str| self.device_of(node, tick, name);
        match &said.subject {
            Subject::Node | Subject::Other(_) => monitor(),
            Subject::Card(card) => Of::Card(node.clone(), card.clone()),
            Subject::Device(name) => match device(name) {
                Some(pci) => Of::Device(node.clone(), pci),
                None => monitor(),
            },
            Subject::Port { device: name, port } => match (device(name), port.parse()) {
                (Some(pci), Ok(port)) => Of::Port(node.clone(), pci, PortNumber(port)),
                _ => monitor(),
            },
        }
    }

    fn views(&self, node: &NodeName, tick: u64) -> Option<&NodeView> {
        let tick = usize::try_from(tick).ok()?;
        Some(&self.truth.ticks.get(tick)?.nodes.get(node)?.views)
    }

    /// The address of the device that has this name, or had it last.
    fn device_of(&self, node: &NodeName, tick: u64, name: &str) -> Option<PciAddress> {
        let views = self.views(node, tick)?;
        let mut named = views.0.iter().filter(|(_, view)| view.name.0 == name);
        let listed = named.clone().find(|(_, view)| view.listed);
        listed.or_else(|| named.next()).map(|(pci, _)| *pci)
    }

    fn consequences(&mut self) {
        let made = Consequences::of(self.story, self.recording);
        for (tick, all) in (0..).zip(&made.ticks) {
            for what in all.told() {
                let text = what.to_string();
                let words: Vec<&str> = text.split_whitespace().collect();
                self.mark(Of::Cluster, tick, MarkKind::Consequence, words.join(" "));
            }
        }
    }

    /// The lanes that show something.
    fn lanes(self, arm: Arm) -> Lanes {
        let names = Names {
            is_several: self.story.nodes.len() > 1,
            truth: self.truth,
        };
        let is_told = |(of, drawn): &(Of, Drawn)| match of {
            Of::Port(..) | Of::Device(..) | Of::Card(..) => has_news(drawn),
            Of::Workload(_) => true,
            _ => !drawn.marks.is_empty(),
        };
        let all: Vec<(Of, Drawn)> = self.lanes.into_iter().collect();
        let quiet = all
            .iter()
            .filter(|lane| matches!(lane.0, Of::Port(..)) && !is_told(lane));
        let quiet_ports = quiet.count();
        let lanes = all.into_iter().filter(is_told).map(|(of, mut drawn)| {
            drawn.marks.sort_by_key(|mark| (mark.tick, mark.kind));
            Lane {
                name: names.of(&of),
                of: of.word(),
                stretches: drawn.stretches,
                marks: drawn.marks,
            }
        });
        let ticks = self.recording.ticks.iter();
        Lanes {
            arm: Some(arm),
            times_ms: ticks.map(|tick| tick.at_ns / 1_000_000).collect(),
            lanes: lanes.collect(),
            quiet_ports,
        }
    }
}

/// Whether more happened to a subject than that it was called healthy, as every healthy one is in a first poll.
fn has_news(drawn: &Drawn) -> bool {
    let mut marks = drawn.marks.iter();
    marks.any(|mark| mark.kind != MarkKind::Healthy || mark.tick > 0)
}

impl<'a> JudgedIn<'a> {
    /// The findings of this arm, and of both.
    fn of_arm(self) -> impl Iterator<Item = &'a Finding> {
        let findings = self.findings.iter();
        findings.filter(move |finding| finding.arm.is_none_or(|arm| arm == self.arm))
    }

    /// Whether the drill was not played to its end, so that nothing was judged but that.
    fn is_broken(self) -> bool {
        self.judged.judged == 0 && !self.judged.not_judged.is_empty()
    }
}

/// The lanes of what a step acts on.
fn acted_on(target: &Target) -> Vec<Of> {
    match target {
        Target::Port(slot) | Target::Counter(slot) | Target::CharDevice(slot) => {
            vec![Of::slot(slot)]
        }
        Target::Ports(slots) | Target::Switch(slots) => slots.iter().map(Of::slot).collect(),
        Target::Device(function) => vec![Of::Device(function.node.clone(), function.pci)],
        Target::Node(_) | Target::Fabric | Target::Files(None) => vec![Of::World],
        Target::Files(Some(node)) | Target::Monitor(node) | Target::StateFile(node) => {
            vec![Of::Monitor(node.clone())]
        }
        Target::Connector(node) => vec![Of::Connector(node.clone())],
        Target::Workload(name) => vec![Of::Workload(name.clone())],
    }
}

/// The number of reads of a poll, and those that differ from the poll before.
fn read(before: Option<&MonitorTick>, now: &MonitorTick) -> String {
    let head = reports::counted(now.reads.len() as u64, "read");
    let Some(before) = before else {
        return head;
    };
    let new: Vec<_> = now
        .reads
        .iter()
        .filter(|it| !before.reads.contains(it))
        .collect();
    if new.is_empty() {
        return format!("{head}, as before");
    }
    let mut text = format!("{head}, {} unlike the poll before", new.len());
    for read in new.iter().take(READS_TOLD_MAX) {
        text += &format!("\n{}", told_read(read));
    }
    if new.len() > READS_TOLD_MAX {
        text += &format!("\n… and {} more", new.len() - READS_TOLD_MAX);
    }
    text
}
