//! The reaction of a cluster to health events: node conditions, cordons and releases, and the events
//! of correlation rules.
//!
//! This crate reads texts and events and returns the consequences; it opens no file, reads no clock
//! and sends nothing. It implements NVSentinel's platform connector, fault quarantine and health
//! events analyzer, with their older behaviour as profiles. Drain and remediation, which follow a
//! cordon, are not modelled.

pub mod batch;
pub mod condition;
mod entry;
pub mod kernel_log;
mod kube_event;
pub mod message;
pub mod quarantine;
pub mod recorded;
pub mod rules;
mod stamp;
mod whole;

pub use condition::{Change, Condition, Conditions};
pub use entry::{Clearing, EntityRule};
pub use kube_event::{KubeEventKey, KubeEvents, Sightings};
pub use quarantine::{Breaker, Quarantine, Ruleset, Rulesets, Verdict};
pub use stamp::{Stamp, StampError};
pub use whole::{Cluster, Consequence, ConsequenceKind};
