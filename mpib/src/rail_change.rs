//! What the outside says about a port: the one thing that a workload hears of a link.

use simfs::SimTime;

use super::{HostId, Rail};

/// Whether a port carries traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RailState {
    /// It carries traffic: the link is ACTIVE.
    #[default]
    Up,
    /// It does not, for whatever reason; what is posted waits for a retransmission.
    Down,
    /// The device is no longer there (driver unload, PCI removal, host off): its queue pairs fail at
    /// once, and do not come back with it.
    Gone,
}

/// One port's state from one instant on. Changes are told in the order of their instants, and come
/// before anything that a workload does at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RailChange {
    /// Since the drill's start.
    pub at: SimTime,
    /// The host whose port it is.
    pub host: HostId,
    /// Which of its two NICs.
    pub rail: Rail,
    /// From now on.
    pub state: RailState,
}
