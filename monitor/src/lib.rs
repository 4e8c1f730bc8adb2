//! The I/O of the reference monitor: files, clocks, socket, signals, HTTP.
//!
//! `checks` decides; this crate carries it out. [`run`] is the whole program: it reads the command
//! line, starts the agent, and polls until it receives SIGTERM or SIGINT. A separate thread answers
//! `/metrics` and `/healthz`.

mod alive;
mod cli;
mod clock;
mod connector;
mod disk;
mod exposition;
mod hands;
mod life;
mod log;
mod reader;
mod server;
mod shared_status;
mod stop;

use std::ffi::OsString;
use std::process::ExitCode;

use checks::Variant;

pub use hands::FileHands;

/// Runs a monitor with a command line, the program's name first; [`Variant::RIGHT`] is the
/// reference monitor. Returns 0 after SIGTERM or SIGINT, 1 if it refuses to start, 2 if the command
/// line is invalid.
pub fn run(args: impl IntoIterator<Item = OsString>, variant: Variant) -> ExitCode {
    life::live(args, variant)
}
