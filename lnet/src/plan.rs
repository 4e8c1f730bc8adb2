//! A storage workload that is to be started: its nodes, interfaces and ports, all found in a world.

use platforms::{NodeName, PortRef, SlotRef};

use super::{nid::Nid, profile::Profile, storage::Patience};

/// Clients that write to one server.
#[derive(Clone, Debug)]
pub struct StoragePlan {
    /// What every node runs.
    pub profile: Profile,
    /// The nodes with their interfaces, the server among them.
    pub nodes: Vec<NodePlan>,
    /// Who writes.
    pub clients: Vec<NodeName>,
    /// To whom.
    pub server: NodeName,
    /// How often, and how patiently.
    pub patience: Patience,
}

/// A node on LNet.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Its name.
    pub name: NodeName,
    /// Its interfaces, the primary one first.
    pub nis: Vec<NiPlan>,
}

/// An LNet interface on a port.
#[derive(Clone, Debug)]
pub struct NiPlan {
    /// The port.
    pub slot: SlotRef,
    /// The same by its name at rest.
    pub port: PortRef,
    /// Its name on LNet.
    pub nid: Nid,
    /// Its net device.
    pub interface: String,
}
