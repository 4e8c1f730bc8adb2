//! The seam between links and what runs over them: which port changes a workload hears of, and what becomes of it.
//!
//! A [`Workload`] uses ports; [`Running`] tells each what its ports carry, at the instant at which that changed, and of
//! nodes that go and return. [`WorkloadStats`] says how it fares. A workload names no file, no monitor and no event, and
//! the same changes at the same times give the same stats.
//!
//! It leaves out how a link comes to be down (`fabric`) and how a workload behaves (the crates `lnet` and `mpib`). Start
//! at [`Running`].

mod outcome;
mod running;
mod stats;

pub use outcome::WorkloadOutcome;
pub use running::{Running, Workload};
pub use stats::{Cause, WorkloadStats};
