//! Virtual functions that are not there at rest and that a story makes (`create_vfs`), so that a handle can name them.
//!
//! Only their addresses are certain: a function's virtual functions follow it on the bus, whoever makes them. Start at
//! [`ResolvedWorld::add_later_vfs`].

use platforms::{PciAddress, PortFacts};

use super::{ResolvedNode, ResolvedPort, ResolvedWorld};
use crate::subject::Subjects;

impl ResolvedWorld {
    /// Adds the ports of the virtual functions that these ports' functions can have and that none of them has at rest.
    pub(super) fn add_later_vfs(&mut self, of: &Subjects) {
        for port in self.find_ports(of, None) {
            let made = self.later_vfs(port);
            self.ports.extend(made);
        }
    }

    fn later_vfs(&self, port: usize) -> Vec<ResolvedPort> {
        let owner = &self.ports[port];
        let pf = owner.facts.pci;
        let is_its = |it: &ResolvedPort| it.node == owner.node && it.physfn == Some(pf);
        let ResolvedNode {
            platform, machine, ..
        } = &self.nodes[owner.node];
        let total = machine.functions.get(&pf);
        let total = total.and_then(|function| function.sriov_totalvfs);
        // Those at rest are handles already; `create_vfs` adds none to them.
        if self.ports.iter().any(is_its) {
            return Vec::new();
        }
        let mut machine = machine.clone();
        let numbers = 0..total.unwrap_or(0);
        let made: Vec<PciAddress> = numbers
            .map_while(|number| platform.add_vf(&mut machine, pf, number))
            .collect();
        let mut ports = Vec::new();
        for pci in made {
            let Some(function) = machine.functions.get(&pci) else {
                continue;
            };
            let Some(rdma) = &function.rdma else {
                continue;
            };
            let card = function.card();
            let on_card = machine
                .functions
                .values()
                .filter(|other| other.rdma.is_some() && other.card() == card && other.pci <= pci);
            let position = on_card.count();
            for (number, port) in &rdma.ports {
                let netdev = function.netdevs.get(usize::from(number.0) - 1);
                ports.push(ResolvedPort {
                    node: owner.node,
                    switch: None,
                    rail: None,
                    healthy: port.is_up(),
                    physfn: Some(pf),
                    numa: function.numa,
                    function: position,
                    default_route: false,
                    later: true,
                    facts: PortFacts {
                        pci,
                        device: rdma.name.clone(),
                        port: *number,
                        layer: port.layer,
                        cabled: false,
                        card,
                        rail: None,
                        netdev: netdev.map(|netdev| netdev.name.clone()),
                        has_default_route: false,
                        has_numa_node: function.numa >= 0,
                        is_vf: true,
                        ..owner.facts.clone()
                    },
                });
            }
        }
        ports
    }
}
