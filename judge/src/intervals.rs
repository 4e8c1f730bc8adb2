//! The truth of a drill as intervals: which kind of fault stood of which subject, from when to when. Start at
//! [`intervals`].

use std::collections::BTreeMap;

use fabric::{Action, PortAction};
use observe::{
    Recording,
    promises::{Kind, Named},
};
use platforms::{LinkLayer, NodeName, PciAddress, PortNumber, SlotRef};
use scenarios::{StepAction, Tone};

use director::{FunctionView, NodeView};

use crate::{
    demands::polled,
    episodes,
    fits::JudgeContext,
    kinds::Whom,
    readings::{Reading, Readings},
};

/// A fault that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// The node.
    pub(crate) node: NodeName,
    /// The subject.
    pub(crate) whom: Whom,
    /// The kind.
    pub(crate) kind: Kind,
    /// The link layer of the subject, if it is one.
    pub(crate) layer: Option<LinkLayer>,
    /// The severity by the documents where their row distinguishes cases; `None` if they ask for no event.
    pub(crate) tone: Option<Tone>,
    /// The first poll that reads it.
    pub(crate) from: u64,
    /// The first poll that does not any more.
    pub(crate) to: u64,
}

/// The faults of the monitored functions, as the polls of a recording could read them, by node and time.
pub(crate) fn intervals(
    context: &JudgeContext<'_>,
    readings: &Readings<'_>,
    recording: &Recording,
) -> Vec<Interval> {
    let ticks = |node: &NodeName| polled(recording, node).collect();
    seen_at(&ticks, context, readings, recording)
}

/// The faults of the monitored functions, as somebody could read them who looks in every tick, by node and time.
pub(crate) fn true_intervals(
    context: &JudgeContext<'_>,
    readings: &Readings<'_>,
    recording: &Recording,
) -> Vec<Interval> {
    let ticks = |_: &NodeName| (0..recording.ticks.len() as u64).collect();
    seen_at(&ticks, context, readings, recording)
}

/// The faults as they can be read in these ticks of a node.
fn seen_at(
    ticks: &dyn Fn(&NodeName) -> Vec<u64>,
    context: &JudgeContext<'_>,
    readings: &Readings<'_>,
    recording: &Recording,
) -> Vec<Interval> {
    let mut all = Vec::new();
    for node in &context.story.monitors {
        let mut open: BTreeMap<Whom, Interval> = BTreeMap::new();
        let mut known = KnownPorts::new();
        for tick in ticks(node) {
            let Some([views, _]) = readings.views(node, tick) else {
                continue;
            };
            let now = standing(readings, node, (views, &mut known), tick);
            open.retain(|whom, was| {
                let goes_on = now.get(whom).is_some_and(|now| now.kind == was.kind);
                if !goes_on {
                    all.push(Interval {
                        to: tick,
                        ..was.clone()
                    });
                }
                goes_on
            });
            for (whom, interval) in now {
                open.entry(whom).or_insert(interval);
            }
        }
        all.extend(open.into_values());
        all.extend(by_steps(context, node, recording.settled_at));
    }
    all.sort_by(|one, other| (&one.node, one.from).cmp(&(&other.node, other.from)));
    all
}

/// The ports that earlier polls read of functions, with their link layers: one that is removed is in no view any more.
type KnownPorts = BTreeMap<PciAddress, BTreeMap<PortNumber, LinkLayer>>;

/// What a poll reads that is not healthy.
fn standing(
    readings: &Readings<'_>,
    node: &NodeName,
    (views, known): (&NodeView, &mut KnownPorts),
    tick: u64,
) -> BTreeMap<Whom, Interval> {
    let mut standing = BTreeMap::new();
    let mut stands = |whom: Whom, kind: Named, layer, tone| {
        let interval = Interval {
            node: node.clone(),
            whom: whom.clone(),
            kind: kind.into(),
            layer,
            tone,
            from: tick,
            to: u64::MAX,
        };
        standing.insert(whom, interval);
    };
    for (pci, function) in views.0.iter().filter(|(_, view)| view.monitored) {
        if !function.listed {
            let tone = Some(Tone::Fatal);
            stands(
                Whom::Device(*pci),
                Named::GoneDevice,
                of_all(function),
                tone,
            );
            continue;
        }
        let ports = known.entry(*pci).or_default();
        ports.extend(
            function
                .ports
                .iter()
                .map(|(port, view)| (*port, view.layer)),
        );
        for (port, layer) in ports {
            let reading = readings.port(node, (*pci, *port), views, tick);
            if let Some(kind) = reading.kind() {
                let (whom, layer) = (Whom::Port(*pci, *port), Some(*layer));
                stands(whom, kind, layer, tone_of(reading, layer));
            }
        }
    }
    for card in views.behind() {
        let (whom, layer) = (Whom::Card(card.pci.card().to_string()), Some(card.layer));
        stands(whom, Named::Card, layer, Some(Tone::Fatal));
    }
    standing
}

/// What the steps of a story alone decide: counters, character devices, speeds.
fn by_steps(context: &JudgeContext<'_>, node: &NodeName, settled_at: Option<u64>) -> Vec<Interval> {
    let story = context.story;
    let mut found: Vec<Interval> = Vec::new();
    let given = story.given.iter().map(|step| (0, step));
    let steps = story
        .steps
        .iter()
        .map(|step| (story.ticks.first_from(step.at), step));
    for (from, step) in given.chain(steps) {
        for action in &step.actions {
            let StepAction::World(Action::Port(slot, of)) = action else {
                continue;
            };
            if slot.node != *node || !is_watched(context, slot, from) {
                continue;
            }
            let whom = Whom::Port(slot.pci, slot.port);
            let ends = matches!(
                of,
                PortAction::Mend
                    | PortAction::CharDevice { there: true, .. }
                    | PortAction::Counter {
                        change: fabric::CounterChange::Reset,
                        ..
                    }
            );
            if ends {
                let of_it = found.iter_mut().filter(|it| it.whom == whom);
                of_it.for_each(|it| it.to = it.to.min(from));
                continue;
            }
            for kind in episodes::kinds_of(action) {
                let is_read = matches!(kind, Kind::Named(kind) if kind != Named::CharDevice && kind != Named::Slow);
                if !is_read {
                    found.push(Interval {
                        node: node.clone(),
                        whom: whom.clone(),
                        kind,
                        layer: layer_of(context, node, slot.pci, slot.port),
                        tone: None,
                        from,
                        to: settled_at.unwrap_or(u64::MAX),
                    });
                }
            }
        }
    }
    found
}

/// Whether a port was one of a monitored function until a tick: what a scope leaves out is not (`scope.rs`).
pub(crate) fn is_watched(context: &JudgeContext<'_>, slot: &SlotRef, until: u64) -> bool {
    context.past(&slot.node, until).any(|views| {
        let function = views.0.get(&slot.pci);
        function.is_some_and(|view| view.monitored && view.ports.contains_key(&slot.port))
    })
}

fn layer_of(
    context: &JudgeContext<'_>,
    node: &NodeName,
    pci: PciAddress,
    port: PortNumber,
) -> Option<LinkLayer> {
    let first = context.truth.ticks.first()?.nodes.get(node)?;
    Some(first.views.0.get(&pci)?.ports.get(&port)?.layer)
}

/// The layer of all ports of a function, if it is one.
fn of_all(function: &FunctionView) -> Option<LinkLayer> {
    let mut layers = function.ports.values().map(|view| view.layer);
    let first = layers.next()?;
    layers.all(|layer| layer == first).then_some(first)
}

/// The severity of a reading by docs/decisions.md, 1.
fn tone_of(reading: Reading, layer: Option<LinkLayer>) -> Option<Tone> {
    match layer {
        _ if reading.is_fatal => Some(Tone::Fatal),
        Some(LinkLayer::InfiniBand) => Some(Tone::NonFatal),
        _ => None,
    }
}
