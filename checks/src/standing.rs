//! A fault that was reported and not cleared, as it is shown to callers. Start with [`Standing`].

use terms::Check;

/// One fault that was reported and not cleared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// The check that reported it.
    pub check: Check,
    /// `NIC` and, for a port, `NICPort` values, joined by `/`; a counter's name after them.
    pub entity: String,
    /// Is it fatal?
    pub fatal: bool,
}
