//! What alarms are about: ports, devices, cards or the node, and which statements are about each. A name may be given to
//! another device, and what is stated of it is then about that one. Start at [`AlarmSubject`].

use std::collections::BTreeMap;

use observe::{Recording, Subject, promises::Granularity};
use platforms::{Card, NodeName, PciAddress};
use reports::CauseSubject;

use crate::{demands::polled, kinds::Whom, readings::Readings};

/// Which functions of a node had each name, with the first poll that read it of them, in order.
#[derive(Debug)]
pub(crate) struct Bearers(BTreeMap<String, Vec<(u64, PciAddress)>>);

impl Bearers {
    /// Those that the polls of a node read. A name that no poll read is the first function's that had it.
    pub(crate) fn of(readings: &Readings<'_>, recording: &Recording, node: &NodeName) -> Self {
        let mut all: BTreeMap<String, Vec<(u64, PciAddress)>> = BTreeMap::new();
        for tick in polled(recording, node) {
            let Some([views, _]) = readings.views(node, tick) else {
                continue;
            };
            for (pci, view) in views.0.iter().filter(|(_, view)| view.listed) {
                let of_name = all.entry(view.name.to_string()).or_default();
                if of_name.last().is_none_or(|(_, last)| last != pci) {
                    of_name.push((tick, *pci));
                }
            }
        }
        for tick in 0..readings.ticks() {
            for (pci, view) in readings
                .views(node, tick)
                .into_iter()
                .flatten()
                .flat_map(|views| views.0.iter())
            {
                let name = view.name.as_str();
                if !all.contains_key(name) {
                    all.insert(name.to_owned(), vec![(0, *pci)]);
                }
            }
        }
        Self(all)
    }

    /// The function that a name means in a tick. Before its first bearer it was nobody else's.
    pub(crate) fn bearer(&self, name: &str, tick: u64) -> Option<PciAddress> {
        let of_name = self.0.get(name)?;
        let (_, pci) = (of_name.iter().rev())
            .find(|(from, _)| *from <= tick)
            .or(of_name.first())?;
        Some(*pci)
    }

    /// The polls in which a function took a name over from another one.
    pub(super) fn taken_over(&self, name: &str, by: PciAddress) -> impl Iterator<Item = u64> {
        let of_name = self.0.get(name).map_or(&[][..], Vec::as_slice);
        let later = of_name.iter().skip(1).filter(move |(_, pci)| *pci == by);
        later.map(|(from, _)| *from)
    }

    /// The names that a function had, in order.
    pub(crate) fn names_of(&self, pci: PciAddress) -> impl Iterator<Item = &str> {
        let of_it = self.0.iter();
        let of_it = of_it.filter(move |(_, bearers)| bearers.iter().any(|(_, of)| *of == pci));
        of_it.map(|(name, _)| name.as_str())
    }
}

/// A subject of alarms.
#[derive(Clone, Debug)]
pub(crate) struct AlarmSubject {
    /// On the bus; `None` for the node.
    pub(crate) whom: Option<Whom>,
    /// Whether what is stated of a device's ports is about the device.
    has_ports: bool,
    /// Whether what is stated of the card is about its device.
    has_card: bool,
    /// Whether what is stated of a card's devices and ports is about the card.
    has_functions: bool,
}

impl AlarmSubject {
    /// That of a monitor that promises reports of a granularity.
    pub(super) fn promised(whom: Option<Whom>, granularity: Granularity) -> Self {
        Self {
            whom,
            has_ports: granularity != Granularity::Port,
            has_card: false,
            has_functions: false,
        }
    }

    /// That of a fault that is to be named at a granularity, or more exactly.
    pub(crate) fn needed(whom: &Whom, granularity: Granularity) -> Self {
        Self {
            whom: whom_of(whom, granularity),
            has_ports: true,
            has_card: granularity == Granularity::Device,
            has_functions: true,
        }
    }

    /// A card with all that belongs to it.
    pub(crate) fn whole_card(card: Card) -> Self {
        Self::needed(&Whom::Card(card), Granularity::Device)
    }

    /// Its name in findings.
    pub(crate) fn name(&self, bearers: &Bearers) -> String {
        let names = |pci: PciAddress| bearers.names_of(pci).collect::<Vec<_>>().join(", ");
        match &self.whom {
            None => "the node".to_owned(),
            Some(Whom::Port(pci, port)) => format!("NIC={} NICPort={port}", names(*pci)),
            Some(Whom::Device(pci)) => format!("NIC={}", names(*pci)),
            Some(Whom::Card(card)) => format!("NIC={card}"),
            Some(Whom::Name(name)) => format!("NIC={name}"),
            Some(Whom::Check) => "NIC=".to_owned(),
        }
    }

    /// Whether a statement about `stated` in a tick is about it, or a part of it.
    pub(crate) fn is_meant(&self, stated: &Subject, tick: u64, bearers: &Bearers) -> bool {
        let Some(whom) = &self.whom else { return true };
        let is_named = |name: &str, pci: PciAddress| bearers.bearer(name, tick) == Some(pci);
        match (whom, stated) {
            (Whom::Port(pci, of), Subject::Port { device, port }) => {
                is_named(device, *pci) && *port == of.to_string()
            }
            (Whom::Device(pci), Subject::Device(name)) => {
                is_named(name, *pci) || self.has_card && pci.card().is_called(name)
            }
            (Whom::Device(pci), Subject::Port { device, .. }) => {
                self.has_ports && is_named(device, *pci)
            }
            (Whom::Device(pci), Subject::Card(name)) => self.has_card && pci.card().is_called(name),
            (Whom::Card(card), Subject::Card(name)) => card.is_called(name),
            (Whom::Card(card), Subject::Device(name) | Subject::Port { device: name, .. }) => {
                let is_its = |pci: PciAddress| pci.card() == *card;
                self.has_functions
                    && (bearers.bearer(name, tick).is_some_and(is_its) || card.is_called(name))
            }
            _ => false,
        }
    }
}

/// The subject that a fault belongs to at a granularity; `None` for the node.
pub(super) fn whom_of(whom: &Whom, granularity: Granularity) -> Option<Whom> {
    match (granularity, whom) {
        (Granularity::Node, _) => None,
        (Granularity::Device, Whom::Port(pci, _)) => Some(Whom::Device(*pci)),
        (_, whom) => Some(whom.clone()),
    }
}

/// The subject of a fault as a fact of a cause.
pub(crate) fn cause_subject(whom: Option<&Whom>) -> CauseSubject {
    match whom {
        None => CauseSubject::Check,
        Some(Whom::Port(..)) => CauseSubject::Port,
        Some(Whom::Card(_)) => CauseSubject::Card,
        Some(_) => CauseSubject::Device,
    }
}

/// The subject of a statement as a fact of a cause.
pub(crate) fn stated_subject(stated: &Subject) -> CauseSubject {
    match stated {
        Subject::Node => CauseSubject::Check,
        Subject::Device(_) => CauseSubject::Device,
        Subject::Port { .. } => CauseSubject::Port,
        Subject::Card(_) => CauseSubject::Card,
        Subject::Other(_) => CauseSubject::Other,
    }
}

/// The first tick in which the device of a fault has another name than before.
pub(super) fn renamed_at(readings: &Readings<'_>, node: &NodeName, whom: &Whom) -> Option<u64> {
    let pci = whom.pci()?;
    let mut before = None;
    for tick in 0..readings.ticks() {
        for views in readings.views(node, tick).into_iter().flatten() {
            let name = views.0.get(&pci).map(|view| &view.name);
            if name.is_some() && before.is_some() && name != before {
                return Some(tick);
            }
            before = name.or(before);
        }
    }
    None
}
