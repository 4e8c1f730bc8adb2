//! Compares repeated plays of a drill.
//!
//! A recording contains no pid or path of the host and, of a monitor that reads the clock file, no wall-clock time, so two
//! plays of a drill must be equal to the last byte, `generatedTimestamp` included. Of a monitor with a clock of its own the
//! timestamps are left out; and of every monitor the log, because it may contain times and pids. A recording is kept as a fingerprint, so that a run of thousands of
//! drills fits in memory.

use std::{
    fmt::{self, Write as _},
    hash::{DefaultHasher, Hasher as _},
};

use observe::{Call, ClockKind, Recording, Tick};
use terms::Arm;

/// A hash of a recording: 64 bits by the standard library's hasher, which has to be stable within one
/// run only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Of what belongs to no tick.
    course: u64,
    /// Of each tick the parts of [`PARTS`].
    ticks: Vec<[u64; PARTS.len()]>,
}

/// What is compared of a tick.
const PARTS: [&str; 4] = [
    "what it read",
    "its calls and events",
    "how it ended",
    "its state file",
];

impl Fingerprint {
    /// The fingerprint of a recording of a monitor with this clock, without its logs.
    pub(crate) fn of(arm: Arm, clock: ClockKind, recording: &Recording) -> Self {
        let mut course = Hash::default();
        course.add(&arm);
        course.add(&(recording.healing_from, recording.settled_at));
        course.add(&(&recording.broken, &recording.missed_moments));
        let of_tick = |tick: &Tick| {
            let [mut reads, mut calls, mut exits, mut state] =
                std::array::from_fn::<Hash, { PARTS.len() }, _>(|_| Hash::default());
            reads.add(&tick.at_ns);
            for (node, program) in tick.monitors.iter() {
                reads.add(&(node, program.polls, program.reads.len()));
                for read in program.reads.iter() {
                    reads.bytes(read.as_bytes());
                }
                match clock {
                    ClockKind::File => calls.add(&program.calls),
                    ClockKind::Own => calls.add(&timeless(&program.calls)),
                }
                exits.add(&program.exits);
                match &program.state_file {
                    Some(file) => state.bytes(&file.bytes()),
                    None => state.add(&"absent"),
                }
            }
            [reads, calls, exits, state].map(|hash| hash.0.finish())
        };
        Self {
            course: course.0.finish(),
            ticks: recording.ticks.iter().map(of_tick).collect(),
        }
    }

    /// The first poll in which another play differs, and in what; `None` if both are equal.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self == other {
            return None;
        }
        let ticks = self.ticks.iter().zip(&other.ticks);
        let Some((poll, (one, two))) = ticks.enumerate().find(|(_, (one, two))| one != two) else {
            let (one, two) = (self.ticks.len(), other.ticks.len());
            return Some(if one == two {
                "its end differs".to_owned()
            } else {
                format!(
                    "it had {} and has {two}",
                    reports::counted(one as u64, "poll")
                )
            });
        };
        let parts = PARTS.iter().zip(one.iter().zip(two));
        let parts: Vec<&str> = parts
            .filter(|(_, (one, two))| one != two)
            .map(|(part, _)| *part)
            .collect();
        Some(format!(
            "from poll {poll} on it differs, in {}",
            parts.join(", ")
        ))
    }
}

/// The calls without the times at which their events were found; these are in the received bytes too.
fn timeless(calls: &[Call]) -> Vec<Call> {
    let mut calls = calls.to_vec();
    for observation in calls.iter_mut().flat_map(|call| &mut call.observations) {
        observation.stamped_ns = None;
        observation.raw.clear();
    }
    calls
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
    use observe::{Exit, MonitorTick, Observation};

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
        let of = |recording: Recording| Fingerprint::of(Arm::Memory, ClockKind::Own, &recording);
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

    #[test]
    fn a_difference_names_its_first_poll_and_what_differs() {
        let of = |recording: Recording| Fingerprint::of(Arm::Memory, ClockKind::Own, &recording);
        let plain = of(recording(|_| ()));
        let ended = of(recording(|program| program.exits.push(Exit::Code(1))));
        assert_eq!(plain.difference(&plain.clone()), None);
        assert_eq!(
            plain.difference(&ended).as_deref(),
            Some("from poll 0 on it differs, in how it ended")
        );
        let never = of(Recording::default());
        assert_eq!(
            plain.difference(&never).as_deref(),
            Some("it had 1 poll and has 0")
        );
    }

    #[test]
    fn a_timestamp_is_compared_unless_the_clock_is_the_monitors_own() {
        let stamped = |ns| {
            let observation = Observation {
                stamped_ns: Some(ns),
                raw: ns.to_be_bytes().to_vec(),
                ..Observation::default()
            };
            let call = Call {
                observations: vec![observation],
                fields: Vec::new(),
                accepted: true,
                answer: String::new(),
            };
            recording(|program| program.calls.push(call))
        };
        let of = |clock, ns| Fingerprint::of(Arm::Process, clock, &stamped(ns));
        assert_eq!(of(ClockKind::Own, 1), of(ClockKind::Own, 2));
        assert_ne!(of(ClockKind::File, 1), of(ClockKind::File, 2));
    }
}
