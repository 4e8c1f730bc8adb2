//! What is to run in a world, and what can be done to it: everything found, nothing begun.

use std::{collections::BTreeMap, net::Ipv4Addr};

use platforms::{LinkLayer, NodeName, PortRef, SlotRef};

use crate::{
    lnet::{Nid, Patience, RuleSpec},
    mpib::{PerRail, Rail, Retries, SupBandwidth, Traffic},
};

/// A workload to be begun.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Storage traffic over LNet.
    Storage(StoragePlan),
    /// A collective job over MPIB.
    Job(JobPlan),
}

/// Clients that write to one server.
#[derive(Clone, Debug)]
pub struct StoragePlan {
    /// What every node runs.
    pub profile: crate::lnet::Profile,
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

/// A collective job.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// Whose behaviour it shows.
    pub profile: crate::mpib::Profile,
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

/// Something done to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadDeed {
    /// A fault that LNet makes itself.
    Rule {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
        /// Which fault.
        rule: Box<RuleSpec>,
    },
    /// An end to such faults on a node.
    NoRules {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
    },
    /// Something done to, or by, a host's agent.
    Agent {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
        /// What.
        deed: AgentDeed,
    },
}

/// What an agent does, or what is done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentDeed {
    /// It writes a hint for a pair.
    Hint {
        /// The other host of the pair.
        to: NodeName,
        /// The share.
        share: SupBandwidth,
    },
    /// It dies.
    Dies,
    /// It dies in the middle of a hint for a pair.
    DiesWhileWriting {
        /// The other host of the pair.
        to: NodeName,
    },
}

impl LoadDeed {
    /// The workload that it is about.
    #[must_use]
    pub fn workload(&self) -> &str {
        match self {
            Self::Rule { workload, .. }
            | Self::NoRules { workload, .. }
            | Self::Agent { workload, .. } => workload,
        }
    }
}

impl Plan {
    /// The ports that it uses, each once.
    #[must_use]
    pub fn slots(&self) -> Vec<&SlotRef> {
        let slots: BTreeMap<&SlotRef, ()> = match self {
            Self::Storage(plan) => {
                let nis = plan.nodes.iter().flat_map(|node| &node.nis);
                nis.map(|ni| (&ni.slot, ())).collect()
            }
            Self::Job(plan) => {
                let rails = plan
                    .hosts
                    .iter()
                    .flat_map(|host| Rail::BOTH.map(|rail| &host.rails[rail]));
                rails.map(|rail| (&rail.slot, ())).collect()
            }
        };
        slots.into_keys().collect()
    }
}
