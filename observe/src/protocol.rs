//! The protocols that a monitor may speak. A further one is an adapter in a file of its own, a variant
//! and a row here; how it reaches the harness is the harness's.
//!
//! Start at [`Adapter`].

use proto::HealthEvents;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Call, Observation, platform_connector::PlatformConnector};

/// What a monitor speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Calls of NVSentinel's platform connector over gRPC.
    #[default]
    PlatformConnector,
}

impl Protocol {
    /// What knows the protocol's own form.
    #[must_use]
    pub fn adapter(self) -> &'static dyn Adapter {
        match self {
            Self::PlatformConnector => &PlatformConnector,
        }
    }
}

/// What is known of a call of one protocol beyond its observations.
pub trait Adapter {
    /// Everything in a call that breaks the contract of the protocol's wire, in order.
    fn breaches<'c>(&self, call: &'c Call, contract: &Contract<'_>) -> Vec<Breach<'c>>;

    /// The health events of a call, for a cluster and a store that take nothing else; `None` where
    /// the protocol has none, and what follows from them does not apply.
    fn health_events(&self, call: &Call) -> Option<HealthEvents>;
}

/// What the calls of a monitor are held against.
#[derive(Clone, Copy, Debug)]
pub struct Contract<'a> {
    /// The node that the monitor watches.
    pub node: &'a str,
    /// The names of the checks that run.
    pub checks: &'a [&'a str],
    /// The processing strategies that it may state, by their names on the wire.
    pub strategies: &'a [&'a str],
}

/// Something that breaks the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach<'c> {
    /// What is wrong.
    pub what: String,
    /// The observation that it is wrong of; `None` for the call as a whole.
    pub observation: Option<&'c Observation>,
}
