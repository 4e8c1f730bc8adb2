//! The arguments of `nicdrill shell` and `nicdrill do`.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use super::PlatformFolders;

/// Which platform, and what runs in it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShellArguments {
    /// `name` or `name:variant`
    pub(crate) platform: String,
    /// The command and its arguments [default: your shell]
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) folders: PlatformFolders,
}

/// What is done in which sandbox.
#[derive(Clone, Debug, Args)]
pub(crate) struct DoArguments {
    /// The sandbox, by its name [default: the one that this is inside of, else the only one that runs]
    #[arg(long, value_name = "NAME")]
    pub(crate) sandbox: Option<String>,
    /// Write what was done as a scenario; `-` for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Print the words that may follow these, for the completion of a shell
    #[arg(long)]
    pub(crate) complete: bool,
    /// What to do, such as `cut mlx5_3/1`; `help`, `status`, `undo`, `heal`, `wait 10s`, `list`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORD"
    )]
    pub(crate) words: Vec<String>,
}
