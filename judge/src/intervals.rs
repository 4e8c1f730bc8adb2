//! The truth of a drill as intervals: which kind of fault stood of which subject, from when to when. Start at
//! [`intervals`].

use std::collections::BTreeMap;

use observe::{
    Recording,
    promises::{Kind, Named},
};
use platforms::{LinkLayer, NodeName, PciAddress, PortNumber, SlotRef};
use terms::Severity;

use director::{FunctionView, NodeView, PortFault};

use crate::{
    demands::polled,
    episodes::kind_of,
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
    pub(crate) tone: Option<Severity>,
    /// The first poll that reads it.
    pub(crate) from: u64,
    /// The first poll that does not any more.
    pub(crate) to: u64,
}

impl Interval {
    /// Whether it is read from the port's own files: of these a subject has one at a time.
    pub(crate) fn is_of_reading(&self) -> bool {
        matches!(&self.kind, Kind::Named(kind) if !kind.is_beside_states())
    }
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
        all.extend(beside_states(context, node, recording.settled_at));
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
            let tone = Some(Severity::Fatal);
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
        let (whom, layer) = (Whom::Card(card.pci.card()), Some(card.layer));
        stands(whom, Named::Card, layer, Some(Severity::Fatal));
    }
    standing
}

/// What no state of a port shows: counters, character devices, speeds.
fn beside_states(
    context: &JudgeContext<'_>,
    node: &NodeName,
    settled_at: Option<u64>,
) -> Vec<Interval> {
    let settled = settled_at.unwrap_or(u64::MAX);
    let faults = context.truth.log.faults.iter();
    let meant = faults
        .filter(|fault| fault.slot.node == *node && is_watched(context, &fault.slot, fault.from));
    let interval = |fault: &PortFault| {
        let (pci, port) = (fault.slot.pci, fault.slot.port);
        Some(Interval {
            node: node.clone(),
            whom: Whom::Port(pci, port),
            kind: kind_of(&fault.fault)?,
            layer: layer_of(context, node, pci, port),
            tone: None,
            from: fault.from,
            to: fault.to.unwrap_or(u64::MAX).min(settled),
        })
    };
    meant.filter_map(interval).collect()
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
pub(crate) fn tone_of(reading: Reading, layer: Option<LinkLayer>) -> Option<Severity> {
    match layer {
        _ if reading.is_fatal => Some(Severity::Fatal),
        Some(LinkLayer::InfiniBand) => Some(Severity::NonFatal),
        _ => None,
    }
}
