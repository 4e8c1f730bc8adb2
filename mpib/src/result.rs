//! What the plugin returns to NCCL.

use std::fmt;

/// The results of NCCL's network calls that MPIB can give ("NCCL, ext-net README").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NcclResult {
    /// The call did what it should, or asks to be called again.
    Success,
    /// The network failed; the communicator is unusable from here on.
    SystemError,
    /// The plugin is wrong.
    InternalError,
    /// The caller or the environment is wrong.
    InvalidUsage,
}

impl fmt::Display for NcclResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Success => "ncclSuccess",
            Self::SystemError => "ncclSystemError",
            Self::InternalError => "ncclInternalError",
            Self::InvalidUsage => "ncclInvalidUsage",
        })
    }
}
