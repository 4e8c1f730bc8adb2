//! The arguments of `nicdrill list`.

use clap::Args;

use super::SelectArguments;

/// Which drills, and how they are listed.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArguments {
    /// List each drill with its arms, and each pair that does not fit with its reason, instead of each scenario
    #[arg(long)]
    pub(crate) drills: bool,
    /// Print JSON: each drill with its arms and why it was chosen, and each pair that does not fit
    #[arg(long, conflicts_with = "drills")]
    pub(crate) json: bool,
    /// Print a page in Markdown: the scenarios by folder, each with its title, its platforms and the clauses that it covers
    #[arg(long, conflicts_with_all = ["drills", "json"])]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) select: SelectArguments,
}
