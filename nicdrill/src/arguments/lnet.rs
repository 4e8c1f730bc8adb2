//! The arguments of `nicdrill lnet`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Subcommand};

use super::OneDrill;

/// What `nicdrill lnet show` accepts: messages are of no single node, and a span has its own times.
const LNET_SHOW: &str = "nicdrill lnet show [OPTIONS] <DRILL> [NODE] [--view <VIEW>] [--at <TIME>]
       nicdrill lnet show [OPTIONS] <DRILL> [NODE] --over <FROM..TO>
       nicdrill lnet show [OPTIONS] <DRILL> --why <MESSAGE|failed> [--at <TIME>]
       nicdrill lnet show [OPTIONS] <DRILL> --trace [--at <TIME>]";

#[derive(Debug, Subcommand)]
pub(crate) enum LnetCommand {
    /// Print what `lnetctl` shows on the nodes of a scenario at one time: `net show -v 2`,
    /// `peer show -v 2`, `route show -v` and `stats show`, as YAML
    #[command(override_usage = LNET_SHOW)]
    Show(LnetArguments),
    /// Print a scenario whose client has the interfaces, routes and parameters of a node, from the YAML of
    /// `lnetctl export`
    Import {
        /// The file that `lnetctl export` wrote
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LnetArguments {
    /// A node [default: every node on LNet]
    #[arg(value_name = "NODE", index = 2)]
    pub(crate) node: Option<String>,
    /// One view: net, peer, route, stats, global, local-recovery or peer-recovery [default: the first four; route only
    /// where there are routes]
    #[arg(long, value_name = "VIEW")]
    pub(crate) view: Option<String>,
    /// Why a message fared as it did, instead of views: each try of its request and of the answers, the interfaces at
    /// the choice, timers, blame. `failed` tells it of every request of the layer above that met trouble
    #[arg(long, value_name = "MESSAGE|failed", conflicts_with_all = ["node", "view", "trace"])]
    pub(crate) why: Option<Why>,
    /// Every message, instead of views
    #[arg(long, conflicts_with_all = ["node", "view"])]
    pub(crate) trace: bool,
    /// Interfaces, recovery queues and counters over a span of time, such as `0s..120s`, instead of views: a row where something changed
    #[arg(long, value_name = "FROM..TO", conflicts_with_all = ["view", "why", "trace", "at"])]
    pub(crate) over: Option<String>,
    /// A workload on LNet [default: every one]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The time, such as `10s` [default: the story's end]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) which: OneDrill,
}

/// Of which requests it is told how they fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The request of the message with this number.
    Of(u64),
    /// Each request of the layer above that met trouble.
    Failed,
}

impl FromStr for Why {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "failed" => Ok(Self::Failed),
            number => number.parse().map(Self::Of).map_err(
                |_| "it is the number of a message, which `--trace` lists, or the word `failed`",
            ),
        }
    }
}
