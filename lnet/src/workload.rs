//! Storage as a [`Workload`]: an LNet, its clients, and their ports.

use std::collections::BTreeMap;

use fabric::{Carriage, CarriageChange, Fabric};
use platforms::{NodeName, PortRef, SlotRef};
use simfs::SimTime;
use workloads::{Workload, WorkloadCause, WorkloadStats};

use super::{
    error::LnetError,
    network::Lnet,
    ni::{NiSpec, Recovery},
    nid::Nid,
    node::NodeSpec,
    plan::StoragePlan,
    stats::NiStats,
    storage::Storage,
    wire::{Notice, PortEvent, Timing},
};

/// Seed for the random choices of rules; the same for every story.
const SEED: u64 = 1;

/// Clients that write to a server over LNet, on a fabric's ports.
#[derive(Clone, Debug)]
pub struct StorageWorkload {
    lnet: Lnet,
    clients: Vec<Storage>,
    ports: BTreeMap<SlotRef, (PortRef, Nid)>,
}

/// A node's view of an LNet interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NiView {
    /// Whether its status is up; for a peer's, whether the peer reports it up.
    pub up: bool,
    /// The fatal flag; `None` for a peer's, which is not known.
    pub fatal: Option<bool>,
    /// Its health, 0 to 1000.
    pub health: u16,
    /// Its state on the recovery queue.
    pub recovery: Recovery,
}

impl StorageWorkload {
    /// Starts at the fabric's present time.
    ///
    /// # Errors
    /// [`LnetError`] for a network that LNet rejects.
    pub fn start(plan: &StoragePlan, fabric: &Fabric) -> Result<Self, LnetError> {
        let specs = plan.nodes.iter().map(|node| NodeSpec {
            name: node.name.clone(),
            profile: plan.profile,
            routing: node.routing,
            discovery: node.discovery,
            nis: node
                .nis
                .iter()
                .map(|ni| NiSpec::new(ni.nid.clone(), ni.port.clone(), &ni.interface))
                .collect(),
            routes: node.routes.clone(),
        });
        let mut lnet = Lnet::new(specs.collect(), Timing::default(), SEED)?;
        if plan.traced {
            lnet.record();
        }
        let nis = plan.nodes.iter().flat_map(|node| &node.nis);
        let ports = nis
            .map(|ni| (ni.slot.clone(), (ni.port.clone(), ni.nid.clone())))
            .collect();
        let clients = plan
            .clients
            .iter()
            .map(|client| Storage::new(&lnet, client, &plan.server, plan.patience))
            .collect::<Result<_, _>>()?;
        note_dark_ports(&mut lnet, &ports, fabric);
        Ok(Self {
            lnet,
            clients,
            ports,
        })
    }

    /// The LNet of the clients.
    #[must_use]
    pub fn lnet(&self) -> &Lnet {
        &self.lnet
    }

    /// The LNet of the clients, mutable.
    pub fn lnet_mut(&mut self) -> &mut Lnet {
        &mut self.lnet
    }

    /// The interface on a port, in the view of its own node or of the peer `seen_from`. `None` if there is none on the
    /// port, or `seen_from` does not know it.
    #[must_use]
    pub fn ni(&self, seen_from: &NodeName, slot: &SlotRef) -> Option<NiView> {
        let (_, nid) = self.ports.get(slot)?;
        let node = self.lnet.node(seen_from)?;
        if let Some(ni) = node.ni(nid) {
            return Some(NiView {
                up: node.is_up(ni),
                fatal: Some(ni.fatal),
                health: ni.health.value(),
                recovery: ni.recovery,
            });
        }
        let ni = node.peer_ni(nid)?;
        Some(NiView {
            up: !ni.reported_down,
            fatal: None,
            health: ni.health.value(),
            recovery: ni.recovery,
        })
    }

    /// The counters of the interface on a port, in the same view.
    #[must_use]
    pub fn ni_stats(&self, seen_from: &NodeName, slot: &SlotRef) -> Option<&NiStats> {
        let (_, nid) = self.ports.get(slot)?;
        let node = self.lnet.node(seen_from)?;
        let own = node.ni(nid).map(|ni| &ni.stats);
        own.or_else(|| node.peer_ni(nid).map(|ni| &ni.stats))
    }
}

impl Workload for StorageWorkload {
    fn ports(&self) -> impl Iterator<Item = &SlotRef> {
        self.ports.keys()
    }

    /// LNet's actions at the instant of the change come after it.
    fn port_changed(&mut self, slot: &SlotRef, change: CarriageChange) {
        if let Some(before) = change.at.before() {
            self.advance(before);
        }
        let port = self.ports[slot].0.clone();
        note_port(&mut self.lnet, port, event(change.carriage));
    }

    fn advance(&mut self, to: SimTime) {
        Storage::advance_all(&mut self.clients, &mut self.lnet, to);
    }

    fn node_goes(&mut self, node: &NodeName, _: SimTime) {
        if self.set_loaded(node, false) {
            for (_, (port, _)) in self.ports.iter().filter(|(slot, _)| slot.node == *node) {
                note_port(&mut self.lnet, port.clone(), PortEvent::Lost);
            }
        }
    }

    fn node_returns(&mut self, node: &NodeName, fabric: &Fabric) {
        for (slot, (port, _)) in self.ports.iter().filter(|(slot, _)| slot.node == *node) {
            if carried(fabric, slot) == Carriage::Data {
                note_port(&mut self.lnet, port.clone(), PortEvent::Active);
            }
        }
        self.set_loaded(node, true);
    }

    /// The worst of its clients' outcomes, the first of their failures, and the sums of the counters.
    fn stats(&self) -> WorkloadStats {
        let mut stats = WorkloadStats::default();
        for report in self.clients.iter().map(Storage::report) {
            stats.outcome = stats.outcome.max(report.outcome());
            stats.errors += report.errors;
            stats.retries += report.retries;
            stats.done += report.answered;
            if let Some(at) = report.failed_at()
                && stats.failed_at.is_none_or(|first| at < first)
            {
                stats.failed_at = Some(at);
                stats.cause = Some(if report.evicted_at == Some(at) {
                    WorkloadCause::Evicted
                } else {
                    WorkloadCause::Unanswered
                });
            }
        }
        stats
    }
}

impl StorageWorkload {
    /// Loads or unloads a node's LNet; returns whether the node has one.
    fn set_loaded(&mut self, node: &NodeName, loaded: bool) -> bool {
        let node = node.clone();
        self.lnet.notify(Notice::Node { node, loaded }).is_ok()
    }
}

fn note_port(lnet: &mut Lnet, port: PortRef, event: PortEvent) {
    let noted = lnet.notify(Notice::Port { port, event });
    noted.expect("of a port LNet refuses nothing");
}

/// Notifies an LNet of those of its ports that carry nothing.
fn note_dark_ports(lnet: &mut Lnet, ports: &BTreeMap<SlotRef, (PortRef, Nid)>, fabric: &Fabric) {
    for (slot, (port, _)) in ports {
        let carriage = carried(fabric, slot);
        if carriage != Carriage::Data {
            note_port(lnet, port.clone(), event(carriage));
        }
    }
}

/// What a port carries; nothing for an unknown port.
fn carried(fabric: &Fabric, slot: &SlotRef) -> Carriage {
    fabric.carriage(slot).unwrap_or(Carriage::Gone)
}

fn event(carriage: Carriage) -> PortEvent {
    match carriage {
        Carriage::Data => PortEvent::Active,
        Carriage::Nothing => PortEvent::Error,
        Carriage::Gone => PortEvent::Gone,
    }
}
