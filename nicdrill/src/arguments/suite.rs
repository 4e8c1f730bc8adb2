//! The arguments of `nicdrill suite`.

use clap::{Args, Subcommand};

use super::{SelectArguments, color::Color};

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Make every expectation false in every way that its kind has, and list those that nothing notices
    Check(SuiteCheckArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SuiteCheckArguments {
    #[command(flatten)]
    pub(crate) select: SelectArguments,
    /// Scenarios at once [default: one for each allowed CPU]
    #[arg(long, value_name = "N", value_parser = super::numbers::at_once)]
    pub(crate) jobs: Option<usize>,
    /// Only every N-th scenario, from the one that the seed says
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) every: usize,
    /// Where to begin with `--every`
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = super::numbers::seed)]
    pub(crate) seed: u64,
    /// List every line with what was tried of it
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}
