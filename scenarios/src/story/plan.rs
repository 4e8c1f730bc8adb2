//! The workloads that a story starts, and what it does to them.

use lnet::{FaultRule, StoragePlan};
use mpib::{AgentAction, JobPlan};
use platforms::NodeName;

/// A workload to be begun.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Storage traffic over LNet.
    Storage(StoragePlan),
    /// A collective job over MPIB.
    Job(JobPlan),
}

/// Something done to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkloadAction {
    /// A fault that LNet makes itself.
    Rule {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
        /// Which fault.
        rule: Box<FaultRule>,
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
        action: AgentAction,
    },
}

impl WorkloadAction {
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
