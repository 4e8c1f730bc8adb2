//! The protocols that a monitor may speak, one file each. A further one is a file with its [`Facts`] and its part of a
//! descriptor, a variant and two rows here, and the part's key in `descriptor.rs`.
//!
//! Start at [`Protocol::facts`] and [`Adapter`](crate::Adapter).

use proto::HealthEvents;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Breach, Call, Contract, Facts, Medium};

mod exit_code;
mod http_json;
mod lines;
pub mod platform_connector;
mod prometheus;
mod scrape_page;
mod textfile;

pub use exit_code::ExitCodes;
pub use http_json::HttpJson;
pub use lines::{LineRule, Lines};
pub use prometheus::{AlertRow, AlertRows, Meaning, Prometheus};
pub use scrape_page::ScrapePage;
pub use textfile::{Textfile, TextfileProgram, Textfiles};

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
    /// All, in the order in which their parts of a descriptor are judged.
    pub const ALL: [Self; 7] = [
        Self::PlatformConnector,
        Self::Lines,
        Self::ExitCode,
        Self::Textfile,
        Self::Scrape,
        Self::HttpJson,
        Self::PrometheusRules,
    ];

    /// What is known of the protocol, whatever a descriptor says.
    #[must_use]
    pub fn facts(self) -> &'static Facts {
        match self {
            Self::PlatformConnector => &platform_connector::FACTS,
            Self::Lines => &lines::FACTS,
            Self::ExitCode => &exit_code::FACTS,
            Self::Textfile => &textfile::FACTS,
            Self::Scrape => &scrape_page::FACTS,
            Self::HttpJson => &http_json::FACTS,
            Self::PrometheusRules => &prometheus::FACTS,
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
        self.facts().medium == Medium::Calls
    }
    /// Everything in a call that violates the wire contract, in order.
    #[must_use]
    pub fn breaches<'c>(self, call: &'c Call, contract: &Contract<'_>) -> Vec<Breach<'c>> {
        match self.has_connector() {
            true => platform_connector::breaches(call, contract),
            false => Vec::new(),
        }
    }

    /// The health events of a call, for the cluster and the store; `None` if the protocol has none, so
    /// that expectations on the cluster do not apply.
    #[must_use]
    pub fn health_events(self, call: &Call) -> Option<HealthEvents> {
        self.has_connector()
            .then(|| platform_connector::batch(call))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_word_of_speaks_is_among_all() {
        let schema = schemars::schema_for!(Protocol);
        let words = schema.get("oneOf").and_then(|all| all.as_array());
        let words: BTreeSet<&str> = words
            .expect("a protocol is one of some words")
            .iter()
            .filter_map(|one| one.get("const")?.as_str())
            .collect();
        let all = Protocol::ALL.map(Protocol::word);
        assert_eq!(
            all.iter().map(String::as_str).collect::<BTreeSet<_>>(),
            words
        );
    }
}
