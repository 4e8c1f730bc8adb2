//! The arguments that control what is told of a run, or of the shards of one.

use clap::Args;

use super::color::Color;

/// What is told, and where reports are written.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "How it is told")]
pub(crate) struct TellArguments {
    /// Tell why expectations were not judged: how many, for which reason, in which drill first
    #[arg(long)]
    pub(crate) not_judged: bool,
    /// Take the run folder for that of an earlier run although its marker `.nicdrill-run` cannot be read
    #[arg(long)]
    pub(crate) replace_out: bool,
    /// Print only what makes the run fail, and the totals
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print the N drills that took longest
    #[arg(long, value_name = "N")]
    pub(crate) slowest: Option<usize>,
    /// Tell each drill with findings, instead of each cause
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Write reports: junit=FILE, json=FILE, html=FILE, gitlab=FILE, github=FILE, or github for annotations in the
    /// output
    #[arg(long, value_name = "KIND=FILE,..", value_delimiter = ',')]
    pub(crate) report: Vec<String>,
}
