//! What is remembered of the past: when ports were healthy, and the kernel's log.

use simfs::SimTime;

/// A port's leaving or return to `ACTIVE` with `LinkUp`, as sysfs shows it; a port that is not
/// there is not healthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When.
    pub at: SimTime,
    /// Healthy from then on, or not.
    pub healthy: bool,
}

/// A line of a node's kernel log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// When.
    pub at: SimTime,
    /// The line, without time stamp and new line.
    pub text: String,
}
