//! A fault that stands at the connector, as it is told to whoever asks. Start at [`Standing`].

use proto::Check;

/// One fault that stands at the connector.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// The check that reported it.
    pub check: Check,
    /// `NIC` and, for a port, `NICPort` values, joined by `/`; a counter's name after them.
    pub entity: String,
    /// Is it fatal?
    pub fatal: bool,
}
