//! The plugin's results for NCCL.

use std::fmt;

/// The results of NCCL's network calls that MPIB returns ("NCCL, ext-net README").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NcclResult {
    /// The call succeeded, or must be repeated.
    Success,
    /// The network failed; the communicator cannot be used any more.
    SystemError,
    /// An error in the plugin.
    InternalError,
    /// An error of the caller or in the environment.
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
