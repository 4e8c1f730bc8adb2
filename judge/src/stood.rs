//! The faults that stood in a drill, for who learns from a recording what a monitor says about them. Start at
//! [`stood`].

use std::collections::BTreeMap;

use director::Truth;
use observe::{
    Descriptor, Recording,
    promises::{Kind, Named},
};
use platforms::{LinkLayer, NodeName, PciAddress, PortNumber};
use scenarios::{Story, Tone};

use crate::{
    demands::polled, fits::JudgeContext, intervals::intervals, kinds::Whom, readings::Readings,
};

/// A fault that stood, as the polls of a recording could read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    /// The node.
    pub node: NodeName,
    /// Its subject.
    pub of: StoodOf,
    /// Its kind.
    pub kind: Kind,
    /// The link layer of the subject, if it is one.
    pub layer: Option<LinkLayer>,
    /// The severity by the documents where their row distinguishes cases; `None` if they ask for no event.
    pub tone: Option<Tone>,
    /// The first poll that reads it.
    pub from: u64,
    /// The first poll that does not any more; `None` if it stood to the end.
    pub to: Option<u64>,
}

/// The subject of a fault, by its place on the bus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoodOf {
    /// A port.
    Port(PciAddress, PortNumber),
    /// A device.
    Device(PciAddress),
    /// A card, by its address without the function.
    Card(String),
}

/// The faults that stood in a drill, by node and time.
#[must_use]
pub fn stood(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
) -> Vec<Stood> {
    let context = JudgeContext {
        story,
        truth,
        descriptor,
    };
    let readings = Readings::of(context, recording.healing_from);
    let all = intervals(&context, &readings, recording).into_iter();
    let all = all.filter_map(|interval| {
        let of = match interval.whom {
            Whom::Port(pci, port) => StoodOf::Port(pci, port),
            Whom::Device(pci) => StoodOf::Device(pci),
            Whom::Card(card) => StoodOf::Card(card),
            Whom::Name(_) | Whom::Check => return None,
        };
        Some(Stood {
            node: interval.node,
            of,
            kind: interval.kind,
            layer: interval.layer,
            tone: interval.tone,
            from: interval.from,
            to: (interval.to != u64::MAX).then_some(interval.to),
        })
    });
    let mut all: Vec<Stood> = all.collect();
    for node in &story.monitors {
        all.extend(gone_ports(truth, recording, node));
    }
    all
}

/// The ports that the folder of a listed device does not list any more.
fn gone_ports(truth: &Truth, recording: &Recording, node: &NodeName) -> Vec<Stood> {
    let mut known: BTreeMap<(PciAddress, PortNumber), LinkLayer> = BTreeMap::new();
    let mut open: BTreeMap<(PciAddress, PortNumber), Stood> = BTreeMap::new();
    let mut all = Vec::new();
    for tick in polled(recording, node) {
        let at = usize::try_from(tick).expect("a recording has few ticks");
        let Some(views) = truth.ticks.get(at).and_then(|tick| tick.nodes.get(node)) else {
            continue;
        };
        let listed = views
            .views
            .0
            .iter()
            .filter(|(_, view)| view.listed && view.monitored);
        for (pci, view) in listed {
            for (port, of) in &view.ports {
                known.insert((*pci, *port), of.layer);
            }
            let of_device = known.iter().filter(|((of, _), _)| of == pci);
            for ((_, port), layer) in of_device {
                let is_there = view.ports.contains_key(port);
                let slot = (*pci, *port);
                match open.get_mut(&slot) {
                    Some(gone) if is_there => {
                        gone.to = Some(tick);
                        all.extend(open.remove(&slot));
                    }
                    None if !is_there => {
                        let gone = Stood {
                            node: node.clone(),
                            of: StoodOf::Port(*pci, *port),
                            kind: Named::GonePort.into(),
                            layer: Some(*layer),
                            tone: Some(Tone::Fatal),
                            from: tick,
                            to: None,
                        };
                        open.insert(slot, gone);
                    }
                    _ => {}
                }
            }
        }
    }
    all.extend(open.into_values());
    all
}
