//! A job to be started, with its hosts, rails and ports resolved.

use std::{collections::BTreeMap, net::Ipv4Addr};

use platforms::{LinkLayer, NodeName, PortRef, SlotRef};

use super::{Gid, JobTraffic, MpibProfile, PerRail, Retries, SupBandwidth};

/// A collective job.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// The modelled behaviour.
    pub profile: MpibProfile,
    /// Its hosts.
    pub hosts: Vec<HostPlan>,
    /// Sender and receiver of each edge, as indexes into `hosts`.
    pub edges: Vec<(usize, usize)>,
    /// Sizes and times of messages.
    pub traffic: JobTraffic,
    /// The number of tries of a write.
    pub retries: Retries,
    /// The exponent of a try's timeout, 4.096 µs × 2^exponent; 0 to 31. The plugin sets
    /// [`ACK_TIMEOUT_EXPONENT`](crate::ACK_TIMEOUT_EXPONENT).
    pub timeout_exponent: u8,
    /// The depth of the send queue for clear-to-send of a connection, in writes.
    pub cts_queue_depth: u32,
}

/// A host of a job.
#[derive(Clone, Debug)]
pub struct HostPlan {
    /// Its name.
    pub name: NodeName,
    /// Its rails.
    pub rails: PerRail<RailPlan>,
    /// Its SOUT GID; the IPv4-mapped one of the rail's address if `None`, as at index 3 of an Ethernet port.
    pub sout_gid: Option<Gid>,
    /// Variables of its rank's environment, beside those that name its devices.
    pub environment: BTreeMap<String, String>,
    /// The initial share of SUP; there is no agent if `None`.
    pub first_share: Option<SupBandwidth>,
}

/// A rail on a port.
#[derive(Clone, Debug)]
pub struct RailPlan {
    /// The port.
    pub slot: SlotRef,
    /// The port by its name at rest.
    pub port: PortRef,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its link layer.
    pub layer: LinkLayer,
    /// Its speed in Mbit/s.
    pub speed_mbps: u32,
}
