//! An alert that fires. Start at [`Firing`].

use std::collections::BTreeMap;

/// Labels by name.
pub type Labels = BTreeMap<String, String>;

/// An alert that fires at an instant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Firing {
    /// The instant, in nanoseconds since the drill began.
    pub at_ns: u64,
    /// The rule's name.
    pub alert: String,
    /// Its other labels, without `alertstate`.
    pub labels: Labels,
}
