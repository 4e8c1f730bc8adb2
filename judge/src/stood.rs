//! The faults that stood in a drill, for who learns from a recording what a monitor says about them. Start at
//! [`stood`].

use director::Truth;
use observe::{Descriptor, Recording, promises::Kind};
use platforms::{LinkLayer, NodeName, PciAddress, PortNumber};
use scenarios::Story;
use terms::{Card, Severity};

use crate::{fits::JudgeContext, intervals::intervals, kinds::Whom, readings::Readings};

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
    pub tone: Option<Severity>,
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
    /// A card.
    Card(Card),
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
    let all = intervals(&context, &readings, recording);
    let all = all.into_iter().filter_map(|interval| {
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
    all.collect()
}
