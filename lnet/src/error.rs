//! Why LNet refused.

use platforms::NodeName;

use super::{nid::Nid, params::ParamError, rule::RuleError};

/// Why there is no such network, node or interface.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LnetError {
    /// Two nodes of a name.
    #[error("there are two nodes `{0}`")]
    NodeTwice(NodeName),
    /// Two interfaces of a name.
    #[error("there are two interfaces `{0}`")]
    NidTwice(Nid),
    /// A node without an interface.
    #[error("node `{0}` has no interface")]
    NoInterface(NodeName),
    /// A route through nobody, or through a node that passes nothing on.
    #[error(
        "`{gateway}` is no way out of node `{node}`\nhint: a gateway routes, and is on a net of the node"
    )]
    NotAGateway {
        /// Whose route.
        node: NodeName,
        /// Through whom.
        gateway: Nid,
    },
    /// No node of a name.
    #[error("there is no node `{0}`")]
    NoNode(NodeName),
    /// A node's LNet is not loaded.
    #[error("the LNet of node `{0}` is not loaded")]
    NotLoaded(NodeName),
    /// No interface of a name, here or at a peer.
    #[error("node `{node}` knows no interface `{nid}`")]
    NoNi {
        /// Who was asked.
        node: NodeName,
        /// For what.
        nid: Nid,
    },
    /// A health value beyond 1000.
    #[error("a health value cannot be {0}\nhint: 0 to 1000")]
    NoHealth(u16),
    /// A parameter that was refused.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A rule that was refused.
    #[error(transparent)]
    Rule(#[from] RuleError),
}
