//! A node's own interface, and the ping state of a recovery queue.

use platforms::PortRef;
use simfs::SimTime;

use super::{health::Health, nid::Nid, stats::NiStats};

/// Number of messages to one peer interface that may be in flight (`peer_credits`).
pub(crate) const PEER_CREDITS: i64 = 8;
/// Number of messages over one interface that may be in flight (`credits`).
pub(crate) const CREDITS: i64 = 256;

/// An interface as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NiSpec {
    /// Its NID.
    pub nid: Nid,
    /// The port that carries it.
    pub port: PortRef,
    /// The network interface, such as `ib0`.
    pub interface: String,
    /// Its selection priority; a lower value is preferred.
    pub priority: u32,
    /// Its device's priority; a lower value is preferred.
    pub device_priority: u32,
    /// Its NUMA distance from the data; a shorter one is preferred.
    pub numa_distance: u32,
    /// How many messages may be in flight; more available credits are preferred.
    pub credits: u32,
}

impl NiSpec {
    /// An interface with defaults: 256 credits, every priority and distance 0.
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

/// The state of recovery pings to an unhealthy interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Whether it is on its recovery queue.
    pub queued: bool,
    /// Number of pings since the last answer.
    pub ping_count: u32,
    /// When the next ping is due, in whole seconds since the start; 0 before the first.
    pub next_ping_s: u64,
}

/// The state of one of a node's own interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalNi {
    /// Its configuration.
    pub spec: NiSpec,
    /// Its health.
    pub health: Health,
    /// The fatal flag (`ni_fatal_error_on`).
    pub fatal: bool,
    /// Whether its health fell to 0 and has not reached 1000 since.
    pub sunk: bool,
    /// Available credits; negative if messages wait.
    pub tx_credits: i64,
    /// How often it was selected.
    pub sequence: u64,
    /// Its state on the recovery queue.
    pub recovery: Recovery,
    /// Its counters.
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

    /// Its NID.
    #[must_use]
    pub fn nid(&self) -> &Nid {
        &self.spec.nid
    }

    /// Sets the health, and updates `sunk`.
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
