//! Which switch port, or which other host's port, is at the other end of each link, and the local
//! identifiers of hosts and switches: no two ports of a world share either.
//!
//! A world's file states the switches of some ports. The others hang on switches without a name, in
//! the order of nodes and ports. Start at [`Cabling::plug`].

use std::collections::{BTreeMap, BTreeSet};

use platforms::SlotRef;

use crate::{Fabric, node::Node};

/// The highest local identifier of one port (IBTA volume 1, 4.1.3); a world's switches count down
/// from here.
const HIGHEST_LID: u16 = 0xbfff;

/// The last local identifier that a host is given at rest; the rest is for subnet managers that take over,
/// which count up from here, and for switches. Chosen.
pub(crate) const LAST_HOST: u16 = 0xb001;

/// The highest number of a switch port (IBTA volume 1, 18.2.4.1). A named switch with more cables is
/// several chips, each with an identifier of its own.
const PORTS_MAX: u8 = 254;

/// The ports of a switch without a name; an Omni-Path edge switch has as many.
const EDGE_PORTS: u8 = 48;

/// The port at the other end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartnerPort {
    /// Whose port it is.
    pub of: PartnerKind,
    /// The switch's name; `None` if the world does not state it, and for a host.
    pub switch: Option<String>,
    /// Its local identifier, or that of its switch.
    pub lid: u16,
    /// The port's number, from 1.
    pub number: u8,
}

/// What is at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartnerKind {
    /// A switch.
    Switch,
    /// Another host, by a cable without a switch.
    Host,
}

/// The partners of a world's ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cabling {
    ports: BTreeMap<SlotRef, PartnerPort>,
    /// The last port that was given away, by switch.
    last: BTreeMap<Option<String>, PartnerPort>,
    chips: u16,
}

impl Cabling {
    /// The port at the other end of a link.
    pub(crate) fn partner(&self, slot: &SlotRef) -> Option<&PartnerPort> {
        self.ports.get(slot)
    }

    /// Plugs a port into the only port of another host; a port that is plugged stays where it is.
    fn plug_host(&mut self, slot: SlotRef, lid: u16) {
        self.ports.entry(slot).or_insert(PartnerPort {
            of: PartnerKind::Host,
            switch: None,
            lid,
            number: 1,
        });
    }

    /// The local identifiers of the hosts at the other ends.
    fn host_lids(&self) -> impl Iterator<Item = u16> {
        let hosts = self
            .ports
            .values()
            .filter(|port| port.of == PartnerKind::Host);
        hosts.map(|port| port.lid)
    }

    /// Plugs a port into the next free port of a switch; a port that is plugged stays where it is.
    pub(crate) fn plug(&mut self, slot: SlotRef, switch: Option<&str>) {
        if self.ports.contains_key(&slot) {
            return;
        }
        let switch = switch.map(ToOwned::to_owned);
        let size = if switch.is_some() {
            PORTS_MAX
        } else {
            EDGE_PORTS
        };
        let next = match self.last.get(&switch) {
            Some(last) if last.number < size => PartnerPort {
                number: last.number + 1,
                ..last.clone()
            },
            _ => {
                let lid = HIGHEST_LID.saturating_sub(self.chips);
                self.chips = self.chips.saturating_add(1);
                PartnerPort {
                    of: PartnerKind::Switch,
                    switch: switch.clone(),
                    lid,
                    number: 1,
                }
            }
        };
        self.last.insert(switch, next.clone());
        self.ports.insert(slot, next);
    }
}

impl Fabric {
    /// Plugs ports into the switches that a world's file states, in this order, the ports of `to_hosts`
    /// that are not among them into another host each, and every other port into a switch without a name.
    pub fn plug<'s>(
        &mut self,
        cables: impl IntoIterator<Item = (&'s str, SlotRef)>,
        to_hosts: impl IntoIterator<Item = SlotRef>,
    ) {
        self.cabling = Cabling::default();
        for (switch, slot) in cables {
            self.cabling.plug(slot, Some(switch));
        }
        for slot in to_hosts {
            let lid = self.free_lid();
            self.cabling.plug_host(slot, lid);
        }
        for slot in self.slots() {
            self.cabling.plug(slot, None);
        }
    }

    /// The port at the other end of a port's link; `None` for an unknown port.
    #[must_use]
    pub fn partner_port(&self, slot: &SlotRef) -> Option<&PartnerPort> {
        self.cabling.partner(slot)
    }

    /// A local identifier that neither a host of this world nor a subnet manager has.
    pub(crate) fn free_lid(&self) -> u16 {
        let lids = self.nodes.iter().flat_map(Node::lids);
        free_lid(&lids.chain(self.cabling.host_lids()).collect())
    }
}

/// The identifier after the highest of these, or the lowest free one if that is not a host's any more.
fn free_lid(taken: &BTreeSet<u16>) -> u16 {
    let first = Node::SUBNET_MANAGER_LID + 1;
    let highest = taken.last().map_or(first, |lid| lid.saturating_add(1));
    let mut lids = (highest.max(first)..=LAST_HOST).chain(first..=LAST_HOST);
    lids.find(|lid| !taken.contains(lid)).unwrap_or(LAST_HOST)
}

/// Gives every port of a later node another local identifier if an earlier port has it.
pub(crate) fn part_lids(nodes: &mut [Node]) {
    let mut taken = BTreeSet::from([Node::SUBNET_MANAGER_LID]);
    for node in nodes {
        for slot in node.slots() {
            let Some(port) = node.port(slot.pci, slot.port) else {
                continue;
            };
            let lid = port.lid;
            if lid == 0 || taken.insert(lid) {
                continue;
            }
            let mut others = (lid..=LAST_HOST).chain(1..lid);
            if let Some(other) = others.find(|other| !taken.contains(other)) {
                taken.insert(other);
                node.set_lid(&slot, other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{LAST_HOST, free_lid};

    #[test]
    fn a_new_host_has_the_next_identifier_and_never_one_of_a_manager_or_a_switch() {
        let free = |taken: &[u16]| free_lid(&taken.iter().copied().collect::<BTreeSet<u16>>());
        assert_eq!(free(&[]), 2);
        assert_eq!(free(&[0, 7]), 8, "a port without one has 0");
        assert_eq!(free(&[2, 3, LAST_HOST]), 4);
    }
}
