//! Under which names a subject of alarms is known, and from when to when: a name may be given to another device, and
//! what is said of it is then about that one. Start at [`bearings`].

use std::collections::BTreeMap;

use observe::Recording;
use platforms::{NodeName, PciAddress};

use crate::{demands::polled, kinds::Whom, readings::Readings};

/// A name of a subject, while no other device has it.
#[derive(Debug)]
pub(super) struct Bearing {
    /// The name.
    pub(super) name: String,
    /// The first tick in which what is said of the name is about the subject.
    pub(super) from: u64,
    /// The first tick in which it is not any more.
    pub(super) to: u64,
    /// The tick by whose end what was said of the name's former bearer is over; the largest number if it may stay.
    pub(super) settled: u64,
}

/// The functions that had each name, with the poll that read it of them first, in order.
pub(super) type Bearers = BTreeMap<String, Vec<(u64, PciAddress)>>;

/// The bearers of the names of a node, as its polls read them.
pub(super) fn bearers(readings: &Readings<'_>, recording: &Recording, node: &NodeName) -> Bearers {
    let mut bearers = Bearers::new();
    for tick in polled(recording, node) {
        let Some([views, _]) = readings.views(node, tick) else {
            continue;
        };
        for (pci, view) in views.0.iter().filter(|(_, view)| view.listed) {
            let of_name = bearers.entry(view.name.to_string()).or_default();
            if of_name.last().is_none_or(|(_, last)| last != pci) {
                of_name.push((tick, *pci));
            }
        }
    }
    bearers
}

/// The names that a subject had, each while no other device has it. `settles` says by when what was said of the former
/// bearer of a name is over, by the tick in which the subject has it.
pub(super) fn bearings(
    bearers: &Bearers,
    (readings, node): (&Readings<'_>, &NodeName),
    whom: &Option<Whom>,
    settles: impl Fn(u64) -> u64,
) -> Vec<Bearing> {
    let mut found = Vec::new();
    for name in names_of(readings, node, whom) {
        let of_name = bearers.get(&name).map_or(&[][..], Vec::as_slice);
        let (Some(pci), false) = (function_of(whom), of_name.is_empty()) else {
            found.push(Bearing {
                name,
                from: 0,
                to: u64::MAX,
                settled: 0,
            });
            continue;
        };
        for (at, (tick, of)) in of_name.iter().enumerate() {
            if *of != pci {
                continue;
            }
            let next = of_name.get(at + 1);
            found.push(Bearing {
                name: name.clone(),
                // Before its first bearer it was nobody's.
                from: if at == 0 { 0 } else { *tick },
                to: next.map_or(u64::MAX, |(next, _)| *next),
                settled: settles(*tick),
            });
        }
    }
    found
}

/// The first tick in which the device of a fault has another name than before.
pub(super) fn renamed_at(readings: &Readings<'_>, node: &NodeName, whom: &Whom) -> Option<u64> {
    let pci = match whom {
        Whom::Port(pci, _) | Whom::Device(pci) => *pci,
        Whom::Card(_) | Whom::Name(_) | Whom::Check => return None,
    };
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

/// The function of a subject, if it is of one.
pub(super) fn function_of(whom: &Option<Whom>) -> Option<PciAddress> {
    match whom {
        Some(Whom::Port(pci, _) | Whom::Device(pci)) => Some(*pci),
        _ => None,
    }
}

/// The names that a subject had, in order.
fn names_of(readings: &Readings<'_>, node: &NodeName, whom: &Option<Whom>) -> Vec<String> {
    if let Some(Whom::Card(card)) = whom {
        return vec![card.to_string()];
    }
    let Some(pci) = function_of(whom) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for tick in 0..readings.ticks() {
        let views = readings.views(node, tick).into_iter().flatten();
        let found = views.filter_map(|views| Some(views.0.get(&pci)?.name.to_string()));
        names.extend(found);
    }
    names.sort();
    names.dedup();
    names
}

/// The name of a subject in findings.
pub(super) fn name_of(readings: &Readings<'_>, node: &NodeName, whom: &Option<Whom>) -> String {
    let names = names_of(readings, node, whom).join(", ");
    match whom {
        None => "the node".to_owned(),
        Some(Whom::Port(_, port)) => format!("NIC={names} NICPort={port}"),
        Some(_) => format!("NIC={names}"),
    }
}
