//! Changes of ports, the only input of a workload about links.

use simfs::SimTime;

use super::{HostId, Rail};

/// Whether a port carries traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RailState {
    /// It carries traffic: the link is ACTIVE.
    #[default]
    Up,
    /// It carries no traffic; posted writes wait for a retransmission.
    Down,
    /// The device has disappeared (driver unload, PCI removal, host off): its queue pairs fail at
    /// once, and do not return with it.
    Gone,
}

/// The state of one port from an instant on. Changes are passed in order of time, and come before a
/// workload's actions at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RailChange {
    /// Time since the drill's start.
    pub at: SimTime,
    /// The host of the port.
    pub host: HostId,
    /// The rail of the port.
    pub rail: Rail,
    /// The new state.
    pub state: RailState,
}
