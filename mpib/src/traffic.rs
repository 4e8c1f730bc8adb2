//! The messages of a job: their sizes and times.

use simfs::SimTime;

use super::{Bytes, HostId};

/// An edge between two ranks of a job: `from` sends to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The rank that sends.
    pub from: HostId,
    /// The rank that receives.
    pub to: HostId,
}

/// A closed ring: each rank sends to the next, the last to the first.
#[must_use]
pub fn ring(ranks: &[HostId]) -> Vec<Edge> {
    let next = ranks.iter().cycle().skip(1);
    let edge = |(from, to): (&HostId, &HostId)| Edge {
        from: *from,
        to: *to,
    };
    ranks.iter().zip(next).map(edge).collect()
}

/// A full mesh: one edge for every pair of ranks, from the earlier to the later.
#[must_use]
pub fn mesh(ranks: &[HostId]) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (index, from) in ranks.iter().enumerate() {
        for to in &ranks[index + 1..] {
            edges.push(Edge {
                from: *from,
                to: *to,
            });
        }
    }
    edges
}

/// An interval in which a job sends nothing: from `from` until just before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The first instant of the pause.
    pub from: SimTime,
    /// The first instant after it.
    pub to: SimTime,
}

/// The largest number of messages in flight on an edge: NCCL's own number of requests of a communicator
/// (`NCCL_NET_MAX_REQUESTS`).
pub const IN_FLIGHT_MAX: u8 = 32;

/// The messages on each edge of a job. Each edge has its own periodic times; those at which as many messages are in flight
/// as may be are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobTraffic {
    /// The size of each message.
    pub size: Bytes,
    /// The period; more than 0.
    pub period: SimTime,
    /// Intervals without messages.
    pub pauses: Vec<Pause>,
    /// How many messages may be in flight on an edge: 1 to [`IN_FLIGHT_MAX`].
    pub in_flight: u8,
    /// Whether a rank sends its next message only when as many have arrived on every edge to it as it has sent: the steps
    /// of an allreduce, one at a time. A time at which it may not is skipped.
    pub dependent: bool,
    /// How long a message may be in flight before the job counts as hung. This is a watchdog's limit:
    /// the network reports an error long before.
    pub time_limit: SimTime,
}

impl JobTraffic {
    /// 1 MiB per edge every 100 ms without a pause, one in flight, on edges that do not wait for each other; hung after
    /// 600 s.
    #[must_use]
    pub const fn steady() -> Self {
        Self {
            size: Bytes::from_mib(1),
            period: SimTime::from_ms(100),
            pauses: Vec::new(),
            in_flight: 1,
            dependent: false,
            time_limit: SimTime::from_secs(600),
        }
    }

    /// The same traffic with messages of this size.
    #[must_use]
    pub fn of(mut self, size: Bytes) -> Self {
        self.size = size;
        self
    }

    /// The same traffic with this pause.
    #[must_use]
    pub fn paused(mut self, from: SimTime, to: SimTime) -> Self {
        self.pauses.push(Pause { from, to });
        self
    }

    /// The first time to send that is not before `earliest`, for a job started at `start`. The
    /// largest time stands for never.
    #[must_use]
    pub fn beat(&self, start: SimTime, earliest: SimTime) -> SimTime {
        let period_ns = self.period.as_ns().max(1);
        let mut earliest = earliest;
        loop {
            let beats = earliest.since(start).as_ns().div_ceil(period_ns);
            let beat = start + SimTime::from_ns(beats.saturating_mul(period_ns));
            let pause = self
                .pauses
                .iter()
                .find(|pause| pause.from <= beat && beat < pause.to);
            match pause {
                Some(pause) => earliest = pause.to,
                None => return beat,
            }
        }
    }
}
