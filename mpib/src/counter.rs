//! What a job's traffic and its outages add up to, on a host or on one of its edges. Start at [`Counter`].

use std::fmt;

use super::event::{NetEvent, NetEventKind, QueuePairId};
use super::{HostId, Job, Rail, RailMask};

/// A number that only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Messages posted with this mask; of a host, all that it sent.
    Messages(RailMask),
    /// Bytes that the host's NIC of this rail has sent; lost tries are not counted.
    Sent(Rail),
    /// Bytes that it has received.
    Received(Rail),
    /// Reads of the hints for a send.
    HintReads,
    /// Tries after the first, of the host's writes on this rail, with those that were acknowledged.
    Retries(Rail),
    /// Completions with status 12, `IBV_WC_RETRY_EXC_ERR`, of the host's writes on this rail.
    RetryExceeded(Rail),
}

impl Counter {
    /// All counters.
    pub const ALL: [Self; 12] = [
        Self::Messages(RailMask::SOUT),
        Self::Messages(RailMask::SUP),
        Self::Messages(RailMask::BOTH),
        Self::Sent(Rail::Sout),
        Self::Received(Rail::Sout),
        Self::Sent(Rail::Sup),
        Self::Received(Rail::Sup),
        Self::HintReads,
        Self::Retries(Rail::Sout),
        Self::Retries(Rail::Sup),
        Self::RetryExceeded(Rail::Sout),
        Self::RetryExceeded(Rail::Sup),
    ];

    /// Its name in scenarios.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages(RailMask::SOUT) => "messages_sout",
            Self::Messages(RailMask::SUP) => "messages_sup",
            Self::Messages(_) => "messages_both",
            Self::Sent(Rail::Sout) => "sout_bytes_sent",
            Self::Sent(Rail::Sup) => "sup_bytes_sent",
            Self::Received(Rail::Sout) => "sout_bytes_received",
            Self::Received(Rail::Sup) => "sup_bytes_received",
            Self::HintReads => "hint_reads",
            Self::Retries(Rail::Sout) => "sout_retries",
            Self::Retries(Rail::Sup) => "sup_retries",
            Self::RetryExceeded(Rail::Sout) => "sout_retry_exceeded",
            Self::RetryExceeded(Rail::Sup) => "sup_retry_exceeded",
        }
    }

    /// Whether it can be counted for one edge of the host alone.
    #[must_use]
    pub fn is_of_an_edge(self) -> bool {
        !matches!(self, Self::Sent(_) | Self::Received(_) | Self::HintReads)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Job {
    /// A counter of a host; with `to`, of its connections with this host alone. What cannot be counted for an edge
    /// ([`Counter::is_of_an_edge`]) is the host's.
    ///
    /// # Panics
    ///
    /// If the job has no such host.
    #[must_use]
    pub fn count(&self, host: HostId, to: Option<HostId>, counter: Counter) -> u64 {
        let net = self.net();
        let of_outages = |rail: Rail, of: fn(&NetEventKind) -> Option<QueuePairId>| {
            let seen = |event: &&NetEvent| event.host == host && event.rail == rail;
            let queue_pairs = net.events().iter().filter(seen);
            let queue_pairs = queue_pairs.filter_map(|event| of(&event.kind));
            let meant = queue_pairs.filter(|queue_pair| {
                let ends = net.ends(queue_pair.connection);
                to.is_none_or(|to| ends.contains(&to))
            });
            meant.count() as u64
        };
        match counter {
            Counter::Messages(mask) => {
                let sent = self
                    .edges()
                    .filter(|(edge, ..)| edge.from == host && to.is_none_or(|to| edge.to == to));
                sent.map(|(_, connection, _)| net.masks(connection)[usize::from(mask.bits())])
                    .sum()
            }
            Counter::Sent(rail) => net.nic(host, rail).sent.get(),
            Counter::Received(rail) => net.nic(host, rail).received.get(),
            Counter::HintReads => net.hint_reads(host),
            Counter::Retries(rail) => of_outages(rail, |kind| match kind {
                NetEventKind::Retry { queue_pair, .. }
                | NetEventKind::Acknowledged { queue_pair, .. } => Some(*queue_pair),
                _ => None,
            }),
            Counter::RetryExceeded(rail) => of_outages(rail, |kind| match kind {
                NetEventKind::RetryExceeded { queue_pair, .. } => Some(*queue_pair),
                _ => None,
            }),
        }
    }

    /// How many lines of a host's log contain a text.
    #[must_use]
    pub fn logged(&self, host: HostId, text: &str) -> u64 {
        let lines = self.net().logs().iter();
        let lines = lines.filter(|line| line.host == host && line.text.contains(text));
        lines.count() as u64
    }
}
