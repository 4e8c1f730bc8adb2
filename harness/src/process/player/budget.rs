//! What a monitor may use up in a poll and in a drill: progress alone keeps no drill alive for ever.
//!
//! The figures are chosen: a monitor at work is far below each of them. The reference monitor makes 3 calls in a poll, and
//! the first poll of the largest platform has some hundred events. Start at [`Player::goes_on`].

use std::time::{Duration, Instant};

use observe::{Broken, Delivery, Pace, Size};
use simfs_fuse::Server;

use super::{Play, Player};
use crate::process::{
    connector::{CONNECTIONS_MAX, OPEN_CALLS_MAX},
    count,
    outage::Outage,
    quiet::is_busy,
    transport::SocketTraffic,
};

/// The most calls in a poll, and the most connections that are opened in it.
const CALLS_MAX: u64 = 10_000;

/// The most events in a poll.
const EVENTS_MAX: u64 = 100_000;

/// The most statements in a poll of monitors that nobody is called by. A page of all ports of the largest platform with
/// their counters has some thousand.
const STATEMENTS_MAX: u64 = 20_000;

/// How many events or statements a drill may have in each tick and for each monitored node, beside those of one poll.
const USUAL_EVENTS: u64 = 1_000;

/// The most bytes in a poll on all connections, in MiB.
const MEBIBYTES_MAX: u64 = 64;

/// How many MiB a drill may have on all connections in each tick and for each monitored node, beside those of one poll.
/// Unfinished calls are kept from one poll to the next.
const USUAL_MEBIBYTES: u64 = 1;

/// The most files and folders of a node's tree that are open at once.
const OPEN_MAX: usize = 4096;

/// How often a monitor may use up the time without progress in one poll, and once more in the whole drill.
const POLL_LIMITS: u32 = 6;

/// The part of the time without progress in which a monitor that ran on a CPU has had its time, however busy the machine
/// was. Chosen: a poll needs some milliseconds of it, the start of an interpreter with large libraries some seconds.
const HAD: u32 = 2;

/// The real time of a poll that a drill allows for, on average. A poll takes some milliseconds.
const USUAL_POLL: Duration = Duration::from_secs(1);

/// What is used up so far.
#[derive(Debug)]
pub(super) struct Budget {
    drill_began: Instant,
    poll_began: Instant,
    calls: u64,
    events: u64,
    /// The events of all polls.
    all_events: u64,
    /// What its monitors had written to their output before the poll, in bytes.
    written: u64,
    /// What had come on all connections before the poll, in bytes.
    received: u64,
    /// How many connections had been opened before the poll.
    opened: u64,
    /// How long its monitors had run when first nothing came from them in the poll.
    ran: Option<Duration>,
    /// What is kept of pages of all polls, in bytes.
    pages: u64,
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
            all_events: 0,
            written: 0,
            received: 0,
            opened: 0,
            ran: None,
            pages: 0,
            drill_limit: Duration::MAX,
        }
    }

    /// Counts a call.
    pub(super) fn spend(&mut self, reported: &Delivery) {
        self.calls += 1;
        self.count(reported);
    }

    /// Counts the bytes of a page that is kept until the drill is over.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.pages += bytes as u64;
    }

    /// Counts what is said without a call.
    pub(super) fn count(&mut self, reported: &Delivery) {
        let events = reported.observations.len() as u64;
        self.events += events;
        self.all_events += events;
    }
}

impl Player<'_> {
    /// A tick begins, and with it the budget of a poll.
    pub(super) fn refill(&mut self) {
        let traffic = self.traffic();
        self.budget = Budget {
            drill_began: self.budget.drill_began,
            all_events: self.budget.all_events,
            pages: self.budget.pages,
            received: traffic.received,
            opened: traffic.opened,
            written: self.written(),
            drill_limit: self.drill_limit(),
            ..Budget::new()
        };
    }

    /// Whether the drill may go on waiting: it is not to end early, and its monitors are within their budget.
    pub(super) fn goes_on(&mut self) -> Play<()> {
        if self.arm.interruption.is_asked_for() {
            return Err(Broken::Interrupted);
        }
        if let Some(what) = self.excess() {
            return Err(self.over_limit(what));
        }
        match self.overdue() {
            None => Ok(()),
            Some(what) => {
                self.arm.is_over_limit |= self.has_had_its_time();
                Err(Broken::Excess {
                    tick: self.tick(),
                    what,
                })
            }
        }
    }

    /// Looks at what the processes of the monitors use at the end of a tick.
    pub(super) fn look_at_use(&mut self) -> Play<()> {
        let nodes = self.node_runtimes.values();
        let instances = nodes.flat_map(|node| node.instances.values());
        let mut staying = instances.filter(|instance| !instance.ending);
        let over = staying.find_map(|instance| instance.program.look_at_use());
        let what = over.map(|what| format!("it had {what}"));
        what.map_or(Ok(()), |what| Err(self.over_limit(what)))
    }

    /// Whether the monitors have run on a CPU for so long, since first nothing came from them in this poll, that no stall
    /// excuses them.
    pub(super) fn has_had_its_time(&self) -> bool {
        let had = |before| self.arm.watchdog.ran().saturating_sub(before);
        self.budget.ran.map_or(Duration::ZERO, had) >= self.patience() / HAD
    }

    /// Nothing comes from the monitors: how long they have run so far is noted, once in a poll.
    pub(super) fn note_ran(&mut self) {
        if self.budget.ran.is_none() {
            self.budget.ran = Some(self.arm.watchdog.ran());
        }
    }

    /// The end of a drill whose monitor is over a limit that no time has a part in, so that no stall excuses it.
    pub(super) fn over_limit(&mut self, what: String) -> Broken {
        self.arm.is_over_limit = true;
        Broken::Excess {
            tick: self.tick(),
            what,
        }
    }

    /// What was used up, if anything was.
    fn excess(&mut self) -> Option<String> {
        let Budget {
            calls,
            events,
            all_events,
            written,
            received,
            opened,
            pages,
            ..
        } = self.budget;
        if calls > CALLS_MAX {
            return Some(format!("it made more than {CALLS_MAX} calls in a poll"));
        }
        let (most, did, what) = match self.descriptor.speaks.has_connector() {
            true => (EVENTS_MAX, "reported", "events"),
            false => (STATEMENTS_MAX, "made", "statements"),
        };
        if events > most {
            return Some(format!("it {did} more than {most} {what} in a poll"));
        }
        let nodes = self.node_runtimes.len() as u64;
        let most = most + USUAL_EVENTS * nodes * self.ticks.len() as u64;
        if all_events > most {
            return Some(format!("it {did} more than {most} {what} in the drill"));
        }
        let most = self.descriptor.limits.most_output();
        if self.written().saturating_sub(written) > most.bytes() {
            return Some(format!("it wrote more than {most} to its output in a poll"));
        }
        let kept = Size(most.0 / 2);
        if pages > kept.bytes() {
            return Some(format!("its pages have more than {kept} in the drill"));
        }
        let traffic = self.traffic();
        if traffic.received.saturating_sub(received) > MEBIBYTES_MAX << 20 {
            return Some(format!(
                "it sent more than {MEBIBYTES_MAX} MiB to its socket in a poll"
            ));
        }
        let most = MEBIBYTES_MAX + USUAL_MEBIBYTES * nodes * self.ticks.len() as u64;
        if traffic.received > most << 20 {
            return Some(format!(
                "it sent more than {most} MiB to its socket in the drill"
            ));
        }
        if traffic.opened.saturating_sub(opened) > CALLS_MAX {
            return Some(format!(
                "it opened more than {CALLS_MAX} connections in a poll"
            ));
        }
        if traffic.connections > CONNECTIONS_MAX {
            return Some(format!(
                "it has more than {CONNECTIONS_MAX} connections to its socket open"
            ));
        }
        if traffic.calls > usize::from(OPEN_CALLS_MAX) {
            return Some(format!(
                "it has more than {OPEN_CALLS_MAX} calls open whose answers it has not read"
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
        None
    }

    /// What took too long, if anything did.
    fn overdue(&self) -> Option<String> {
        let Budget {
            drill_began,
            poll_began,
            drill_limit,
            ..
        } = self.budget;
        let limit = self.poll_limit();
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

    /// How long a poll may take, progress or not.
    fn poll_limit(&self) -> Duration {
        match self.stated_answer() {
            Some(answer) => answer,
            None => self.patience() * POLL_LIMITS,
        }
    }

    /// How long a run or an answer may take, if the descriptor states it.
    pub(super) fn stated_answer(&self) -> Option<Duration> {
        let is_waited_for = self.descriptor.pace() != Pace::Gate;
        let answer = self.descriptor.limits.answer;
        answer.filter(|_| is_waited_for).map(|answer| answer.0)
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
        let stated = self.descriptor.limits.answer.unwrap_or_default().0;
        let polls = USUAL_POLL
            .max(stated)
            .saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX));
        self.poll_limit()
            .saturating_add(polls)
            .saturating_add(between)
            .saturating_add(waits)
    }

    /// What came and was opened on the sockets of all nodes.
    fn traffic(&mut self) -> SocketTraffic {
        let (transport, _) = self.arm.transport(self.descriptor.speaks);
        transport.traffic()
    }

    /// How many bytes all monitors have written to their output.
    fn written(&self) -> u64 {
        let nodes = self.node_runtimes.values();
        let instances = nodes.flat_map(|node| node.instances.values());
        instances.map(|instance| instance.program.written()).sum()
    }
}
