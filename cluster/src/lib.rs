//! What a cluster makes of health events: which node conditions stand, whether a node is cordoned and
//! released again, and what the correlation rules say.
//!
//! The room reads texts and events and returns what follows from them; it opens no file, asks no
//! clock and sends nothing. Behaviour is NVSentinel's platform connector, fault quarantine and health
//! events analyzer, with their older behaviour as profiles. Left out: drain and remediation, which
//! begin where a cordon ends.

pub mod batch;
pub mod condition;
pub mod entry;
pub mod kernel_log;
pub mod kube_event;
pub mod message;
pub mod quarantine;
pub mod recorded;
pub mod rules;
pub mod stamp;
mod whole;

pub use condition::{Change, Condition, Conditions};
pub use entry::{Clearing, EntityRule};
pub use kube_event::{KubeEventKey, KubeEvents, Sightings};
pub use quarantine::{Breaker, Quarantine, Ruleset, Rulesets, Verdict};
pub use stamp::{Stamp, StampError};
pub use whole::{Cluster, Consequence, ConsequenceKind};
