//! What happened in one drill, as one arm saw it: the word between playing and judging.
//!
//! Both arms make a recording of the same form, so that one judge reads both and the two can be
//! compared line by line. Nothing here is a wall-clock time, a process id or a path of the host.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use platforms::{NodeName, Shared};
use proto::HealthEvent;
use scenarios::Arm;
use simfs::SimTime;

pub use crate::inquiry::{Answers, Series};

/// One drill in one arm.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The arm; `None` only before it is known.
    pub arm: Option<Arm>,
    /// One entry a tick, from tick 0, healing ticks included.
    pub ticks: Vec<Tick>,
    /// The tick in which healing began, if it did.
    pub healing_from: Option<u64>,
    /// The tick in which every port that should be up was ACTIVE again after healing began.
    pub settled_at: Option<u64>,
    /// How the drill ended, if not by playing to its end.
    pub broken: Option<Broken>,
    /// Moments that never came: the text of the step and its place.
    pub missed_moments: Vec<String>,
}

/// One tick.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// The tick's simulated time.
    pub at: SimTime,
    /// What each chair did, by node; shared with the tick before if it did the same, all of it if all
    /// did.
    pub chairs: Shared<BTreeMap<NodeName, Shared<ChairTick>>>,
}

impl Tick {
    /// The last of these ticks is complete: what equals the one before is shared with it.
    pub(crate) fn ended(ticks: &mut [Self]) {
        if let [.., before, last] = ticks {
            last.chairs.share_with(&before.chairs);
        }
    }
}

/// What one monitor did in one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChairTick {
    /// Polls that ended in this tick: 1, or 0 in ticks without a poll.
    pub polls: u32,
    /// The logical reads of the poll, as `op path: outcome`.
    pub reads: Reads,
    /// Calls received in this tick, in order.
    pub calls: Vec<Call>,
    /// Lines of log that the monitor wrote (process arm: stderr, then stdout; memory arm: its notes).
    pub log: Vec<String>,
    /// What the monitor answered when it was asked, at the tick's end.
    pub answers: Answers,
    /// Exits in this tick.
    pub exits: Vec<Exit>,
    /// The state file at the tick's end; `None`: absent.
    pub state_file: Option<Arc<[u8]>>,
}

/// The reads of one poll, shared by all polls that read the same: most do. Polls that differ in some
/// lines share the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads(Arc<[Arc<str>]>);

impl Reads {
    /// As lines of their own.
    #[must_use]
    pub fn to_lines(&self) -> Vec<String> {
        self.iter().map(|line| line.to_string()).collect()
    }
}

impl Deref for Reads {
    type Target = [Arc<str>];

    fn deref(&self) -> &[Arc<str>] {
        &self.0
    }
}

impl From<Vec<Arc<str>>> for Reads {
    fn from(lines: Vec<Arc<str>>) -> Self {
        Self(lines.into())
    }
}

/// One call that reached the connector.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The version that the batch as a whole carried.
    pub version: u32,
    /// What it carried, in order.
    pub events: Vec<HealthEvent>,
    /// Whether the connector took it (whether or not the reply arrived).
    pub accepted: bool,
    /// What was answered, in words: `accepted`, `UNAVAILABLE`, `no reply`, …
    pub answer: String,
}

/// A monitor's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// Why a drill did not play to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The monitor made no progress within the limit.
    Hung {
        /// In which tick.
        tick: u64,
        /// What was waited for.
        waiting_for: String,
    },
    /// The monitor ended although nobody ended it.
    Crashed {
        /// In which tick.
        tick: u64,
        /// How.
        exit: Exit,
        /// Its last words.
        last_words: Vec<String>,
    },
    /// The monitor cannot be killed: it waits in the kernel.
    StuckInKernel {
        /// In which tick.
        tick: u64,
    },
    /// The stage could not be set: not the monitor's fault.
    Stage {
        /// What failed.
        cause: String,
    },
}
