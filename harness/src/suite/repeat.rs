//! Whether two plays of one drill told the same.
//!
//! A recording holds no wall-clock value, no process id and no path of the host, so two plays of a
//! drill are equal to the last byte, `generatedTimestamp` included, or something is wrong. Only the
//! monitor's log is left out: it is for people, and may name times and processes. To hold a run of
//! thousands of drills, a recording is kept as its fingerprint.

use std::fmt::{self, Write as _};

use crate::Recording;

/// What stands for a recording in a comparison: 64 bits by Fowler, Noll and Vo (FNV-1a).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Fingerprint {
    /// The fingerprint of a recording, its logs left out.
    pub(super) fn of(recording: &Recording) -> Self {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        let mut add = |part: fmt::Arguments<'_>| hash.write_fmt(part).expect("a hash takes all");
        add(format_args!(
            "{:?} {:?}",
            recording.arm, recording.healing_from
        ));
        add(format_args!(
            "{:?} {:?}",
            recording.settled_at, recording.broken
        ));
        add(format_args!("{:?}", recording.missed_moments));
        for tick in &recording.ticks {
            add(format_args!("{:?}", tick.at));
            for (node, chair) in &tick.chairs {
                add(format_args!("{node:?} {} {:?}", chair.polls, chair.reads));
                add(format_args!(
                    "{:?} {:?} {:?}",
                    chair.calls, chair.exits, chair.state_file
                ));
            }
        }
        Self(hash.0)
    }
}

struct Hash(u64);

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChairTick, Exit, Tick};

    fn recording(change: impl FnOnce(&mut ChairTick)) -> Recording {
        let mut chair = ChairTick {
            polls: 1,
            ..ChairTick::default()
        };
        change(&mut chair);
        let chairs = [(platforms::NodeName::from("n"), chair)].into();
        Recording {
            ticks: vec![Tick {
                chairs,
                ..Tick::default()
            }],
            ..Recording::default()
        }
    }

    #[test]
    fn everything_but_the_log_is_compared() {
        let of = |recording: Recording| Fingerprint::of(&recording);
        let plain = of(recording(|_| ()));
        assert_eq!(
            plain,
            of(recording(|chair| chair.log.push("at 12:01:07".to_owned())))
        );
        assert_ne!(plain, of(recording(|chair| chair.polls = 2)));
        assert_ne!(
            plain,
            of(recording(|chair| chair.exits.push(Exit::Code(1))))
        );
        assert_ne!(
            plain,
            of(recording(
                |chair| chair.reads = vec!["list x".to_owned()].into()
            ))
        );
        assert_ne!(
            plain,
            of(recording(|chair| chair.state_file = Some((*b"{}").into())))
        );
    }
}
