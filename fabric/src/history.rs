//! What is remembered of the past: when ports were healthy, what they carried, and the kernel's log.

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

/// Whether a port carries data, whatever its face shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carriage {
    /// Its link is active.
    Data,
    /// It is not.
    Nothing,
    /// Its device is off the bus, or no driver runs it.
    Gone,
}

/// A port's beginning to carry something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriageChange {
    /// When.
    pub at: SimTime,
    /// From then on.
    pub carriage: Carriage,
}

/// A line of a node's kernel log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// When.
    pub at: SimTime,
    /// The line, without time stamp and new line.
    pub text: String,
}
