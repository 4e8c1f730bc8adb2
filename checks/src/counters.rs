//! The counter checks: which counters are watched, when their growth is a fault, and what is
//! remembered of each.
//!
//! A counter belongs to a port of a PCI function, so its fault follows the function as a port's
//! fault does ([`watch`]). [`count`] handles one counter over time, [`threshold`] the limits, and
//! [`table`] is the fixed list of counters. `discovery` reads the files; the agent delivers the
//! events. Source: NVSentinel, "Link Counter Detection", and its nic-health-monitor.

pub(crate) mod count;
pub(crate) mod file;
pub(crate) mod judge;
pub(crate) mod remembered;
pub(crate) mod table;
pub(crate) mod tally;
pub(crate) mod target;
pub(crate) mod threshold;
pub(crate) mod watch;

pub(crate) use remembered::CounterMemory;
pub(crate) use table::CounterId;
pub(crate) use threshold::Watched;
pub use threshold::{Threshold, Unit};
