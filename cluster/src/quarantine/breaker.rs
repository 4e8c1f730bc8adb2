//! The circuit breaker: if half of the fleet is cordoned within five minutes, the fault is more likely
//! the monitor's than the nodes'.
//!
//! Source: NVSentinel, fault-quarantine, circuit breaker defaults.

use std::{collections::BTreeMap, time::Duration};

use crate::stamp::Stamp;

/// The period in which cordons count; one that is five minutes old does not count any more.
const BREAKER_SPAN: Duration = Duration::from_secs(300);

/// The breaker of one cluster.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// The number of cordons within [`BREAKER_SPAN`] that opens it.
    trips_at: usize,
    cordons: BTreeMap<String, Stamp>,
    is_open: bool,
}

impl Breaker {
    /// A closed breaker of a cluster with this many GPU nodes; it opens at half of them, rounded up, and
    /// at no fewer than one.
    #[must_use]
    pub fn new(fleet: usize) -> Self {
        Self {
            trips_at: fleet.div_ceil(2).max(1),
            cordons: BTreeMap::new(),
            is_open: false,
        }
    }

    /// Whether it is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn cordoned(&mut self, node: &str, at: Stamp) {
        self.cordons.insert(node.to_owned(), at);
        self.cordons
            .retain(|_, cordoned| *cordoned > at.before(BREAKER_SPAN));
        self.is_open |= self.cordons.len() >= self.trips_at;
    }
}
