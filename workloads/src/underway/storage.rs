//! Storage under way: an LNet, its clients, and the ports below.

use std::collections::BTreeMap;

use fabric::{Carriage, CarriageChange, Fabric};
use platforms::{NodeName, PortRef, SlotRef};
use simfs::SimTime;

use super::{Cause, Fared, LoadError, NiFared, StoragePlan, carriage};
use crate::lnet::{
    Lnet, LnetError, NiSpec, Nid, NodeSpec, Notice, PortEvent, RuleSpec, Storage, Timing,
};

/// Chance plays a part in rules only; every story has the same.
const SEED: u64 = 1;

#[derive(Clone, Debug)]
pub(super) struct StorageLoad {
    lnet: Lnet,
    clients: Vec<Storage>,
    ports: BTreeMap<SlotRef, (PortRef, Nid)>,
}

impl StorageLoad {
    pub(super) fn start(plan: &StoragePlan, fabric: &Fabric) -> Result<Self, LnetError> {
        let specs = plan.nodes.iter().map(|node| NodeSpec {
            name: node.name.clone(),
            profile: plan.profile,
            routing: false,
            discovery: true,
            nis: node
                .nis
                .iter()
                .map(|ni| NiSpec::new(ni.nid.clone(), ni.port.clone(), &ni.interface))
                .collect(),
            routes: Vec::new(),
        });
        let mut lnet = Lnet::new(specs.collect(), Timing::default(), SEED)?;
        let nis = plan.nodes.iter().flat_map(|node| &node.nis);
        let ports = nis
            .map(|ni| (ni.slot.clone(), (ni.port.clone(), ni.nid.clone())))
            .collect();
        let clients = plan
            .clients
            .iter()
            .map(|client| Storage::new(&lnet, client, &plan.server, plan.patience))
            .collect::<Result<_, _>>()?;
        tell_of_ports(&mut lnet, &ports, fabric)?;
        Ok(Self {
            lnet,
            clients,
            ports,
        })
    }

    pub(super) fn lnet(&self) -> &Lnet {
        &self.lnet
    }

    pub(super) fn advance(&mut self, to: SimTime) {
        Storage::advance_all(&mut self.clients, &mut self.lnet, to);
    }

    /// What LNet does at the instant of the change comes after it.
    pub(super) fn hear(&mut self, slot: &SlotRef, change: CarriageChange) {
        if let Some(before) = change.at.before() {
            self.advance(before);
        }
        let port = self.ports[slot].0.clone();
        let event = event(change.carriage);
        let told = self.lnet.tell(Notice::Port { port, event });
        told.expect("of a port LNet refuses nothing");
    }

    pub(super) fn node_goes(&mut self, node: &NodeName) -> Result<(), LnetError> {
        if self.lnet.node(node).is_none() {
            return Ok(());
        }
        self.lnet.tell(Notice::Node {
            node: node.clone(),
            loaded: false,
        })?;
        let of_node = self.ports.iter().filter(|(slot, _)| slot.node == *node);
        for (_, (port, _)) in of_node {
            self.lnet.tell(Notice::Port {
                port: port.clone(),
                event: PortEvent::Lost,
            })?;
        }
        Ok(())
    }

    pub(super) fn node_returns(
        &mut self,
        node: &NodeName,
        fabric: &Fabric,
    ) -> Result<(), LnetError> {
        if self.lnet.node(node).is_none() {
            return Ok(());
        }
        for (slot, (port, _)) in self.ports.iter().filter(|(slot, _)| slot.node == *node) {
            if carriage(fabric, slot) == Carriage::Data {
                self.lnet.tell(Notice::Port {
                    port: port.clone(),
                    event: PortEvent::Active,
                })?;
            }
        }
        self.lnet.tell(Notice::Node {
            node: node.clone(),
            loaded: true,
        })
    }

    pub(super) fn rule(
        &mut self,
        name: &str,
        node: &NodeName,
        rule: &RuleSpec,
    ) -> Result<(), LoadError> {
        self.known(name, node)?;
        Ok(self.lnet.add_rule(node, rule.clone())?)
    }

    pub(super) fn no_rules(&mut self, name: &str, node: &NodeName) -> Result<(), LoadError> {
        self.known(name, node)?;
        Ok(self.lnet.clear_rules(node)?)
    }

    fn known(&self, name: &str, node: &NodeName) -> Result<(), LoadError> {
        match self.lnet.node(node) {
            Some(_) => Ok(()),
            None => Err(LoadError::NoSuchNode(name.to_owned(), node.clone())),
        }
    }

    /// The worst of its clients' fates, the first of their failures, the sum of the rest.
    pub(super) fn fared(&self) -> Fared {
        let mut fared = Fared::default();
        for report in self.clients.iter().map(Storage::report) {
            fared.fate = fared.fate.max(report.fate());
            fared.errors += report.errors;
            fared.retries += report.retries;
            fared.done += report.answered;
            if let Some(at) = report.failed_at()
                && fared.failed_at.is_none_or(|first| at < first)
            {
                fared.failed_at = Some(at);
                fared.cause = Some(if report.evicted_at == Some(at) {
                    Cause::Evicted
                } else {
                    Cause::Unanswered
                });
            }
        }
        fared
    }

    pub(super) fn ni(&self, seen_from: &NodeName, slot: &SlotRef) -> Option<NiFared> {
        let (_, nid) = self.ports.get(slot)?;
        let node = self.lnet.node(seen_from)?;
        if let Some(ni) = node.ni(nid) {
            return Some(NiFared {
                up: node.is_up(ni),
                fatal: Some(ni.fatal),
                health: ni.health.value(),
            });
        }
        let ni = node.peer_ni(nid)?;
        Some(NiFared {
            up: !ni.said_down,
            fatal: None,
            health: ni.health.value(),
        })
    }
}

/// Tells an LNet of those of its ports that carry nothing.
fn tell_of_ports(
    lnet: &mut Lnet,
    ports: &BTreeMap<SlotRef, (PortRef, Nid)>,
    fabric: &Fabric,
) -> Result<(), LnetError> {
    for (slot, (port, _)) in ports {
        let carriage = carriage(fabric, slot);
        if carriage != Carriage::Data {
            let event = event(carriage);
            let port = port.clone();
            lnet.tell(Notice::Port { port, event })?;
        }
    }
    Ok(())
}

fn event(carriage: Carriage) -> PortEvent {
    match carriage {
        Carriage::Data => PortEvent::Active,
        Carriage::Nothing => PortEvent::Error,
        Carriage::Gone => PortEvent::Gone,
    }
}
