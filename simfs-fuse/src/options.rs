//! How a mount is served.

use simfs::Pattern;

/// How a mount is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The CPU on which requests are answered; `None` for any. A request costs about ten times as
    /// much when its process runs on another one.
    pub cpu: Option<usize>,
    /// Whether listings of the anchor are held, each until [`release`](crate::Server::release).
    pub gate: bool,
    /// For tests of whoever compares a mount with memory: the files whose first bytes are served
    /// for ever.
    pub stale_bytes_for_test: Option<Pattern>,
}

impl Default for Options {
    /// Any CPU; the anchor is a gate; nothing is stale.
    fn default() -> Self {
        Self {
            cpu: None,
            gate: true,
            stale_bytes_for_test: None,
        }
    }
}
