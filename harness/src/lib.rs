//! The process arm and the runner: mounts, processes, sockets, many drills, the run folder.
//!
//! A [`Player`] plays a drill in memory or with a process, and [`play`] judges it; a run is many
//! drills ([`suite`]). This crate knows no monitor by name: each is a [`observe::Descriptor`].
//! Start at [`play`] and [`suite::run`].

mod counter_names;
mod drill;
mod golden;
mod interruption;
mod lacking;
mod outages;
mod repeat;
mod replay;
mod shared_trees;
mod still;
mod turn;

pub mod alert_rules;
pub mod check;
pub mod descriptors;
pub mod mix;
pub mod near;
pub mod needs;
pub mod process;
pub mod read_files;
pub mod run_folder;
pub mod sandbox;
pub mod suite;

pub use drill::{DrillResult, MemoryPlayer, Player, WrongMonitor, play, play_for};
pub use golden::bless;
pub use interruption::{Interruption, on_interruption};
pub use replay::{ReplayError, replay};
pub use shared_trees::SharedTrees;
pub use turn::Turn;
