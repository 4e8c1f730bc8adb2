//! Runs many drills: selection, distribution to jobs, and reporting of results.
//!
//! [`select`] computes the drills of a run, [`run`] plays them and reports to an [`Audience`],
//! which writes files. One drill is played and judged by [`crate::play`].

mod artifacts;
mod checking;
mod comparing;
mod cover;
mod coverage;
mod estimate;
mod filter;
mod interview;
mod jobs;
mod judged;
mod keeping;
mod no_process_arm;
mod pairs;
mod pasted;
mod play_error;
mod probing;
mod processes;
mod refusing;
mod run;
mod shard;
mod valuable;

pub use checking::{CheckedLine, CheckedScenario, Checking, NeverJudged, NotShown, check_lines};
pub use comparing::{Common, Compared, choose_common, hear};
pub use coverage::{Covering, coverage};
pub use estimate::{Estimate, estimate};
pub use filter::{Filter, FilterError, Seen};
pub use interview::{Interviewing, interview};
pub(crate) use judged::descriptor_file;
pub use judged::{judged_by, judged_exit_code};
pub use no_process_arm::NoProcessArm;
pub use pairs::{Ask, SelectError, Selected, select, story};
pub use pasted::{pasted, run_again, show_again};
pub use play_error::PlayError;
pub use probing::Probed;
pub use processes::Starting;
pub use run::{Audience, How, Joined, Players, ProcessArm, merge, run};
pub use shard::{Shard, ShardError};
pub use valuable::Before;
pub(crate) use valuable::{contents_here, names_in_contents};
