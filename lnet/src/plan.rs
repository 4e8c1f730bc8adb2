//! A storage workload to be started, with its nodes, interfaces and ports resolved.

use platforms::{NodeName, PortRef, SlotRef};

use super::{nid::Nid, profile::LnetProfile, route::RouteSpec, storage::Patience};

/// Clients that write to one server, directly or through routers.
#[derive(Clone, Debug)]
pub struct StoragePlan {
    /// The profile of every node.
    pub profile: LnetProfile,
    /// The nodes with their interfaces, including the server and the routers.
    pub nodes: Vec<NodePlan>,
    /// The nodes that write.
    pub clients: Vec<NodeName>,
    /// The node that they write to.
    pub server: NodeName,
    /// The intervals and timeouts.
    pub patience: Patience,
    /// Whether a trace is recorded ([`Lnet::trace`](crate::Lnet::trace)).
    pub traced: bool,
}

/// A node on LNet.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Its name.
    pub name: NodeName,
    /// Its interfaces, the primary one first.
    pub nis: Vec<NiPlan>,
    /// Whether it forwards messages.
    pub routing: bool,
    /// Whether it discovers its peers (`lnetctl set discovery`).
    pub discovery: bool,
    /// Its routes to nets that it is not on.
    pub routes: Vec<RouteSpec>,
}

/// An LNet interface on a port.
#[derive(Clone, Debug)]
pub struct NiPlan {
    /// The port.
    pub slot: SlotRef,
    /// The port by its name at rest.
    pub port: PortRef,
    /// Its NID.
    pub nid: Nid,
    /// Its net device.
    pub interface: String,
}
