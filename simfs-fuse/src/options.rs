//! How a mount is served.

/// How a mount is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The CPU on which requests are answered; `None` for any. A request costs about ten times as
    /// much when its process runs on another one.
    pub cpu: Option<usize>,
    /// Whether listings of the anchor are held, each until [`release`](crate::Server::release).
    pub gate: bool,
}

impl Default for Options {
    /// Any CPU; the anchor is a gate.
    fn default() -> Self {
        Self {
            cpu: None,
            gate: true,
        }
    }
}
