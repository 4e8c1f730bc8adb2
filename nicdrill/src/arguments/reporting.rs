//! The arguments that control how a run is reported.

use std::path::PathBuf;

use clap::Args;

use super::telling::TellArguments;

/// Arguments that control how a run is reported.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "How it is told")]
pub(crate) struct ReportArguments {
    /// Rewrite the golden traces; only for a suite given by path, never when CI is set
    #[arg(long)]
    pub(crate) bless: bool,
    /// Report which clauses of the documents are covered, and by what; without a filter, an uncovered one is exit code
    /// 100
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Compare with the run in this folder: only findings that it did not have are failures
    #[arg(long, value_name = "FOLDER")]
    pub(crate) baseline: Option<PathBuf>,
    /// Known deviations, which are not failures [default: known.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tell: TellArguments,
    /// Keep every accepted event in the tables that analyzers read: `sqlite:FILE` or
    /// `postgres://USER@HOST:PORT/DATABASE` [default: in memory]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}
