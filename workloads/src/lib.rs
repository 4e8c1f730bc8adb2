//! Workloads: what LNet storage traffic and MPIB collective traffic feel when links change.
//!
//! [`lnet`] models LNet Health (the "LNet Health HLD" and what Lustre built of it); [`mpib`] models
//! the two-rail transport of "Baseline: Isolated Path Separation". Each is told what its ports can
//! carry and what time it is, by an [`Underway`] in a world; neither knows a file, a monitor or an event. The same calls at the same
//! times give the same answers.
//!
//! It leaves out how a link comes to be down (`fabric`) and what a story expects (`scenarios`).

mod fate;
pub mod lnet;
pub mod mpib;
mod underway;

pub use fate::Fate;
pub use underway::{
    AgentDeed, Cause, Fared, HostPlan, JobPlan, LoadDeed, LoadError, NiFared, NiPlan, NodePlan,
    Plan, RailPlan, StoragePlan, Underway,
};
