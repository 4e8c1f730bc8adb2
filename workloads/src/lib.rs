//! The interface between links and workloads: the port changes that a workload receives, and its outcome.
//!
//! A [`Workload`] uses ports; [`Running`] passes it the changes of what its ports carry, at the instant of each change,
//! and the nodes that go down and return. [`WorkloadStats`] are its statistics. A workload knows no file, monitor or
//! event, and the same changes at the same times give the same statistics.
//!
//! `fabric` decides when a link is down; the crates `lnet` and `mpib` implement workloads. Start at [`Running`].

mod outcome;
mod running;
mod stats;

pub use outcome::WorkloadOutcome;
pub use running::{Running, Workload};
pub use stats::{WorkloadCause, WorkloadStats};
