//! A recording: everything that was observed in one drill in one arm, as input of the judge.
//!
//! Both arms create recordings of the same form, so that one judge reads both and the two can be
//! compared line by line. A recording contains no wall-clock time, pid or path of the host.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Deref,
    sync::Arc,
};

use crate::{Answers, Call, Exit, Protocol, RunEnd, Scrape, StateFile};

/// The recording of one drill in one arm.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The protocol of its monitors.
    pub protocol: Protocol,
    /// The world's wall clock when the drill began, in nanoseconds since 1970.
    pub start_wall_ns: u64,
    /// One entry per tick, from tick 0, healing included.
    pub ticks: Vec<Tick>,
    /// The tick in which healing began, if it did.
    pub healing_from: Option<u64>,
    /// The tick in which every port that should be up was ACTIVE again after healing began.
    pub settled_at: Option<u64>,
    /// Why the drill did not play to its end, if so.
    pub broken: Option<Broken>,
    /// Moments that never came: the text of the step and its place.
    pub missed_moments: Vec<String>,
    /// What was spoken on the monitors' connections, as far as the transport knows; equal ones are counted.
    pub connections: Vec<String>,
    /// Nodes and ticks: the connector listened again after a time in which it did not, and at the tick's end nobody had
    /// connected to it since. Process arm only.
    pub unreached: BTreeSet<(String, u64)>,
}

impl Recording {
    /// The reads of all monitors in all ticks, as lines of text. None if the arm does not know them.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        let monitors = self.ticks.iter().flat_map(|tick| tick.monitors.values());
        let reads = monitors.flat_map(|monitor| monitor.reads.iter());
        reads.map(|line| &**line)
    }
}

/// The recording of one tick.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// The simulated time, in nanoseconds since the drill began.
    pub at_ns: u64,
    /// The recordings of the nodes' monitors, by node name; shared with the previous tick where
    /// equal.
    pub monitors: Arc<BTreeMap<Arc<str>, Arc<MonitorTick>>>,
}

impl Tick {
    /// Shares parts of the last, complete tick with the previous one where they are equal.
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

    /// Adds what a node's monitor did in this tick.
    pub fn insert(&mut self, node: Arc<str>, monitor: Arc<MonitorTick>) {
        Arc::make_mut(&mut self.monitors).insert(node, monitor);
    }
}

/// What one monitor did in one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitorTick {
    /// Number of polls that ended in this tick: 1, or 0 in ticks without a poll. A page that the monitor does not give is one,
    /// unless the story has it stopped or holds a read of it.
    pub polls: u32,
    /// The logical reads of the poll, as `op path: outcome`.
    pub reads: Reads,
    /// Calls received in this tick, in order.
    pub calls: Vec<Call>,
    /// Log lines of the monitor (process arm: stderr, then stdout; memory arm: its log records).
    pub log: Vec<String>,
    /// The monitor's answers to queries at the tick's end.
    pub answers: Answers,
    /// The scrapes that ended in this tick, of a monitor that is scraped.
    pub scrapes: Vec<Scrape>,
    /// Exits in this tick.
    pub exits: Vec<Exit>,
    /// How the runs ended that ended by themselves in this tick, of a program that is run again and again.
    pub run_ends: Vec<RunEnd>,
    /// The state file at the tick's end; `None` if it does not exist.
    pub state_file: Option<StateFile>,
}

/// The reads of one poll, shared by all polls with the same reads. Polls that differ in some lines
/// share the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads(Arc<[Arc<str>]>);

impl Reads {
    /// The reads as lines of text.
    #[must_use]
    pub fn to_lines(&self) -> Vec<String> {
        self.iter().map(|line| line.to_string()).collect()
    }
}

/// A line of a poll's reads for a person: the number after it has its unit, which of a read is bytes and not the file's value.
///
/// ```
/// assert_eq!(observe::told_read("read class/net/eth0/mtu: 5"), "read class/net/eth0/mtu: 5 bytes");
/// assert_eq!(observe::told_read("read class/net/eth0/mtu: EIO"), "read class/net/eth0/mtu: EIO");
/// ```
#[must_use]
pub fn told_read(line: &str) -> String {
    let number = line.rsplit_once(": ").map(|(_, outcome)| outcome);
    let is_one = match number {
        Some(number) if number.parse::<u64>().is_ok() => number == "1",
        _ => return line.to_owned(),
    };
    let unit = match line.split_once(' ') {
        Some(("read", _)) if is_one => "byte",
        Some(("read", _)) => "bytes",
        Some(("list", _)) if is_one => "entry",
        Some(("list", _)) => "entries",
        _ => return line.to_owned(),
    };
    format!("{line} {unit}")
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

/// Why a drill did not play to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The monitor made no progress within the limit.
    Hung {
        /// The tick.
        tick: u64,
        /// What was waited for.
        waiting_for: String,
    },
    /// The monitor ended by itself.
    Crashed {
        /// The tick.
        tick: u64,
        /// How it ended.
        exit: Exit,
        /// The last lines of its log.
        last_words: Vec<String>,
    },
    /// The monitor used more in one poll, or took longer, than a drill allows.
    Excess {
        /// The tick.
        tick: u64,
        /// What it did too much of, and the limit.
        what: String,
    },
    /// The monitor cannot be killed: it waits in the kernel.
    StuckInKernel {
        /// The tick.
        tick: u64,
    },
    /// The connector's socket is not as the drill made it. Only what runs in the monitor's mount namespace sees its folder.
    SocketTampered {
        /// The tick.
        tick: u64,
        /// What was found in its place.
        what: String,
    },
    /// A signal asked nicdrill for an early end.
    Interrupted,
    /// The stage could not be set, which is not the monitor's fault.
    Stage {
        /// What failed.
        cause: String,
    },
}
