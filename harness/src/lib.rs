//! Arms, lockstep, mock connector, judge, run folder.
//!
//! The harness needs both what is so and what was said: it puts a story on stage ([`Director`]),
//! lets a monitor play against it in memory or as a process, records what it says
//! ([`Recording`]), and judges that. No monitor is known by name here: each is a [`Descriptor`].
//! Start at [`Director`] and [`Recording`].

mod compare;
mod connector;
mod consequences;
mod descriptor;
mod director;
mod drill;
mod drill_page;
mod golden;
mod inquiry;
mod judge;
mod lone;
mod memory;
mod recording;
mod replay;
mod still;
mod turn;

pub mod capture;
pub mod help_pages;
pub mod incident;
mod link_page;
mod lnet_page;
pub mod platform_check;
pub mod platform_pages;
#[cfg(feature = "process")]
pub mod process;
pub mod read_files;
pub mod run_folder;
#[cfg(feature = "process")]
pub mod sandbox;
pub mod schema;
#[cfg(feature = "store")]
pub mod store;
pub mod suite;
#[cfg(feature = "zoo")]
pub mod zoo;

pub use compare::{Difference, compare};
pub use connector::{ConnectorScript, Reaction, Socket, UNAVAILABLE, code_word};
pub use consequences::{Consequences, Fault, Standing, TickMade};
pub use descriptor::{
    ClockKind, Descriptor, Differences, Drains, Filling, PollUnit, SHIPPED, STATE_FILE, Vocabulary,
    check_names,
};
pub use director::{
    CLASS_INFINIBAND, CallDo, ChairAct, ChairPlan, ComparedCard, Director, Faces, FunctionFace,
    Interface, LinkTruth, MomentDo, MonitorId, NodeTruth, PortFace, RunningWorkloads, StageError,
    TickPlan, TickTruth, Trees, Truth, WRITABLE, WorkloadError,
};
pub use drill::{DrillResult, MemoryPlayer, Player, arm_name, play};
pub use drill_page::drill_page;
pub use golden::{GoldenDifference, bless, golden_difference, golden_file, trace};
pub use judge::{Judgement, WorkloadVerdict, event_line, judge, verdict_on};
pub use link_page::{LinkPageError, link_page};
pub use lnet_page::{LnetAsked, LnetPageError, lnet_page};
pub use memory::{Played, play_in_memory};
pub use recording::{Answers, Broken, Call, ChairTick, Exit, Reads, Recording, Series, Tick};
pub use replay::{ReplayError, replay};
pub use scenarios::Story;
pub use still::{StillError, still};
pub use turn::Turn;
