//! A job that is to be started: its hosts, rails and ports, all found in a world.

use std::net::Ipv4Addr;

use platforms::{LinkLayer, NodeName, PortRef, SlotRef};

use super::{PerRail, Profile, Retries, SupBandwidth, Traffic};

/// A collective job.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// Whose behaviour it shows.
    pub profile: Profile,
    /// Its hosts.
    pub hosts: Vec<HostPlan>,
    /// Who sends to whom, by places in `hosts`.
    pub edges: Vec<(usize, usize)>,
    /// What, and how often.
    pub traffic: Traffic,
    /// How many tries a write gets.
    pub retries: Retries,
}

/// A host of a job.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Its name.
    pub name: NodeName,
    /// Its rails.
    pub rails: PerRail<RailPlan>,
    /// The share of SUP that its agent begins with; `None`: there is no agent.
    pub first_share: Option<SupBandwidth>,
}

/// A rail on a port.
#[derive(Clone, Debug)]
pub struct RailPlan {
    /// The port.
    pub slot: SlotRef,
    /// The same by its name at rest.
    pub port: PortRef,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its link layer.
    pub layer: LinkLayer,
    /// Its speed.
    pub speed_mbps: u32,
}
