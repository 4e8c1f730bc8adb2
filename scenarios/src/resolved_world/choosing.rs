//! Selects the ports of a machine at rest that match a handle.

use std::collections::BTreeSet;

use fabric::FunctionRef;
use platforms::{DeviceName, LinkReasons};

use super::{ResolvedPort, ResolvedWorld};
use crate::bound::Bound;
use crate::error::Unfit;
use crate::handle::{Filter, Handle};
use crate::pick::{HowMany, Pick};
use crate::subject::Subjects;

impl ResolvedWorld {
    pub(super) fn chosen(&self, handle: &Handle) -> Result<Vec<usize>, Unfit> {
        let fitting: Vec<usize> = (0..self.ports.len())
            .filter(|port| self.fits(&handle.filter, *port))
            .collect();
        let few = |needed: &str| {
            let has = format!(
                "handle `{}` ({}) needs {needed}, `{}` has {}",
                handle.name,
                handle.text,
                self.world,
                fitting.len()
            );
            Unfit::lacks(match fitting.is_empty() {
                true => self.and_why_none(&handle.filter, has),
                false => has,
            })
        };
        let names = handle.filter.devices.iter().flatten();
        let has_none = |name: &&DeviceName| {
            let mut devices = fitting.iter().map(|port| &self.ports[*port].facts.device);
            !devices.any(|device| device == *name)
        };
        if let Some(name) = names.filter(|_| handle.each_device).find(has_none) {
            return Err(few(&format!("a port of `{name}`")));
        }
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
                None => Err(few(&counted(many, "port"))),
            },
            Pick::Cards(cards, each) => {
                let mut by_card: Vec<Vec<usize>> = Vec::new();
                for port in &fitting {
                    let mates = by_card
                        .iter_mut()
                        .find(|ports| self.share_a_card(ports[0], *port));
                    match mates {
                        Some(ports) => ports.push(*port),
                        None => by_card.push(vec![*port]),
                    }
                }
                by_card.retain(|ports| each.of(ports.len()).is_some());
                let number = cards.of(by_card.len()).ok_or_else(|| {
                    let needed =
                        format!("{} with {}", counted(cards, "card"), counted(each, "port"));
                    Unfit::lacks(format!(
                        "handle `{}` ({}) needs {needed}, `{}` has {}",
                        handle.name,
                        handle.text,
                        self.world,
                        by_card.len()
                    ))
                })?;
                Ok(by_card
                    .into_iter()
                    .take(number)
                    .flat_map(|mut ports| {
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
                .any(|other| self.share_a_card(*other, index))
        };
        let is_peer_of = |subjects: &Subjects| {
            !on_cards_of(subjects)
                && self.find_ports(subjects, None).iter().any(|other| {
                    let other = &self.ports[*other];
                    let alike = other.facts.role == facts.role && other.facts.layer == facts.layer;
                    alike && other.node == port.node
                })
        };
        fn asked<T: PartialEq>(asked: &Option<T>, is: &T) -> bool {
            asked.as_ref().is_none_or(|asked| asked == is)
        }
        let keeps = |bound: Option<Bound>, number: &dyn Fn() -> usize| {
            bound.is_none_or(|bound| bound.holds(number()))
        };
        // What comes later is beside what comes later alone.
        let same_node = |other: &ResolvedPort| other.node == port.node && other.later == port.later;
        let same_card = |other: &&ResolvedPort| same_node(other) && other.facts.card == facts.card;
        port.later == filter.appears_later
            && asked(&filter.role, &facts.role)
            && filter
                .node
                .as_deref()
                .is_none_or(|node| self.node_of(index).as_str() == node)
            && filter
                .cabled_to
                .as_ref()
                .is_none_or(|switch| port.switch.as_ref() == Some(switch))
            && filter
                .rail
                .is_none_or(|rail| port.rail.is_some_and(|(its, _)| its == rail))
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
            && asked(&filter.near_gpu, &facts.is_near_gpu)
            && filter
                .link_reasons
                .is_none_or(|reasons| self.link_reasons(port) == Some(reasons))
            && keeps(filter.sriov_totalvfs, &|| self.sriov_totalvfs(port))
            && asked(&filter.cabled, &facts.cabled)
            && asked(&filter.healthy, &port.healthy)
            && asked(&filter.monitored, &facts.is_monitored())
            && (!filter.default_route || port.default_route)
            && filter.device_of.as_ref().is_none_or(|of| {
                self.find_functions(of, None)
                    .contains(&self.function(index))
            })
            && filter.card_of.as_ref().is_none_or(on_cards_of)
            && filter
                .sibling_of
                .as_ref()
                .is_none_or(|of| on_cards_of(of) && !self.find_ports(of, None).contains(&index))
            && filter.peer_of.as_ref().is_none_or(is_peer_of)
            && filter.vf_of.as_ref().is_none_or(|of| {
                port.physfn.is_some_and(|pci| {
                    let node = self.node_of(index).clone();
                    let physical = FunctionRef { node, pci };
                    self.find_functions(of, None).contains(&physical)
                })
            })
            && filter.not.as_ref().is_none_or(|not| !on_cards_of(not))
            && keeps(filter.group_cards, &|| {
                self.cards(|other| {
                    same_node(other)
                        && other.facts.is_monitored()
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
                let of_device = |other: &&ResolvedPort| other.facts.pci == facts.pci;
                self.ports
                    .iter()
                    .filter(|other| same_node(other) && of_device(other))
                    .count()
            })
    }
}

impl ResolvedWorld {
    /// How a port remembers why its link went down.
    fn link_reasons(&self, port: &ResolvedPort) -> Option<LinkReasons> {
        let driver = self.nodes[port.node]
            .platform
            .driver(&port.facts.driver_file)?;
        Some(driver.link_reasons)
    }

    /// How many virtual functions a port's function can have.
    fn sriov_totalvfs(&self, port: &ResolvedPort) -> usize {
        let functions = &self.nodes[port.node].machine.functions;
        let function = functions.get(&port.facts.pci);
        let total = function.and_then(|function| function.sriov_totalvfs);
        total.map_or(0, usize::from)
    }
}

fn ports(number: usize) -> String {
    counted(HowMany::Number(number), "port")
}

fn counted(many: HowMany, what: &str) -> String {
    match many {
        HowMany::Number(1) => format!("1 {what}"),
        HowMany::Number(number) => format!("{number} {what}s"),
        HowMany::Half => format!("half of at least 2 {what}s"),
        HowMany::All => format!("a {what}"),
    }
}
