//! Which switch port, or which other host's port, is at the other end of each link, and the local
//! identifiers of hosts and switches: no two ports of a world share either.
//!
//! A world's file states the switches of some ports. The others hang on switches without a name, in
//! the order of nodes and ports. Start at [`Cabling::plug`].

use std::collections::{BTreeMap, BTreeSet};

use platforms::SlotRef;

use crate::{Fabric, lids, node::Node};

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
                let lid = lids::HIGHEST.saturating_sub(self.chips);
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
        let hosts = self.nodes.iter().flat_map(Node::lids);
        lids::next_host(&hosts.chain(self.cabling.host_lids()).collect())
    }
}

/// Gives every port of a later node another local identifier if an earlier port has it.
pub(crate) fn part_lids(nodes: &mut [Node]) {
    let mut taken = BTreeSet::from([lids::SUBNET_MANAGER]);
    for node in nodes {
        for slot in node.slots() {
            let Some(port) = node.port(slot.pci, slot.port) else {
                continue;
            };
            let lid = port.lid;
            if lid == 0 || taken.insert(lid) {
                continue;
            }
            let mut others = (lid..=lids::LAST_HOST).chain(1..lid);
            if let Some(other) = others.find(|other| !taken.contains(other)) {
                taken.insert(other);
                node.set_lid(&slot, other);
            }
        }
    }
}
