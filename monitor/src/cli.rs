//! The command line, built with clap from the table of flags in `checks`.

use std::ffi::OsString;

use checks::flags::FLAGS;
use checks::{Flags, Refusal};
use clap::builder::Str;
use clap::{Arg, ArgAction, Command};

/// The parsed command line.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) flags: Flags,
    /// Print how every device is classified, and exit.
    pub(crate) explain: bool,
    /// Validate, and exit.
    pub(crate) check_config: bool,
}

/// Why there is no monitor to run.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// Clap prints this: help, or a usage error.
    Clap(clap::Error),
    Refused(Refusal),
}

fn command() -> Command {
    let mut command = Command::new("nicdrill monitor")
        .bin_name("nicdrill monitor")
        .about("The reference NIC health monitor: watches link states and reports to the platform connector")
        .arg(switch(
            "explain",
            "Print how every device is classified and why, and exit",
        ))
        .arg(switch("check-config", "Validate flags, configuration and metadata, and exit"));
    for flag in FLAGS {
        let arg = Arg::new(flag.name)
            .long(flag.name)
            .value_name("TEXT")
            .allow_hyphen_values(true)
            .overrides_with(flag.name)
            .help(flag.help);
        command = command.arg(match flag.default {
            None => arg,
            Some(text) => arg.default_value(Str::from(text)),
        });
    }
    command
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// Reads the command line, the program's name first.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Line, Unusable> {
    let matches = command()
        .try_get_matches_from(args)
        .map_err(Unusable::Clap)?;
    let mut flags = Flags::new();
    for flag in FLAGS {
        let given = matches.value_source(flag.name) == Some(clap::parser::ValueSource::CommandLine);
        if let (true, Some(text)) = (given, matches.get_one::<String>(flag.name)) {
            flags.set(flag.name, text).map_err(Unusable::Refused)?;
        }
    }
    let names_node = matches.get_one::<String>("node-name").is_some();
    if let (false, Ok(name)) = (names_node, std::env::var("NODE_NAME")) {
        flags.set("node-name", name).map_err(Unusable::Refused)?;
    }
    let level = std::env::var("LOG_LEVEL")
        .ok()
        .filter(|level| !level.is_empty());
    let names_level =
        matches.value_source("log-level") == Some(clap::parser::ValueSource::CommandLine);
    if let (false, Some(level)) = (names_level, level) {
        flags
            .set("log-level", level.to_lowercase())
            .map_err(Unusable::Refused)?;
    }
    Ok(Line {
        flags,
        explain: matches.get_flag("explain"),
        check_config: matches.get_flag("check-config"),
    })
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn the_reference_monitor_cannot_be_made_wrong() {
        let words = ["nicdrill monitor", "--zoo=deaf"].map(OsString::from);
        let Err(Unusable::Clap(error)) = parse(words) else {
            panic!("it is refused");
        };
        assert_eq!(error.kind(), ErrorKind::UnknownArgument);
    }
}
