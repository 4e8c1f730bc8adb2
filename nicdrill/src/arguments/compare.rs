//! The arguments of `nicdrill compare`.

use std::path::PathBuf;

use clap::Args;

use super::color::Color;

/// Which monitors, in which drills, and how it is told.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareArguments {
    /// Monitors: names or files of descriptors, or paths of programs; and what to play, as for `run`: scenario files or
    /// folders, families, scenarios or drills [default: up to six drills of each kind that the needs are about]
    #[arg(value_name = "MONITOR|PATH|NAME", required = true)]
    pub(crate) what: Vec<String>,
    /// What a site needs; `example` is the one of the docs
    #[arg(long, value_name = "FILE", default_value = "example")]
    pub(crate) needs: String,
    /// How often things happen, for estimates on 1,000 nodes in a month; `example` is the one of the docs
    #[arg(long, value_name = "FILE")]
    pub(crate) mix: Option<String>,
    /// Write the comparison as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the comparison as a page
    #[arg(long, value_name = "html=FILE", value_parser = html_file)]
    pub(crate) report: Option<PathBuf>,
    /// Only drills that match this expression, as for `run`
    #[arg(long, value_name = "EXPR")]
    pub(crate) filter: Option<String>,
    /// Only on these platforms, as for `run`
    #[arg(long, value_name = "P,..", value_delimiter = ',')]
    pub(crate) platform: Vec<String>,
    /// Every applicable pair of scenario and platform
    #[arg(long)]
    pub(crate) full: bool,
    /// Drills at once [default: one for each allowed CPU]
    #[arg(long, value_name = "N", value_parser = super::numbers::at_once)]
    pub(crate) jobs: Option<usize>,
    /// Do not pin jobs to CPUs
    #[arg(long)]
    pub(crate) no_pin: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

fn html_file(asked: &str) -> Result<PathBuf, String> {
    match asked.strip_prefix("html=") {
        Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
        _ => Err("a comparison is written as `html=FILE`; as JSON by `--json FILE`".to_owned()),
    }
}
