//! Errors of LNet.

use std::borrow::Cow;

use platforms::NodeName;

use super::{nid::Nid, params::ParamError, rule::RuleError};

const GATEWAY_HINT: &str = "a gateway routes, and is on a net of the node";
const HEALTH_HINT: &str = "0 to 1000";

/// Why LNet rejects a network or a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LnetError {
    /// Two nodes with the same name.
    #[error("there are two nodes `{0}`")]
    NodeTwice(NodeName),
    /// Two interfaces with the same NID.
    #[error("there are two interfaces `{0}`")]
    NidTwice(Nid),
    /// A node without an interface.
    #[error("node `{0}` has no interface")]
    NoInterface(NodeName),
    /// A route through a node that does not exist or does not forward.
    #[error("`{gateway}` is not a gateway of node `{node}`\nhint: {GATEWAY_HINT}")]
    NotAGateway {
        /// The node with the route.
        node: NodeName,
        /// The gateway.
        gateway: Nid,
    },
    /// No node with this name.
    #[error("there is no node `{0}`")]
    NoNode(NodeName),
    /// LNet is not loaded on this node.
    #[error("the LNet of node `{0}` is not loaded")]
    NotLoaded(NodeName),
    /// No interface with this NID, here or at a peer.
    #[error("node `{node}` knows no interface `{nid}`")]
    NoNi {
        /// The node.
        node: NodeName,
        /// The NID.
        nid: Nid,
    },
    /// A health value above 1000.
    #[error("a health value cannot be {0}\nhint: {HEALTH_HINT}")]
    NoHealth(u16),
    /// A parameter is rejected.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A rule is rejected.
    #[error(transparent)]
    Rule(#[from] RuleError),
}

impl LnetError {
    /// A hint; `None` if the error needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::NotAGateway { .. } => Some(GATEWAY_HINT.into()),
            Self::NoHealth(_) => Some(HEALTH_HINT.into()),
            Self::Param(error) => Some(error.hint()),
            Self::Rule(error) => Some(error.hint().into()),
            Self::NodeTwice(_)
            | Self::NidTwice(_)
            | Self::NoInterface(_)
            | Self::NoNode(_)
            | Self::NotLoaded(_)
            | Self::NoNi { .. } => None,
        }
    }
}
