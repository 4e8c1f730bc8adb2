//! Compares repeated plays of a drill.
//!
//! A recording contains no wall-clock time, pid or path of the host, so two plays of a drill must be
//! equal to the last byte, `generatedTimestamp` included. Only the monitor's log is left out, because
//! it may contain times and pids. A recording is kept as a fingerprint, so that a run of thousands of
//! drills fits in memory.

use std::{
    fmt::{self, Write as _},
    hash::{DefaultHasher, Hasher as _},
};

use observe::Recording;
use scenarios::Arm;

/// A hash of a recording: 64 bits by the standard library's hasher, which has to be stable within one
/// run only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Fingerprint {
    /// The fingerprint of a recording without its logs.
    pub(super) fn of(arm: Arm, recording: &Recording) -> Self {
        let mut hash = Hash::default();
        hash.add(&arm);
        hash.add(&(recording.healing_from, recording.settled_at));
        hash.add(&(&recording.broken, &recording.missed_moments));
        for tick in &recording.ticks {
            hash.add(&tick.at_ns);
            for (node, program) in tick.monitors.iter() {
                hash.add(&(node, program.polls, program.reads.len()));
                for read in program.reads.iter() {
                    hash.bytes(read.as_bytes());
                }
                hash.add(&(&program.calls, &program.exits));
                match &program.state_file {
                    Some(bytes) => hash.bytes(bytes),
                    None => hash.add(&"absent"),
                }
            }
        }
        Self(hash.0.finish())
    }
}

/// Hashes values by their debug text, and bytes; both with their lengths.
#[derive(Default)]
struct Hash(DefaultHasher);

impl Hash {
    fn add(&mut self, part: &dyn fmt::Debug) {
        write!(self, "{part:?};").expect("a hash takes all");
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.write_usize(bytes.len());
        self.0.write(bytes);
    }
}

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use observe::{Exit, MonitorTick, Tick};

    fn recording(change: impl FnOnce(&mut MonitorTick)) -> Recording {
        let mut program = MonitorTick {
            polls: 1,
            ..MonitorTick::default()
        };
        change(&mut program);
        Recording {
            ticks: vec![Tick {
                monitors: Arc::new(std::iter::once(("n".into(), program.into())).collect()),
                ..Tick::default()
            }],
            ..Recording::default()
        }
    }

    #[test]
    fn everything_but_the_log_is_compared() {
        let of = |recording: Recording| Fingerprint::of(Arm::Memory, &recording);
        let plain = of(recording(|_| ()));
        assert_eq!(
            plain,
            of(recording(|program| program
                .log
                .push("at 12:01:07".to_owned())))
        );
        assert_ne!(plain, of(recording(|program| program.polls = 2)));
        assert_ne!(
            plain,
            of(recording(|program| program.exits.push(Exit::Code(1))))
        );
        assert_ne!(
            plain,
            of(recording(
                |program| program.reads = vec!["list x".into()].into()
            ))
        );
        assert_ne!(
            plain,
            of(recording(
                |program| program.state_file = Some((*b"{}").into())
            ))
        );
    }
}
