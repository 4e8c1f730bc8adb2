//! The protocols that a monitor may speak. A further one is an adapter in a file of its own, with a
//! variant and a row here, and a transport in `harness`.
//!
//! Start at [`Adapter`].

use proto::HealthEvents;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use terms::EventField;

use crate::{Call, Observation, platform_connector::PlatformConnector, promises::Wire};

/// A protocol.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Calls of NVSentinel's platform connector over gRPC.
    #[default]
    PlatformConnector,
    /// Lines of the monitor's own output.
    Lines,
    /// The exit code of a program that is run again and again, or what it asks Slurm for.
    ExitCode,
    /// Files with metrics for a textfile collector.
    Textfile,
    /// A page with metrics.
    Scrape,
    /// A page in JSON.
    HttpJson,
    /// Prometheus' alert rules over a page with metrics.
    PrometheusRules,
}

impl Protocol {
    /// The adapter of the protocol.
    #[must_use]
    pub fn adapter(self) -> &'static dyn Adapter {
        match self {
            Self::PlatformConnector => &PlatformConnector,
            Self::Lines
            | Self::ExitCode
            | Self::Textfile
            | Self::Scrape
            | Self::HttpJson
            | Self::PrometheusRules => &NoContract,
        }
    }

    /// Its word in a descriptor.
    #[must_use]
    pub fn word(self) -> String {
        let word = serde_json::to_value(self).expect("a protocol is a word");
        word.as_str().unwrap_or_default().to_owned()
    }

    /// Whether a monitor calls somebody who can refuse, or be away.
    #[must_use]
    pub fn has_connector(self) -> bool {
        self == Self::PlatformConnector
    }
}

/// The adapter of protocols that have no contract for single statements, and no health events.
struct NoContract;

impl Adapter for NoContract {
    fn breaches<'c>(&self, _: &'c Call, _: &Contract<'_>) -> Vec<Breach<'c>> {
        Vec::new()
    }

    fn health_events(&self, _: &Call) -> Option<HealthEvents> {
        None
    }
}

/// Operations on the calls of one protocol.
pub trait Adapter {
    /// Everything in a call that violates the wire contract, in order.
    fn breaches<'c>(&self, call: &'c Call, contract: &Contract<'_>) -> Vec<Breach<'c>>;

    /// The health events of a call, for the cluster and the store; `None` if the protocol has none, so
    /// that expectations on the cluster do not apply.
    fn health_events(&self, call: &Call) -> Option<HealthEvents>;
}

/// The contract that a monitor's calls are checked against.
#[derive(Clone, Copy, Debug)]
pub struct Contract<'a> {
    /// The node of the monitor.
    pub node: &'a str,
    /// The names of the checks that run, as the monitor has them.
    pub checks: &'a [&'a str],
    /// The processing strategies that are allowed, by their names on the wire.
    pub strategies: &'a [&'a str],
    /// What the monitor promises; `None` if it promises nothing about the wire.
    pub wire: Option<&'a Wire>,
}

/// A violation of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach<'c> {
    /// The field that violates it.
    pub field: EventField,
    /// The description.
    pub what: String,
    /// The observation that violates it; `None` for the call as a whole.
    pub observation: Option<&'c Observation>,
}
