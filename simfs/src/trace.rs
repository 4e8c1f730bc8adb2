//! The trace: a reader's operations and their results.

use std::{collections::VecDeque, fmt, sync::Arc};

use crate::{Errno, Op, SimTime};

/// The number of entries that a trace keeps until they are taken. Chosen: some hundred polls of a
/// large machine; older entries are dropped and counted.
const ENTRIES_MAX: usize = 65_536;

/// One logical operation and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// The number of the poll; 0 before the first.
    pub poll: u64,
    /// The time.
    pub at: SimTime,
    /// The operation.
    pub op: Op,
    /// The name through an alias folder if there is one, otherwise the path in the tree.
    pub path: Arc<str>,
    /// The new name, for a [`Op::Rename`].
    pub to: Option<Arc<str>>,
    /// The result.
    pub outcome: TraceOutcome,
}

/// The result of a logical operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceOutcome {
    /// Success: the number of bytes read or written, or of names listed; otherwise 0.
    Ok(usize),
    /// With an error.
    Failed(Errno),
    /// A rule held it. Its release adds no entry.
    Hung,
}

impl fmt::Display for TraceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.op, self.path)?;
        if let Some(to) = &self.to {
            write!(f, " to {to}")?;
        }
        match self.outcome {
            TraceOutcome::Ok(measure) => write!(f, ": {measure}"),
            TraceOutcome::Failed(errno) => write!(f, ": {errno}"),
            TraceOutcome::Hung => f.write_str(": hangs"),
        }
    }
}

/// How often each operation was done since the poll started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpCounts([u64; Op::ALL.len()]);

impl OpCounts {
    /// The count of this operation.
    #[must_use]
    pub const fn of(&self, op: Op) -> u64 {
        self.0[op as usize]
    }

    /// The sum over all operations.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// The entries that were not taken yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) off: bool,
    entries: VecDeque<TraceEntry>,
    dropped: u64,
    counts: OpCounts,
}

impl Trace {
    pub(crate) fn poll_begins(&mut self) {
        self.counts = OpCounts::default();
    }

    pub(crate) fn counts(&self) -> OpCounts {
        self.counts
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn note(&mut self, op: Op, entry: impl FnOnce() -> TraceEntry) {
        self.counts.0[op as usize] += 1;
        if self.off {
            return;
        }
        if self.entries.len() == ENTRIES_MAX {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.entries.push_back(entry());
    }

    pub(crate) fn take(&mut self) -> Vec<TraceEntry> {
        // Most polls do as many operations as the poll before.
        let next = VecDeque::with_capacity(self.entries.len());
        std::mem::replace(&mut self.entries, next).into()
    }
}
