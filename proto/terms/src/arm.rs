//! The two ways in which a drill is played.

use std::fmt;

/// The arm of a drill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Arm {
    /// The reference monitor's logic with simulated I/O.
    Memory,
    /// A process on a FUSE mount.
    Process,
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Process => "process",
        })
    }
}
