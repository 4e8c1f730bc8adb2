//! The arguments of `nicdrill rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with alert rules.
#[derive(Clone, Debug, Args)]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

/// A command about alert rules.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Play drills, and print what the rules notice of each kind of fault, and how late
    Check(RulesCheckArguments),
    /// Write what was scraped in a drill as a test file for `promtool test rules`
    Export(RulesExportArguments),
}

/// Which rules, over which drills.
#[derive(Clone, Debug, Args)]
pub(crate) struct RulesCheckArguments {
    /// The rule file, or `example`
    #[arg(value_name = "FILE|example")]
    pub(crate) rules: String,
    /// Families, scenarios, drills, or scenario files or folders [default: the families port, device, card, counter,
    /// link, read and restart]
    #[arg(value_name = "PATH|NAME")]
    pub(crate) what: Vec<String>,
    /// The descriptor that says how they are scraped and evaluated, and what the alerts mean [default: the example's]
    #[arg(long, value_name = "FILE")]
    pub(crate) descriptor: Option<String>,
    /// Platforms to play on
    #[arg(
        long,
        value_name = "P,..",
        value_delimiter = ',',
        default_value = "dgx-h100"
    )]
    pub(crate) platform: Vec<String>,
    /// Drills at once [default: one for each allowed CPU]
    #[arg(long, value_name = "N", value_parser = super::numbers::at_once)]
    pub(crate) jobs: Option<usize>,
    /// Print each fault too
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Which drill, with which rules.
#[derive(Clone, Debug, Args)]
pub(crate) struct RulesExportArguments {
    /// The drill: `family/scenario@platform`
    pub(crate) drill: String,
    /// Scenario files or folders, instead of the shipped suite
    #[arg(long, value_name = "PATH")]
    pub(crate) scenarios: Vec<PathBuf>,
    /// The rule file, or `example`
    #[arg(long, value_name = "FILE|example", default_value = "example")]
    pub(crate) rules: String,
    /// The descriptor that says how they are scraped and evaluated [default: the example's]
    #[arg(long, value_name = "FILE")]
    pub(crate) descriptor: Option<String>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}
