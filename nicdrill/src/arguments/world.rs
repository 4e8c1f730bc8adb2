//! The arguments of `nicdrill world`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// List every world of several nodes, one per line
    List(WorldFolders),
    /// Show one world: its nodes, switches and cables, and the scenarios that are played in it
    Show(OneWorld),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WorldFolders {
    /// Further scenario folders, whose `worlds/` are read too
    #[arg(long, value_name = "PATH")]
    pub(crate) scenarios: Vec<String>,
    /// Further platform files or folders
    #[arg(long, value_name = "PATH")]
    pub(crate) platforms: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct OneWorld {
    /// Its name, such as `storage-pair`
    pub(crate) world: String,
    #[command(flatten)]
    pub(crate) folders: WorldFolders,
}
