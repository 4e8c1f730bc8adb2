//! One counter of one port: its last value, its window, and what was reported of it.
//!
//! Values and windows are stored whether or not the connector answers; what counts as reported
//! changes only when an event is accepted. A breach is reported once and remains until the counter
//! is reset. A reset is a value lower than the last one.

use serde::{Deserialize, Serialize};

use super::threshold::{TOLERANCE, Threshold, Unit, Verdict};
use crate::policy::Policy;
use crate::skip::is_false;

/// The two clocks of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Boot time: windows are measured by it.
    pub(crate) boot_ns: u64,
    /// Wall time, for messages and the state file.
    pub(crate) wall_ns: u64,
}

impl Stamp {
    fn a_second_before(self) -> Stamp {
        Stamp {
            boot_ns: self.boot_ns.saturating_sub(Unit::Second.nanoseconds()),
            ..self
        }
    }
}

/// What was read of a counter in this boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Seed {
    /// The value that growth is measured from.
    pub(crate) value: u64,
    /// When it was read.
    pub(crate) since: Stamp,
    /// The value read last.
    pub(crate) last: u64,
}

/// A breach when it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Breach {
    pub(crate) value: u64,
    /// Growth since the window began.
    pub(crate) growth: u64,
    /// Length of the window, boot time.
    pub(crate) elapsed_ns: u64,
}

/// A fault to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pending {
    Found(Breach),
    /// The fault was reported under another name of the device.
    Again,
}

/// A counter as remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Count {
    /// `None` until it is read in this boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<Seed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<Pending>,
    /// Since when (wall time) its fault is reported, or may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said_since_ns: Option<u64>,
    /// It was reset while its fault was reported.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_reset: bool,
    /// Its healthy event in this boot is pending.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) outstanding: bool,
}

/// The event that is due for a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Breach(Breach),
    Again,
    Recovered,
    Baseline,
}

impl Count {
    /// Stores a reading.
    pub(crate) fn see(
        &mut self,
        value: u64,
        now: Stamp,
        configured: Threshold,
        policy: &dyn Policy,
    ) {
        let fresh = Seed {
            value,
            since: now,
            last: value,
        };
        if self.seed.is_none() && !policy.counts_from_zero() {
            self.seed = Some(fresh);
            return;
        }
        let seed = self.seed.get_or_insert(Seed {
            value: 0,
            since: now.a_second_before(),
            last: 0,
        });
        let before = std::mem::replace(&mut seed.last, value);
        self.is_reset |= self.said_since_ns.is_some() && policy.has_recovered(before, value);
        if value < before {
            *seed = fresh;
            self.pending = None;
            return;
        }
        if self.pending.is_some() || self.said_since_ns.is_some() {
            return;
        }
        let growth = value.saturating_sub(seed.value);
        let elapsed_ns = now.boot_ns.saturating_sub(seed.since.boot_ns);
        let threshold = policy.threshold(configured);
        match threshold.judge(growth, elapsed_ns, policy.window_tolerance(TOLERANCE)) {
            Verdict::Open => return,
            Verdict::Below => {}
            Verdict::Above => {
                self.pending = Some(Pending::Found(Breach {
                    value,
                    growth,
                    elapsed_ns,
                }));
            }
        }
        // A window of one poll needs no start time, so an idle counter causes no write.
        if matches!(threshold, Threshold::Velocity(..)) || growth > 0 {
            *seed = fresh;
        }
    }

    /// Another file belongs to the counter now: growth is measured from its next value; what was
    /// reported remains.
    pub(crate) fn begin_anew(&mut self, value: u64, now: Stamp) {
        self.seed = Some(Seed {
            value,
            since: now,
            last: value,
        });
    }

    /// The event that is due after a reading.
    pub(crate) fn word(&self) -> Option<Word> {
        if self.is_reset {
            return Some(Word::Recovered);
        }
        match self.pending {
            Some(Pending::Found(breach)) => Some(Word::Breach(breach)),
            Some(Pending::Again) => Some(Word::Again),
            None => self.outstanding.then_some(Word::Baseline),
        }
    }

    /// Its fault event was accepted.
    pub(crate) fn was_said(&mut self, wall_ns: u64) {
        self.said_since_ns.get_or_insert(wall_ns);
        (self.pending, self.outstanding) = (None, false);
    }

    /// Its fault event may have been accepted.
    pub(crate) fn may_have_been_said(&mut self, wall_ns: u64) {
        self.said_since_ns.get_or_insert(wall_ns);
    }

    /// Its healthy event was accepted.
    pub(crate) fn was_cleared(&mut self) {
        self.said_since_ns = None;
        (self.is_reset, self.outstanding) = (false, false);
    }

    /// The device has another name now; returns `true` if a fault is reported under the old one.
    pub(crate) fn rename(&mut self) -> bool {
        let stood = self.said_since_ns.take().is_some();
        if stood && !std::mem::take(&mut self.is_reset) && self.pending.is_none() {
            self.pending = Some(Pending::Again);
        }
        stood
    }

    /// The clear of another counter's fault cleared this fault too: it must be reported again.
    pub(crate) fn overshadow(&mut self) {
        if self.said_since_ns.is_some() && !self.is_reset && !self.outstanding {
            self.pending.get_or_insert(Pending::Again);
        }
    }

    /// The host was rebooted: only what was reported is kept.
    pub(crate) fn after_reboot(&mut self) {
        *self = Count {
            said_since_ns: self.said_since_ns,
            outstanding: true,
            ..Count::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::policy::Right;

    const FOUND: Pending = Pending::Found(Breach {
        value: 3,
        growth: 3,
        elapsed_ns: 1,
    });

    fn count(is_said: bool, pending: Option<Pending>, is_reset: bool, outstanding: bool) -> Count {
        Count {
            seed: None,
            pending,
            said_since_ns: is_said.then_some(7),
            is_reset,
            outstanding,
        }
    }

    #[rstest]
    #[case::nothing_stands(count(false, None, false, false), false, None)]
    #[case::not_accepted_yet(count(false, Some(FOUND), false, false), false, Some(FOUND))]
    #[case::a_fault_is_said_again(count(true, None, false, false), true, Some(Pending::Again))]
    #[case::a_reset_one_is_not(count(true, None, true, false), true, None)]
    #[case::what_was_found_since_is_said(count(true, Some(FOUND), true, false), true, Some(FOUND))]
    fn a_fault_is_said_again_under_a_new_name(
        #[case] mut count: Count,
        #[case] stood: bool,
        #[case] pending: Option<Pending>,
    ) {
        assert_eq!(count.rename(), stood);
        assert_eq!(count.pending, pending);
        assert_eq!(count.said_since_ns, None);
        assert!(!count.is_reset);
    }

    #[rstest]
    #[case::nothing_stands(count(false, None, false, false), None)]
    #[case::a_fault_is_said_again(count(true, None, false, false), Some(Pending::Again))]
    #[case::one_that_is_being_cleared_is_not(count(true, None, true, false), None)]
    #[case::nor_one_of_an_earlier_boot(count(true, None, false, true), None)]
    #[case::what_was_found_stays(count(true, Some(FOUND), false, false), Some(FOUND))]
    fn a_clearing_of_anothers_fault_takes_its_own_with_it(
        #[case] mut count: Count,
        #[case] pending: Option<Pending>,
    ) {
        count.overshadow();
        assert_eq!(count.pending, pending);
    }

    fn stamp(second: u64) -> Stamp {
        Stamp {
            boot_ns: second * 1_000_000_000,
            wall_ns: second,
        }
    }

    #[test]
    fn a_breach_stands_as_found_until_a_reset_and_a_reset_of_the_unsaid_is_silent() {
        let any = Threshold::Delta(0.0);
        let mut count = Count::default();
        count.see(5, stamp(1), any, &Right);
        assert_eq!(count.word(), None, "a first sight is no growth");
        count.see(6, stamp(2), any, &Right);
        let found = Some(Word::Breach(Breach {
            value: 6,
            growth: 1,
            elapsed_ns: 1_000_000_000,
        }));
        assert_eq!(count.word(), found);
        count.see(9, stamp(3), any, &Right);
        assert_eq!(count.word(), found, "nobody took it yet");
        count.see(2, stamp(4), any, &Right);
        assert_eq!(count.word(), None);
        count.see(3, stamp(5), any, &Right);
        count.was_said(55);
        count.see(4, stamp(6), any, &Right);
        assert_eq!(count.word(), None, "it stands");
        assert_eq!(count.said_since_ns, Some(55));
        count.was_said(66);
        assert_eq!(count.said_since_ns, Some(55), "since it was said first");
        count.see(0, stamp(7), any, &Right);
        assert_eq!(count.word(), Some(Word::Recovered));
        count.was_cleared();
        assert_eq!(count.word(), None);
        count.see(1, stamp(8), any, &Right);
        assert!(matches!(count.word(), Some(Word::Breach(_))));
    }

    #[test]
    fn a_reboot_forgets_all_but_what_stands() {
        let mut count = count(true, Some(FOUND), true, false);
        count.see(5, stamp(1), Threshold::Delta(0.0), &Right);
        count.after_reboot();
        assert_eq!(count.said_since_ns, Some(7));
        assert_eq!(count.seed, None);
        assert_eq!(count.word(), Some(Word::Baseline));
    }
}
