//! Choosing: which ports of a machine at rest a handle means.

use std::collections::BTreeSet;

use super::{Ground, GroundPort};
use crate::error::Unfit;
use crate::handle::{Bound, Filter, Handle, HowMany, Pick};
use crate::subject::Subjects;

impl Ground {
    pub(super) fn chosen(&self, handle: &Handle) -> Result<Vec<usize>, Unfit> {
        let fitting: Vec<usize> = (0..self.ports.len())
            .filter(|port| self.fits(&handle.filter, *port))
            .collect();
        let few = |needed: &str| {
            Unfit::lacks(format!(
                "handle `{}` ({}) needs {needed}, `{}` has {}",
                handle.name,
                handle.text,
                self.platform,
                fitting.len()
            ))
        };
        match handle.pick {
            Pick::Nth(nth) => fitting
                .get(nth - 1)
                .map(|port| vec![*port])
                .ok_or_else(|| few(&ports(nth))),
            Pick::Last => fitting
                .last()
                .map(|port| vec![*port])
                .ok_or_else(|| few(&ports(1))),
            Pick::Count(many) => match many.of(fitting.len()) {
                Some(number) => Ok(fitting[..number].to_vec()),
                None => Err(few(&told(many, "port"))),
            },
            Pick::Cards(cards, each) => {
                let mut by_card: Vec<(&str, Vec<usize>)> = Vec::new();
                for port in &fitting {
                    let card = self.ports[*port].facts.card.as_str();
                    match by_card.iter_mut().find(|(known, _)| *known == card) {
                        Some((_, ports)) => ports.push(*port),
                        None => by_card.push((card, vec![*port])),
                    }
                }
                by_card.retain(|(_, ports)| each.of(ports.len()).is_some());
                let number = cards.of(by_card.len()).ok_or_else(|| {
                    let needed = format!("{} with {}", told(cards, "card"), told(each, "port"));
                    Unfit::lacks(format!(
                        "handle `{}` ({}) needs {needed}, `{}` has {}",
                        handle.name,
                        handle.text,
                        self.platform,
                        by_card.len()
                    ))
                })?;
                Ok(by_card
                    .into_iter()
                    .take(number)
                    .flat_map(|(_, mut ports)| {
                        ports.truncate(each.of(ports.len()).unwrap_or_default());
                        ports
                    })
                    .collect())
            }
        }
    }

    fn fits(&self, filter: &Filter, index: usize) -> bool {
        let port = &self.ports[index];
        let facts = &port.facts;
        let on_cards_of = |subjects: &Subjects| {
            self.find_ports(subjects, None)
                .iter()
                .any(|other| self.ports[*other].facts.card == facts.card)
        };
        let is_peer_of = |subjects: &Subjects| {
            !on_cards_of(subjects)
                && self.find_ports(subjects, None).iter().any(|other| {
                    let other = &self.ports[*other].facts;
                    other.role == facts.role && other.layer == facts.layer
                })
        };
        fn asked<T: PartialEq>(asked: &Option<T>, is: &T) -> bool {
            asked.as_ref().is_none_or(|asked| asked == is)
        }
        let keeps = |bound: Option<Bound>, number: &dyn Fn() -> usize| {
            bound.is_none_or(|bound| bound.holds(number()))
        };
        let same_card = |other: &&GroundPort| other.facts.card == facts.card;
        asked(&filter.role, &facts.role)
            && asked(&filter.layer, &facts.layer)
            && filter
                .devices
                .as_ref()
                .is_none_or(|names| names.contains(&facts.device))
            && filter
                .netdev
                .as_deref()
                .is_none_or(|name| facts.netdev.as_deref() == Some(name))
            && asked(&filter.pci, &facts.pci)
            && asked(&filter.port, &u64::from(facts.port.0))
            && asked(&filter.function, &(port.function as u64))
            && asked(&filter.numa, &i64::from(port.numa))
            && asked(&filter.vf, &facts.is_vf)
            && asked(&filter.cabled, &facts.cabled)
            && asked(&filter.healthy, &port.healthy)
            && asked(&filter.monitored, &facts.is_monitored())
            && (!filter.default_route || port.default_route)
            && filter
                .device_of
                .as_ref()
                .is_none_or(|of| self.find_functions(of, None).contains(&facts.pci))
            && filter.card_of.as_ref().is_none_or(on_cards_of)
            && filter
                .sibling_of
                .as_ref()
                .is_none_or(|of| on_cards_of(of) && !self.find_ports(of, None).contains(&index))
            && filter.peer_of.as_ref().is_none_or(is_peer_of)
            && filter.vf_of.as_ref().is_none_or(|of| {
                port.physfn
                    .is_some_and(|pf| self.find_functions(of, None).contains(&pf))
            })
            && filter.not.as_ref().is_none_or(|not| !on_cards_of(not))
            && keeps(filter.group_cards, &|| {
                self.cards(|other| {
                    other.facts.is_monitored()
                        && other.facts.role == facts.role
                        && other.facts.layer == facts.layer
                })
            })
            && keeps(filter.card_functions, &|| {
                let on_card = self.ports.iter().filter(same_card);
                on_card
                    .map(|other| other.facts.pci)
                    .collect::<BTreeSet<_>>()
                    .len()
            })
            && keeps(filter.card_ports, &|| {
                self.ports
                    .iter()
                    .filter(same_card)
                    .filter(|other| other.facts.is_monitored())
                    .count()
            })
            && keeps(filter.device_ports, &|| {
                self.ports
                    .iter()
                    .filter(|other| other.facts.pci == facts.pci)
                    .count()
            })
    }
}

fn ports(number: usize) -> String {
    told(HowMany::Number(number), "port")
}

fn told(many: HowMany, what: &str) -> String {
    match many {
        HowMany::Number(1) => format!("1 {what}"),
        HowMany::Number(number) => format!("{number} {what}s"),
        HowMany::Half => format!("half of at least 2 {what}s"),
        HowMany::All => format!("a {what}"),
    }
}
