//! The arguments of `nicdrill fit`.

use std::path::PathBuf;

use clap::Args;

/// Whom to interview, where, and what to write.
#[derive(Clone, Debug, Args)]
pub(crate) struct FitArguments {
    /// The monitor: a descriptor's name or file, or a program
    #[arg(value_name = "DESCRIPTOR|PROGRAM")]
    pub(crate) monitor: String,
    /// The file to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The platforms to ask on: names, or folders or files of your own [default: dgx-h100, h100-oci and
    /// dgx-a100:two-port]
    #[arg(long, value_name = "P,..", value_delimiter = ',')]
    pub(crate) platform: Vec<String>,
    /// Drills at once [default: one for each allowed CPU]
    #[arg(long, value_name = "N", value_parser = super::numbers::at_once)]
    pub(crate) jobs: Option<usize>,
}
