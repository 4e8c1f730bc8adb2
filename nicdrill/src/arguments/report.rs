//! The arguments of `nicdrill report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::color::Color;

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Join the shards of a run, played on several machines, into one run folder, one report and one exit code
    Merge(MergeArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MergeArguments {
    /// The folders that `nicdrill run --shard K/N --out DIR` left, or a folder that contains them
    #[arg(value_name = "DIR", required = true)]
    pub(crate) dirs: Vec<PathBuf>,
    /// The folder of the merged run [default: nicdrill.out]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Tell why expectations were not judged
    #[arg(long)]
    pub(crate) not_judged: bool,
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
