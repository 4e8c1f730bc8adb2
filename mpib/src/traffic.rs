//! What a job sends, and when.

use simfs::SimTime;

use super::{Bytes, HostId};

/// One direction between two ranks of a job: `from` sends to `to`.
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

/// A span in which a job sends nothing: from `from`, itself included, to `to`, itself not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The first instant of the pause.
    pub from: SimTime,
    /// The first instant after it.
    pub to: SimTime,
}

/// What goes over each edge of a job. Each edge has its own beat and at most one message under way;
/// beats that fall into a message are left out, and the next one after its end is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The size of each message.
    pub size: Bytes,
    /// From one beat to the next; more than 0.
    pub period: SimTime,
    /// No beat falls into these.
    pub pauses: Vec<Pause>,
    /// How long a message may be under way before the job is taken for hung. A watchdog's limit: the
    /// network itself reports an error long before.
    pub time_limit: SimTime,
}

impl Traffic {
    /// 1 MiB per edge every 100 ms without a pause, hung after 600 s.
    #[must_use]
    pub const fn steady() -> Self {
        Self {
            size: Bytes::from_mib(1),
            period: SimTime::from_ms(100),
            pauses: Vec::new(),
            time_limit: SimTime::from_secs(600),
        }
    }

    /// The traffic with other messages.
    #[must_use]
    pub fn of(mut self, size: Bytes) -> Self {
        self.size = size;
        self
    }

    /// The traffic with a pause.
    #[must_use]
    pub fn paused(mut self, from: SimTime, to: SimTime) -> Self {
        self.pauses.push(Pause { from, to });
        self
    }

    /// The first beat of a job begun at `start` that is not before `earliest`. The end of time stands
    /// for never.
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
