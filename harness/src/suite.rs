//! Many drills: which they are, where each is played, and how the run is told.
//!
//! [`select`] makes drills of what was asked for, [`run`] plays them and tells an [`Audience`]. How
//! one drill is played and judged is not known here: that is [`crate::play`]. Files are written by
//! the audience.

mod artifacts;
mod cover;
mod coverage;
mod filter;
mod jobs;
mod pairs;
mod processes;
mod refusing;
mod repeat;
mod run;
mod shard;

pub use coverage::{Covering, coverage};
pub use filter::{Filter, FilterError, Glob, Seen};
pub use pairs::{Ask, SelectError, Selected, select, story};
pub use processes::Starting;
pub use run::{Audience, How, Players, ProcessArm, run};
pub use shard::{Shard, ShardError};
