//! A reliable queue pair, and what an outage does to it.
//!
//! The outage rule: a posted write that is lost is sent again after every acknowledgement timeout
//! (4.096 µs × 2^20 = 4.295 s) and gets through at the first retransmission after its rail is up at
//! both ends. What was posted behind it waits with it, as a reliable queue pair keeps its order. With
//! eight tries, the first included, the queue pair dies 34.36 s after the first write that was lost
//! was posted; with seven, 30.06 s. Real hardware may take longer: rely on survival up to 25 s and on
//! death from 40 s.
//!
//! A queue pair with nothing posted feels nothing.

use std::collections::VecDeque;

use simfs::SimTime;

use super::Rail;

/// The InfiniBand timeout exponent that the plugin sets.
pub const ACK_TIMEOUT_EXPONENT: u8 = 20;

/// The status of the completion that a dead queue pair gives: `IBV_WC_RETRY_EXC_ERR`.
pub const WC_RETRY_EXCEEDED: u8 = 12;

/// The time of one try for an exponent: 4.096 µs × 2^exponent. Range of the exponent: 0 to 31.
#[must_use]
pub const fn ack_timeout(exponent: u8) -> SimTime {
    SimTime::from_ns(4096 << exponent)
}

/// How many tries a write gets before its queue pair dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Retries {
    /// 30.06 s with the default timeout: NCCL's own table.
    Seven,
    /// 34.36 s with the default timeout: the first try is counted.
    #[default]
    Eight,
}

impl Retries {
    /// 7 or 8; `None` for any other number.
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

/// What became of a retransmission.
#[derive(Debug)]
pub(super) enum Tried<W> {
    /// It got through, and so did what waited behind it.
    Through(VecDeque<W>),
    /// It was lost again.
    Lost,
    /// It was the last.
    Dead,
}

/// A queue pair on one rail; `W` is what is posted to it.
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

    /// Whether a write posted now gets through at once, given whether the rail is up.
    pub(super) fn is_free(&self, is_up: bool) -> bool {
        is_up && self.waiting.is_empty()
    }

    /// Keeps a write that does not get through now. True if it is the first: its try is over after
    /// one timeout.
    pub(super) fn wait(&mut self, write: W) -> bool {
        self.waiting.push_back(write);
        if self.waiting.len() == 1 {
            self.tries = 1;
            return true;
        }
        false
    }

    /// The timeout of the latest try is over.
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
