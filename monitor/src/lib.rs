//! The reference monitor's hands: files, clocks, socket, signals, HTTP.
//!
//! Everything that is judged is judged in `checks`; here it is carried out. [`run`] is the whole
//! program: it reads the command line, starts the agent, and loops over polls until it is told to
//! stop, while a thread of its own answers `/metrics` and `/healthz`.

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

/// Runs a monitor with a command line, the program's name first; [`Variant::RIGHT`] is the reference
/// monitor. Ends with 0 when it was told to stop, 1 when it refuses to start, 2 when the command line
/// makes no sense.
pub fn run(args: impl IntoIterator<Item = OsString>, variant: Variant) -> ExitCode {
    life::live(args, variant)
}
