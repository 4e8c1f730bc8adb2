//! `nicdrill completions`: prints the completions of a shell, made from the arguments.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};
use reports::ExitCode;

use super::Stop;
use crate::{
    arguments::{Arguments, Color},
    terminal::Terminal,
};

/// Prints the completions.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Stop> {
    let mut text = Vec::new();
    generate(shell, &mut Arguments::command(), "nicdrill", &mut text);
    Terminal::new(Color::Never).verbatim(&String::from_utf8_lossy(&text));
    Ok(ExitCode::Success)
}
