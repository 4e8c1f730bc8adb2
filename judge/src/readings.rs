//! What a poll can read of a port: the true state, under the rules on files that are in effect. Start at [`Readings`].

use std::{cell::OnceCell, collections::BTreeMap};

use platforms::{
    CLASS_INFINIBAND, LinkLayer, NodeName, PciAddress, PhysState, PortNumber, PortState,
};
use scenarios::{FileRef, RuleEffect};

use director::{FunctionView, Log, NodeView, RuledReads};
use observe::{
    Recording,
    promises::{Garbled, Named, Row},
};

use crate::{demands::polled, episodes::named, fits::JudgeContext};

/// The files of a port that its state is read from.
const OF_STATE: [&str; 3] = ["state", "phys_state", "link_layer"];

/// The true state of all ports, and when which rule is in effect.
#[derive(Debug)]
pub(crate) struct Readings<'a> {
    context: JudgeContext<'a>,
    rules: Vec<RuleSpan<'a>>,
    /// The changes of link layers on each node, once somebody has asked for them.
    layer_changes: OnceCell<BTreeMap<NodeName, Vec<LayerChange>>>,
}

/// A port that showed another link layer for the first time, and the tick in which it did.
pub(crate) type LayerChange = (PciAddress, PortNumber, u64);

/// A rule, and the ticks in which it is in effect; the last one is excluded.
#[derive(Debug)]
struct RuleSpan<'a> {
    ruled: &'a RuledReads,
    from: u64,
    to: u64,
}

/// What a poll reads of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The kind of its state, if it is not healthy.
    pub(crate) state: Option<Named>,
    /// Why it cannot be read.
    pub(crate) blind: Option<Named>,
    /// Whether the documents call its state fatal at once.
    pub(crate) is_fatal: bool,
}

impl Reading {
    /// The kind of what is read; what cannot be read is of no other kind.
    pub(crate) fn kind(self) -> Option<Named> {
        self.blind.or(self.state)
    }
}

impl<'a> Readings<'a> {
    /// The readings of a drill.
    pub(crate) fn of(context: JudgeContext<'a>, healing_from: Option<u64>) -> Self {
        Self {
            context,
            rules: spans(&context.truth.log, healing_from.unwrap_or(u64::MAX)),
            layer_changes: OnceCell::new(),
        }
    }

    /// The ports of a node that showed another link layer for the first time, in order of time.
    pub(crate) fn layer_changes(&self, node: &NodeName) -> &[LayerChange] {
        let of_all = || {
            let nodes = self.context.story.nodes.iter();
            let changes = nodes.map(|(node, _)| (node.clone(), self.changes_on(node)));
            changes.collect()
        };
        let changes = self.layer_changes.get_or_init(of_all).get(node);
        changes.map_or(&[], Vec::as_slice)
    }

    fn changes_on(&self, node: &NodeName) -> Vec<LayerChange> {
        let mut layers = BTreeMap::new();
        let mut changes: Vec<LayerChange> = Vec::new();
        let mut last: Option<&NodeView> = None;
        for tick in 0..self.ticks() {
            for views in self.views(node, tick).into_iter().flatten() {
                // Views are shared between ticks.
                if last
                    .replace(views)
                    .is_some_and(|last| std::ptr::eq(last, views))
                {
                    continue;
                }
                for (pci, view) in &views.0 {
                    for (port, of) in &view.ports {
                        let before = *layers.entry((*pci, *port)).or_insert(of.layer);
                        let is_told = || changes.iter().any(|it| (it.0, it.1) == (*pci, *port));
                        if before != of.layer && !is_told() {
                            changes.push((*pci, *port, tick));
                        }
                    }
                }
            }
        }
        changes
    }

    /// The views of a node at a tick's start and at its end.
    pub(crate) fn views(&self, node: &NodeName, tick: u64) -> Option<[&'a NodeView; 2]> {
        let tick = usize::try_from(tick).ok()?;
        let truth = self.context.truth.ticks.get(tick)?.nodes.get(node)?;
        Some([&*truth.views, &*truth.after])
    }

    /// The number of ticks of the drill.
    pub(crate) fn ticks(&self) -> u64 {
        self.context.truth.ticks.len() as u64
    }

    /// What a poll reads of a port in these views of a tick.
    pub(crate) fn port(
        &self,
        node: &NodeName,
        (pci, port): (PciAddress, PortNumber),
        views: &NodeView,
        tick: u64,
    ) -> Reading {
        let Some(function) = views.0.get(&pci) else {
            return Reading::default();
        };
        let mut reading = of_state(function, port, None);
        if matches!(reading.state, Some(Named::GoneDevice | Named::GonePort)) {
            return reading;
        }
        for RuledReads { rule, .. } in self.in_effect(node, tick) {
            let Some(below) = below_port(&rule.file, function, pci, port) else {
                continue;
            };
            match read_as(&rule.effect, below, self.is_garbled_a_state()) {
                Read::Nothing(kind) => reading.blind = Some(kind),
                Read::Odd => {
                    reading.state = Some(Named::OddState);
                    reading.is_fatal = false;
                }
                Read::As(instead) => {
                    reading = Reading {
                        blind: reading.blind,
                        ..of_state(function, port, Some(instead))
                    };
                }
            }
        }
        reading
    }

    /// Whether the monitor takes a text that is no state for one.
    fn is_garbled_a_state(&self) -> bool {
        let row = self
            .context
            .descriptor
            .promises
            .row(&Named::OddState.into(), None);
        matches!(row, Some(Row::Says(says)) if says.garbled == Some(Garbled::State))
    }

    /// Whether a file of a function, or of its ports, is under a rule in a tick.
    pub(crate) fn is_ruled(&self, node: &NodeName, pci: PciAddress, tick: u64) -> Option<Named> {
        let views = self.views(node, tick)?;
        let function = views[0].0.get(&pci).or(views[1].0.get(&pci))?;
        let ports = || function.ports.keys().copied().chain([PortNumber(1)]);
        let rules = self.in_effect(node, tick).map(|ruled| &ruled.rule);
        let mut rules = rules.filter(|rule| {
            ports().any(|port| {
                below_port(&rule.file, function, pci, port).is_some()
                    || matches!(&rule.file, FileRef::Port(slot, _) if slot.pci == pci)
            })
        });
        rules.next().map(|rule| match rule.effect {
            RuleEffect::Hang { .. } => Named::Hang,
            _ => Named::Unreadable,
        })
    }

    /// Whether a file that is meant is under a rule in a tick.
    pub(crate) fn is_file_ruled(
        &self,
        node: &NodeName,
        tick: u64,
        meant: impl Fn(&FileRef) -> bool,
    ) -> bool {
        self.in_effect(node, tick)
            .any(|ruled| meant(&ruled.rule.file))
    }

    /// The first poll of a node's monitor: one in which the class folder cannot be listed has failed, and is none
    /// (docs/decisions.md, 6). The largest tick if there is none.
    pub(crate) fn first_poll(&self, recording: &Recording, node: &NodeName) -> u64 {
        let is_class =
            |file: &FileRef| matches!(file, FileRef::Path(path) if path == CLASS_INFINIBAND);
        let mut polls = polled(recording, node);
        let first = polls.find(|tick| !self.is_file_ruled(node, *tick, is_class));
        first.unwrap_or(u64::MAX)
    }

    /// Whether any file of a node is under a rule in a tick.
    pub(crate) fn is_any_ruled(&self, node: &NodeName, tick: u64) -> bool {
        self.in_effect(node, tick).next().is_some()
    }

    /// The episode of a rule that is in effect on a node in a tick, if one belongs to an episode.
    pub(crate) fn ruled_episode(&self, node: &NodeName, tick: u64) -> Option<Named> {
        let mut rules = self.in_effect(node, tick);
        rules.find_map(|ruled| ruled.episode).map(named)
    }

    fn in_effect(&self, node: &NodeName, tick: u64) -> impl Iterator<Item = &'a RuledReads> {
        let rules = self.rules.iter();
        rules
            .filter(move |span| {
                (span.from..span.to).contains(&tick) && span.ruled.rule.node == *node
            })
            .map(|span| span.ruled)
    }
}

/// The kind of a pair of states; `None` if it is healthy.
pub(crate) fn of_states(state: PortState, phys_state: PhysState) -> Option<Named> {
    Some(match (state, phys_state) {
        (PortState::ACTIVE, PhysState::LINK_UP) => return None,
        (_, PhysState::DISABLED) => Named::Disabled,
        (_, PhysState::RECOVERY) => Named::LinkErrorRecovery,
        (PortState::DOWN, PhysState::POLLING) => Named::Polling,
        (PortState::DOWN, PhysState::TRAINING) => Named::Training,
        (PortState::DOWN, _) => Named::Down,
        (PortState::INIT, _) => Named::Init,
        (PortState::ARMED, _) => Named::Armed,
        _ => Named::OddState,
    })
}

fn of_state(
    function: &FunctionView,
    port: PortNumber,
    instead: Option<(Option<PortState>, Option<PhysState>)>,
) -> Reading {
    let gone = |kind| Reading {
        state: Some(kind),
        blind: None,
        is_fatal: true,
    };
    if !function.listed {
        return gone(Named::GoneDevice);
    }
    let Some(view) = function.ports.get(&port).filter(|view| view.listed) else {
        return gone(Named::GonePort);
    };
    let (state, phys_state) = instead.unwrap_or_default();
    let (state, phys_state) = (
        state.unwrap_or(view.state),
        phys_state.unwrap_or(view.phys_state),
    );
    let is_disabled = phys_state == PhysState::DISABLED && view.layer == LinkLayer::InfiniBand;
    Reading {
        state: of_states(state, phys_state),
        blind: None,
        is_fatal: state == PortState::DOWN || is_disabled,
    }
}

/// What a rule makes of a read.
enum Read {
    /// There is no value.
    Nothing(Named),
    /// A text that is no state, and is taken for one.
    Odd,
    /// Another one.
    As((Option<PortState>, Option<PhysState>)),
}

fn read_as(effect: &RuleEffect, below: &str, garbled_is_state: bool) -> Read {
    match effect {
        RuleEffect::Hang { .. } => Read::Nothing(Named::Hang),
        RuleEffect::Content(text) => {
            let text = String::from_utf8_lossy(text);
            let word = text.trim().split_once(": ").map_or("", |(_, word)| word);
            let number = text.split(':').next().and_then(|n| n.trim().parse().ok());
            let state = PortState::by_word(word).filter(|state| number == Some(state.0));
            let phys_state = PhysState::by_word(word).filter(|state| number == Some(state.0));
            match below {
                "state" if state.is_some() => Read::As((state, None)),
                "phys_state" if phys_state.is_some() => Read::As((None, phys_state)),
                "state" | "phys_state" if garbled_is_state => Read::Odd,
                _ => Read::Nothing(Named::Unreadable),
            }
        }
        _ => Read::Nothing(Named::Unreadable),
    }
}

/// Which of a port's state files a rule is on: its path below the port's folder, or empty for a folder above it.
fn below_port<'f>(
    file: &'f FileRef,
    function: &FunctionView,
    pci: PciAddress,
    port: PortNumber,
) -> Option<&'f str> {
    match file {
        FileRef::Port(slot, below) => {
            let is_read = below.is_empty() || OF_STATE.contains(&below.as_str());
            (slot.pci == pci && slot.port == port && is_read).then_some(below)
        }
        FileRef::Device(_, of, below) => {
            let of_role = below.ends_with("numa_node") || below.ends_with("hca_type");
            (*of == pci && !of_role).then_some("")
        }
        FileRef::Path(path) => {
            let pattern = simfs::Pattern::new(path);
            let device = format!("{CLASS_INFINIBAND}/{}", function.name);
            let mut above = [CLASS_INFINIBAND, &device].into_iter();
            if above.any(|folder| pattern.matches(folder)) {
                return Some("");
            }
            let of_port = |below: &&str| pattern.matches(&format!("{device}/ports/{port}/{below}"));
            OF_STATE.into_iter().find(of_port)
        }
        FileRef::StateFile => None,
    }
}

/// When which rule is in effect. The nth read is taken for that of the nth poll.
fn spans(log: &Log, healing_from: u64) -> Vec<RuleSpan<'_>> {
    let span = |ruled: &RuledReads| {
        let hangs = matches!(ruled.rule.effect, RuleEffect::Hang { .. });
        let reads = ruled.reads.as_ref().filter(|_| !hangs);
        let reads = reads.map(|reads| ruled.from.saturating_add(*reads.end()));
        let to = ruled.to.into_iter().chain(reads);
        (ruled.from, to.fold(healing_from, u64::min))
    };
    let spans = log.reads.iter().map(|ruled| {
        let (from, to) = span(ruled);
        RuleSpan { ruled, from, to }
    });
    spans.collect()
}
