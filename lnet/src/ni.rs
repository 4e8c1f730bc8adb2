//! A node's own interface, and how a recovery queue counts its pings.

use platforms::PortRef;
use simfs::SimTime;

use super::{health::Health, nid::Nid, stats::NiStats};

/// Messages to one peer interface that may be under way (`peer_credits`).
pub(crate) const PEER_CREDITS: i64 = 8;
/// Messages over one interface that may be under way (`credits`).
pub(crate) const CREDITS: i64 = 256;

/// An interface as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NiSpec {
    /// Its name on the net.
    pub nid: Nid,
    /// The port that carries it.
    pub port: PortRef,
    /// The network interface, such as `ib0`.
    pub interface: String,
    /// Its selection priority: lower is preferred.
    pub priority: u32,
    /// Its device's priority: lower is preferred.
    pub device_priority: u32,
    /// Its NUMA distance from the data: shorter is preferred.
    pub numa_distance: u32,
    /// How many messages may be under way: more left are preferred.
    pub credits: u32,
}

impl NiSpec {
    /// An interface that nobody has tuned: 256 credits, every priority and distance 0.
    #[must_use]
    pub fn new(nid: Nid, port: PortRef, interface: &str) -> Self {
        Self {
            nid,
            port,
            interface: interface.to_owned(),
            priority: 0,
            device_priority: 0,
            numa_distance: 0,
            credits: u32::try_from(CREDITS).unwrap_or(u32::MAX),
        }
    }
}

/// How an interface that is not healthy is being asked whether it is again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Whether it is on its recovery queue.
    pub queued: bool,
    /// Pings since the last good answer.
    pub ping_count: u32,
    /// When the next is due, in whole seconds since the start; 0 before the first.
    pub next_ping_s: u64,
}

/// One of a node's own interfaces, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalNi {
    /// As configured.
    pub spec: NiSpec,
    /// How far it is trusted.
    pub health: Health,
    /// The fatal flag (`ni_fatal_error_on`).
    pub fatal: bool,
    /// Its health fell to 0 and has not been at 1000 since.
    pub sunk: bool,
    /// Messages that may still be sent; negative when more wait.
    pub tx_credits: i64,
    /// How often it was chosen.
    pub sequence: u64,
    /// Its place on the recovery queue.
    pub recovery: Recovery,
    /// What it has counted.
    pub stats: NiStats,
}

impl LocalNi {
    pub(crate) fn new(spec: NiSpec) -> Self {
        Self {
            tx_credits: i64::from(spec.credits),
            spec,
            health: Health::MAX,
            fatal: false,
            sunk: false,
            sequence: 0,
            recovery: Recovery::default(),
            stats: NiStats::default(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn nid(&self) -> &Nid {
        &self.spec.nid
    }

    /// Sets the value and remembers whether it has sunk.
    pub(crate) fn set_health(&mut self, health: Health) {
        self.health = health;
        if health == Health::ZERO {
            self.sunk = true;
        } else if health == Health::MAX {
            self.sunk = false;
        }
    }
}

/// LNet's clock for queues: whole seconds.
pub(crate) fn whole_secs(at: SimTime) -> u64 {
    at.as_ns() / 1_000_000_000
}
