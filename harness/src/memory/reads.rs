//! What a recording keeps of a node from tick to tick. Most polls read what the one before read, and most
//! ticks are like the one before: what is equal is shared and not written again.

use std::sync::Arc;

use platforms::Shared;
use simfs::TraceEntry;

use crate::recording::{ChairTick, Reads};

/// What was last recorded of a node.
#[derive(Default)]
pub(crate) struct TraceLog {
    trace: Vec<TraceEntry>,
    reads: Reads,
    state_file: Option<Arc<[u8]>>,
    tick: Shared<ChairTick>,
}

impl TraceLog {
    /// The lines of a trace, behind those that the tick has already.
    pub(crate) fn reads(&mut self, trace: Vec<TraceEntry>, already: &Reads) -> Reads {
        if !already.is_empty() {
            let lines = already.iter().cloned().chain(trace.iter().map(line));
            return lines.collect::<Vec<_>>().into();
        }
        let same = |(one, other): (&TraceEntry, &TraceEntry)| {
            one.op == other.op
                && one.path == other.path
                && one.outcome == other.outcome
                && one.to == other.to
        };
        let equal = trace.len() == self.trace.len() && trace.iter().zip(&self.trace).all(same);
        if !equal || self.reads.is_empty() {
            let before = || self.trace.iter().zip(self.reads.iter());
            let known = trace.iter().zip(before()).map(|(entry, (was, said))| {
                if same((entry, was)) {
                    said.clone()
                } else {
                    line(entry)
                }
            });
            let further = trace.iter().skip(before().count());
            let lines = known.chain(further.map(line));
            self.reads = lines.collect::<Vec<_>>().into();
        }
        self.trace = trace;
        self.reads.clone()
    }

    /// The state file's bytes, shared with the tick before if they are the same.
    pub(crate) fn state_file(&mut self, bytes: Option<&[u8]>) -> Option<Arc<[u8]>> {
        if bytes != self.state_file.as_deref() {
            self.state_file = bytes.map(Into::into);
        }
        self.state_file.clone()
    }

    /// A tick that ends, shared with the one before if the chair did the same.
    pub(crate) fn ended(&mut self, tick: ChairTick) -> Shared<ChairTick> {
        if *self.tick != tick {
            self.tick = tick.into();
        }
        self.tick.clone()
    }
}

fn line(entry: &TraceEntry) -> Arc<str> {
    entry.to_string().into()
}
