//! What a recording keeps of a node from tick to tick. Most polls read the same as the poll before,
//! and most ticks equal the tick before: equal parts are shared.

use std::sync::Arc;

use simfs::{Fs, TraceEntry};

use observe::{MonitorTick, Reads, StateFile};

/// What was last recorded of a node.
#[derive(Default)]
pub struct TraceLog {
    trace: Vec<TraceEntry>,
    /// How many operations the file system has dropped from its trace.
    dropped: u64,
    reads: Reads,
    state_file: Option<StateFile>,
    tick: Arc<MonitorTick>,
}

impl TraceLog {
    /// The operations since the last call, appended to those that the tick already has.
    pub fn reads(&mut self, fs: &mut Fs, already: &Reads) -> Reads {
        let (trace, dropped) = (fs.take_trace(), fs.trace_dropped());
        let lost = dropped - std::mem::replace(&mut self.dropped, dropped);
        if !already.is_empty() || lost > 0 {
            let gap = (lost > 0).then(|| format!("{lost} operations before these were not kept"));
            let known = already.iter().cloned().chain(gap.map(Into::into));
            let lines = known.chain(trace.iter().map(line));
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
            let known = trace.iter().zip(before()).map(|(entry, (was, reported))| {
                if same((entry, was)) {
                    reported.clone()
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

    /// The content of the state file, shared with the tick before where equal.
    pub fn state_file(&mut self, bytes: Option<&[u8]>) -> Option<StateFile> {
        self.state_file = bytes.map(|bytes| match &self.state_file {
            Some(before) => before.then(bytes),
            None => bytes.into(),
        });
        self.state_file.clone()
    }

    /// A finished tick, shared with the tick before if equal.
    pub fn ended(&mut self, tick: MonitorTick) -> Arc<MonitorTick> {
        if *self.tick != tick {
            self.tick = Arc::new(tick);
        }
        Arc::clone(&self.tick)
    }
}

fn line(entry: &TraceEntry) -> Arc<str> {
    entry.to_string().into()
}

#[cfg(test)]
mod tests {
    use simfs::{Edit, FileValue};

    use super::*;

    fn after(polls: &[usize]) -> Vec<Reads> {
        let mut fs = Fs::new();
        fs.apply(&[Edit::File {
            path: "state".into(),
            value: FileValue::Bytes(b"4: ACTIVE".to_vec()),
        }]);
        let mut log = TraceLog::default();
        let polls = polls.iter().map(|reads| {
            for _ in 0..*reads {
                fs.read("state").expect("the file is there");
            }
            log.reads(&mut fs, &Reads::default())
        });
        polls.collect()
    }

    #[test]
    fn operations_that_were_not_kept_are_told_where_they_are_missing() {
        let [runaway, next] = &after(&[65_536 + 3, 1])[..] else {
            panic!("two polls");
        };
        assert_eq!(runaway.len(), 1 + 65_536);
        assert_eq!(&*runaway[0], "3 operations before these were not kept");
        assert_eq!(next.to_lines(), ["read state: 9"]);
    }
}
