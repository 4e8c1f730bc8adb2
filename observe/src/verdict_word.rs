//! A severity as a descriptor writes it.

use schemars::JsonSchema;
use serde::Deserialize;
use terms::Severity;

/// What a line can say about its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictWord {
    /// It is healthy, or healthy again.
    Healthy,
    /// It has a fault, and work goes on.
    NonFatal,
    /// It has a fault, and work that uses it fails.
    Fatal,
    /// Nothing is known about it: neither an alarm nor an all-clear.
    Unknown,
}

impl From<VerdictWord> for Severity {
    fn from(verdict: VerdictWord) -> Self {
        match verdict {
            VerdictWord::Healthy => Self::Healthy,
            VerdictWord::NonFatal => Self::NonFatal,
            VerdictWord::Fatal => Self::Fatal,
            VerdictWord::Unknown => Self::Unknown,
        }
    }
}
