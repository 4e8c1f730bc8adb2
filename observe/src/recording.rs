//! What happened in one drill, as one arm saw it: the word between playing and judging.
//!
//! Both arms make a recording of the same form, so that one judge reads both and the two can be
//! compared line by line. Nothing here is a wall-clock time, a process id or a path of the host.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use crate::{Answers, Observation, Protocol};

/// One drill in one arm.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// What its monitors speak.
    pub protocol: Protocol,
    /// The world's wall clock when the drill began, in nanoseconds since 1970.
    pub start_wall_ns: u64,
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
    /// The tick's simulated time, in nanoseconds since the drill began.
    pub at_ns: u64,
    /// What the monitor of each node did, by the node's name; shared with the tick before if it did
    /// the same, all of it if all did.
    pub monitors: Arc<BTreeMap<Arc<str>, Arc<MonitorTick>>>,
}

impl Tick {
    /// The last of these ticks is complete: what equals the one before is shared with it.
    pub fn share_last(ticks: &mut [Self]) {
        let same = |one: &Self, other: &Self| {
            let pairs = one.monitors.iter().zip(other.monitors.iter());
            one.monitors.len() == other.monitors.len()
                && pairs.into_iter().all(|((node, monitor), (named, before))| {
                    node == named && Arc::ptr_eq(monitor, before)
                })
        };
        if let [.., before, last] = ticks
            && same(last, before)
        {
            last.monitors = Arc::clone(&before.monitors);
        }
    }

    /// Records what the monitor of a node did in this tick.
    pub fn insert(&mut self, node: Arc<str>, monitor: Arc<MonitorTick>) {
        Arc::make_mut(&mut self.monitors).insert(node, monitor);
    }
}

/// What one monitor did in one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitorTick {
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

/// What came in one call, before it is known what becomes of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    /// What it said, in order.
    pub observations: Vec<Observation>,
    /// What the call as a whole carried, as name and value.
    pub fields: Vec<(String, String)>,
}

impl Delivery {
    /// The call that it is once it was answered.
    #[must_use]
    pub fn answered(self, accepted: bool, answer: String) -> Call {
        Call {
            observations: self.observations,
            fields: self.fields,
            accepted,
            answer,
        }
    }
}

/// One call that reached whoever the monitor reports to.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What it said, in order.
    pub observations: Vec<Observation>,
    /// What the call as a whole carried, as name and value.
    pub fields: Vec<(String, String)>,
    /// Whether it was taken (whether or not the reply arrived).
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
