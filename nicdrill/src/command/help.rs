//! `nicdrill help`: a command's flags, or a topic.

use crate::pages::help_pages;
use clap::CommandFactory as _;
use reports::ExitCode;

use super::Stop;
use crate::{
    arguments::{Arguments, Color},
    terminal::Terminal,
};

const TOPICS: &str = "scenario, platform, faults, descriptor, promises, lines, needs, exit-codes";

/// Prints the help of a command or topic; without one, of the whole command.
pub(crate) fn help(topic: Option<&str>) -> Result<ExitCode, Stop> {
    let text = match topic {
        None => Arguments::command().render_long_help().to_string(),
        Some("scenario") => help_pages::scenario(),
        Some("platform") => help_pages::platform(),
        Some("faults") => help_pages::faults(),
        Some("descriptor") => help_pages::descriptor(),
        Some("promises") => help_pages::promises(),
        Some("lines") => help_pages::lines(),
        Some("needs") => help_pages::needs(),
        Some("exit-codes") => help_pages::exit_codes(),
        Some(name) => match Arguments::command().find_subcommand_mut(name) {
            Some(command) => command.render_long_help().to_string(),
            None => {
                return Err(Stop::usage(format!("there is no help about `{name}`"))
                    .hint(format!("topics are {TOPICS}, and every command")));
            }
        },
    };
    Terminal::new(Color::Never).out(&text);
    Ok(ExitCode::Success)
}
