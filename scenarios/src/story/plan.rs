//! The workloads that a story starts, and its actions on them.

use lnet::{FaultRule, StoragePlan};
use mpib::{AgentAction, JobPlan};
use platforms::NodeName;

/// A workload to be started.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Storage traffic over LNet.
    Storage(StoragePlan),
    /// A collective job over MPIB.
    Job(JobPlan),
}

/// An action on a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkloadAction {
    /// A fault rule of LNet itself.
    Rule {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
        /// The rule.
        rule: Box<FaultRule>,
    },
    /// Removes such rules from a node.
    NoRules {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
    },
    /// An action on a host's agent.
    Agent {
        /// Which workload.
        workload: String,
        /// On which node.
        node: NodeName,
        /// The action.
        action: AgentAction,
    },
}

impl WorkloadAction {
    /// The name of the workload.
    #[must_use]
    pub fn workload(&self) -> &str {
        match self {
            Self::Rule { workload, .. }
            | Self::NoRules { workload, .. }
            | Self::Agent { workload, .. } => workload,
        }
    }
}
