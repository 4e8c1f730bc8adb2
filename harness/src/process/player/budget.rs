//! What a monitor may use up in a poll and in a drill: progress alone keeps no drill alive for ever.
//!
//! The figures are chosen: a monitor at work is far below each of them. The reference monitor makes 3 calls in a poll, and
//! the first poll of the largest platform has some hundred events. Start at [`Player::goes_on`].

use std::time::{Duration, Instant};

use observe::{Broken, Delivery};
use simfs_fuse::Server;

use super::{Play, Player};
use crate::process::{count, outage::Outage, quiet::is_busy};

/// The most calls in a poll.
const CALLS_MAX: u64 = 10_000;

/// The most events in a poll.
const EVENTS_MAX: u64 = 100_000;

/// The most bytes in a poll on all connections, in MiB.
const MEBIBYTES_MAX: u64 = 64;

/// The most files and folders of a node's tree that are open at once.
const OPEN_MAX: usize = 4096;

/// How often a monitor may use up the time without progress in one poll, and once more in the whole drill.
const POLL_LIMITS: u32 = 6;

/// The real time of a poll that a drill allows for, on average. A poll takes some milliseconds.
const USUAL_POLL: Duration = Duration::from_secs(1);

/// What is used up so far.
#[derive(Debug)]
pub(super) struct Budget {
    drill_began: Instant,
    poll_began: Instant,
    calls: u64,
    events: u64,
    /// What had come on all connections before the poll, in bytes.
    received: u64,
    /// How long the whole drill may take, as far as its ticks are known.
    drill_limit: Duration,
}

impl Budget {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            drill_began: now,
            poll_began: now,
            calls: 0,
            events: 0,
            received: 0,
            drill_limit: Duration::MAX,
        }
    }

    /// Counts a call.
    pub(super) fn spend(&mut self, reported: &Delivery) {
        self.calls += 1;
        self.events += reported.observations.len() as u64;
    }
}

impl Player<'_> {
    /// A tick begins, and with it the budget of a poll.
    pub(super) fn refill(&mut self) {
        self.budget = Budget {
            drill_began: self.budget.drill_began,
            received: self.received(),
            drill_limit: self.drill_limit(),
            ..Budget::new()
        };
    }

    /// Whether the drill may go on waiting: it is not to end early, and its monitors are within their budget.
    pub(super) fn goes_on(&mut self) -> Play<()> {
        if self.arm.interruption.is_asked_for() {
            return Err(Broken::Interrupted);
        }
        match self.excess() {
            None => Ok(()),
            Some(what) => Err(Broken::Excess {
                tick: self.tick(),
                what,
            }),
        }
    }

    /// What was used up, if anything was.
    fn excess(&mut self) -> Option<String> {
        let Budget {
            drill_began,
            poll_began,
            calls,
            events,
            received,
            drill_limit,
        } = self.budget;
        if calls > CALLS_MAX {
            return Some(format!("it made more than {CALLS_MAX} calls in a poll"));
        }
        if events > EVENTS_MAX {
            return Some(format!(
                "it reported more than {EVENTS_MAX} events in a poll"
            ));
        }
        if self.received().saturating_sub(received) > MEBIBYTES_MAX * 1024 * 1024 {
            return Some(format!(
                "it sent more than {MEBIBYTES_MAX} MiB to its socket in a poll"
            ));
        }
        let servers = self
            .node_runtimes
            .values()
            .filter_map(|node| node.server.as_ref());
        if servers.map(Server::open_files).max() > Some(OPEN_MAX) {
            return Some(format!(
                "it has more than {OPEN_MAX} files of its tree open"
            ));
        }
        let limit = self.patience() * POLL_LIMITS;
        if poll_began.elapsed() > limit {
            return Some(format!("a poll took more than {} s", limit.as_secs()));
        }
        let limit = self.patience_without_socket();
        let mut outages = self.node_runtimes.values().filter_map(|node| node.outage);
        if outages.any(Outage::is_missing)
            && poll_began.elapsed() > limit
            && !is_busy(count(&self.arm.cpus))
        {
            let limit = limit.as_secs();
            return Some(format!(
                "a poll took more than {limit} s while the connector's socket was missing"
            ));
        }
        if let Some(limit) = self.arm.options.drill_limit
            && drill_began.elapsed() > limit
        {
            return Some(format!("the drill took more than its limit of {limit:?}"));
        }
        (drill_began.elapsed() > drill_limit)
            .then(|| format!("the drill took more than {} s", drill_limit.as_secs()))
    }

    /// How long the whole drill may take by its ticks.
    fn drill_limit(&self) -> Duration {
        let tick_ns = self.story.ticks.interval().as_ns();
        let ticks = (self.story.until.as_ns() / tick_ns).max(self.ticks.len() as u64);
        let checks = self.story.checks.names();
        let between = self
            .descriptor
            .between_polls(&checks, ticks, Duration::from_nanos(tick_ns));
        let waits = self.descriptor.real_time.at_most.unwrap_or_default().0;
        let polls = USUAL_POLL.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX));
        (self.patience() * POLL_LIMITS)
            .saturating_add(polls)
            .saturating_add(between)
            .saturating_add(waits)
    }

    /// How many bytes have come on the connections of all nodes.
    fn received(&mut self) -> u64 {
        let (transport, _) = self.arm.transport(self.descriptor.speaks);
        transport.received()
    }
}
