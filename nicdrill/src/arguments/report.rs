//! The arguments of `nicdrill report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::telling::TellArguments;

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
    #[command(flatten)]
    pub(crate) tell: TellArguments,
}
