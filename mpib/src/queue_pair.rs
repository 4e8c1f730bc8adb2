//! A reliable queue pair, and the effect of an outage on it.
//!
//! The outage rule: a lost write is sent again after every acknowledgement timeout (4.096 µs × 2^20 =
//! 4.295 s), and is delivered by the first retransmission after its rail is up at both ends. Writes
//! posted after it wait with it, because a reliable queue pair keeps its order. With eight tries,
//! including the first, the queue pair dies 34.36 s after the first lost write was posted; with
//! seven, after 30.06 s. Real hardware may take longer: rely on survival up to 25 s and on death from
//! 40 s.
//!
//! A queue pair without posted writes is not affected.

use std::collections::VecDeque;

use simfs::SimTime;

use super::Rail;

/// The InfiniBand timeout exponent that the plugin sets.
pub const ACK_TIMEOUT_EXPONENT: u8 = 20;

/// The completion status of a dead queue pair: `IBV_WC_RETRY_EXC_ERR`.
pub const WC_RETRY_EXCEEDED: u8 = 12;

/// The completion status of a write behind the one that killed its queue pair: `IBV_WC_WR_FLUSH_ERR`
/// ("rdma-core, libibverbs/verbs.h", `enum ibv_wc_status`).
pub const WC_FLUSHED: u8 = 5;

/// The timeout of one try for an exponent: 4.096 µs × 2^exponent. Range of the exponent: 0 to 31.
#[must_use]
pub const fn ack_timeout(exponent: u8) -> SimTime {
    SimTime::from_ns(4096 << exponent)
}

/// The number of tries of a write before its queue pair dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retries {
    /// 30.06 s with the default timeout: NCCL's own table.
    Seven,
    /// 34.36 s with the default timeout: the first try counts.
    #[default]
    Eight,
}

impl Retries {
    /// For 7 or 8; `None` for any other number.
    #[must_use]
    pub const fn new(tries: u8) -> Option<Self> {
        match tries {
            7 => Some(Self::Seven),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub const fn tries(self) -> u8 {
        match self {
            Self::Seven => 7,
            Self::Eight => 8,
        }
    }
}

/// The result of a retransmission.
#[derive(Debug)]
pub(super) enum Tried<W> {
    /// It was delivered, with the writes that waited behind it.
    Through(VecDeque<W>),
    /// It was lost again.
    Lost,
    /// It was the last try.
    Dead,
}

/// A queue pair on one rail; `W` is the type of its writes.
#[derive(Clone, Debug)]
pub(super) struct QueuePair<W> {
    pub(super) rail: Rail,
    waiting: VecDeque<W>,
    tries: u8,
}

impl<W> QueuePair<W> {
    pub(super) const fn new(rail: Rail) -> Self {
        Self {
            rail,
            waiting: VecDeque::new(),
            tries: 0,
        }
    }

    /// Number of writes that wait, with the first.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of tries of the first write that waits.
    pub(super) const fn tries(&self) -> u8 {
        self.tries
    }

    /// Whether a write posted now is delivered at once, given whether the rail is up.
    pub(super) fn is_free(&self, is_up: bool) -> bool {
        is_up && self.waiting.is_empty()
    }

    /// Queues a write that is not delivered now. Returns whether it is the first, whose try ends
    /// after one timeout.
    pub(super) fn wait(&mut self, write: W) -> bool {
        self.waiting.push_back(write);
        if self.waiting.len() == 1 {
            self.tries = 1;
            return true;
        }
        false
    }

    /// Handles the timeout of the latest try.
    pub(super) fn timed_out(&mut self, is_up: bool, retries: Retries) -> Tried<W> {
        if self.tries >= retries.tries() {
            return Tried::Dead;
        }
        if is_up {
            return Tried::Through(std::mem::take(&mut self.waiting));
        }
        self.tries += 1;
        Tried::Lost
    }
}
