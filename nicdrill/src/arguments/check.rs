//! The arguments of `nicdrill check`.

use clap::Args;

/// Which files.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArguments {
    /// Scenarios, worlds, platforms, drivers, descriptors, needs, mixes, rules of a cluster or of Prometheus, known.toml
    /// and nicdrill.toml; folders with them; `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
}
