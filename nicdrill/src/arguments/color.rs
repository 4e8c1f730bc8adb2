//! When output is coloured: a value of many commands. Start at [`Color`].

use clap::ValueEnum;

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}
