//! The reference monitor as a program of its own, which takes less time to build than the whole command:
//! `zoo/patches/run` builds it with one patch after the other.

use std::env;
use std::process::ExitCode;

use checks::Variant;

fn main() -> ExitCode {
    monitor::run(env::args_os(), Variant::RIGHT)
}
