//! The workloads that a story starts, and its actions on them.

use lnet::{FaultRule, Nid, Param, Request, Side, StoragePlan};
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
        /// The name that the world gives it.
        workload: String,
        /// The node on which it acts.
        node: NodeName,
        /// The rule.
        rule: Box<FaultRule>,
    },
    /// Removes such rules from a node.
    NoRules {
        /// The name that the world gives it.
        workload: String,
        /// The node on which it acts.
        node: NodeName,
    },
    /// Sets a parameter of a node's LNet.
    LnetParam {
        /// The name that the world gives it.
        workload: String,
        /// The node on which it acts.
        node: NodeName,
        /// The parameter.
        param: Param,
        /// Its new value.
        value: i64,
    },
    /// Changes an interface in the view of a node.
    LnetNi {
        /// The name that the world gives it.
        workload: String,
        /// Whose view.
        node: NodeName,
        /// Whether it is the node's own or a peer's.
        side: Side,
        /// The interface.
        nid: Nid,
        /// The change.
        change: NiChange,
    },
    /// A single request by hand.
    LnetSend {
        /// The name that the world gives it.
        workload: String,
        /// The request, with the node that sends it.
        request: Request,
    },
    /// An action on a host's agent.
    Agent {
        /// The name that the world gives it.
        workload: String,
        /// The node on which it acts.
        node: NodeName,
        /// The action.
        action: AgentAction,
    },
}

/// A change of an LNet interface by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NiChange {
    /// Its health, 0 to 1000 (`lnetctl net set --health`, `lnetctl peer set --health`).
    Health(u16),
    /// Its priority; a lower one is preferred (`--priority`).
    Priority(u32),
}

impl WorkloadAction {
    /// The name of the workload.
    #[must_use]
    pub fn workload(&self) -> &str {
        match self {
            Self::Rule { workload, .. }
            | Self::NoRules { workload, .. }
            | Self::LnetParam { workload, .. }
            | Self::LnetNi { workload, .. }
            | Self::LnetSend { workload, .. }
            | Self::Agent { workload, .. } => workload,
        }
    }
}
