//! The options of a mount.

/// The options of a mount.
#[derive(Clone, Debug)]
pub struct Options {
    /// The CPU of the thread that answers requests; `None` for any. A request costs about ten times
    /// as much if its process runs on another CPU.
    pub cpu: Option<usize>,
    /// Whether listings of the anchor are held, each until [`release`](crate::Server::release).
    pub gate: bool,
    /// Whether others may unmount the tree while it is served; [`is_mounted`](crate::Server::is_mounted)
    /// tells.
    pub removable: bool,
}

impl Default for Options {
    /// Any CPU; the anchor is gated; the mount is busy until the server ends.
    fn default() -> Self {
        Self {
            cpu: None,
            gate: true,
            removable: false,
        }
    }
}
