//! How a monitor is isolated from its host, as its descriptor states it.
//!
//! `harness` carries it out. Start at [`RootAt`].

use schemars::JsonSchema;
use serde::Deserialize;

/// Where a monitor finds its node's tree. It is always at `{root}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum RootAt {
    /// At `{root}` only.
    #[default]
    #[serde(rename = "{root}")]
    Mount,
    /// Over the host's own files too: over `/sys`, and over what the tree has of `/proc`, `/dev` and `/var`.
    #[serde(rename = "/")]
    Host,
}
