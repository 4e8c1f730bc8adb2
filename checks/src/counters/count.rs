//! One counter of one port: its last value, its window, and what was said of it.
//!
//! Values and windows are kept whatever the connector says; what was said changes only when it was
//! accepted. A breach is said once and stands until the counter is reset; a reset is a value lower
//! than the last one.

use serde::{Deserialize, Serialize};

use super::threshold::{Threshold, Verdict};
use crate::memory::is_false;

/// A poll's two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Boot time: windows are measured on it.
    pub(crate) boot_ns: u64,
    /// Wall time, for people and for the state file.
    pub(crate) wall_ns: u64,
}

/// What was read of a counter in this boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seed {
    /// The value that growth is measured from.
    pub(crate) value: u64,
    /// When it was read.
    pub(crate) since: Stamp,
    /// The value read last.
    pub(crate) last: u64,
}

/// A breach as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Breach {
    pub(crate) value: u64,
    /// Since the window began.
    pub(crate) growth: u64,
    /// Length of the window, boot time.
    pub(crate) elapsed_ns: u64,
}

/// A fault that is to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pending {
    Found(Breach),
    /// It stood under another name of the device.
    Again,
}

/// A counter as remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Count {
    /// `None` until it is read in this boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<Seed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pending: Option<Pending>,
    /// Since when, wall time, its fault stands at the connector, or may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said_since_ns: Option<u64>,
    /// It was reset while its fault stood.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_reset: bool,
    /// Its health in this boot is to be said.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) owed: bool,
}

/// What is to be said of a counter now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Breach(Breach),
    Again,
    Recovered,
    Baseline,
}

impl Count {
    /// Takes a reading.
    pub(crate) fn see(&mut self, value: u64, now: Stamp, threshold: Threshold) {
        let fresh = Seed {
            value,
            since: now,
            last: value,
        };
        let Some(seed) = &mut self.seed else {
            self.seed = Some(fresh);
            return;
        };
        let before = std::mem::replace(&mut seed.last, value);
        if value < before {
            *seed = fresh;
            self.pending = None;
            self.is_reset |= self.said_since_ns.is_some();
            return;
        }
        if self.pending.is_some() || self.said_since_ns.is_some() {
            return;
        }
        let growth = value.saturating_sub(seed.value);
        let elapsed_ns = now.boot_ns.saturating_sub(seed.since.boot_ns);
        match threshold.judge(growth, elapsed_ns) {
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
        // A window per poll needs no start, so a counter at rest costs no write.
        if matches!(threshold, Threshold::Velocity(..)) || growth > 0 {
            *seed = fresh;
        }
    }

    /// Another file stands behind the counter now: growth begins anew, what was said stands.
    pub(crate) fn begin_anew(&mut self, value: u64, now: Stamp) {
        self.seed = Some(Seed {
            value,
            since: now,
            last: value,
        });
    }

    /// What is to be said of it after a reading.
    pub(crate) fn word(&self) -> Option<Word> {
        if self.is_reset {
            return Some(Word::Recovered);
        }
        match self.pending {
            Some(Pending::Found(breach)) => Some(Word::Breach(breach)),
            Some(Pending::Again) => Some(Word::Again),
            None => self.owed.then_some(Word::Baseline),
        }
    }

    /// Its fault was accepted.
    pub(crate) fn was_said(&mut self, wall_ns: u64) {
        self.said_since_ns.get_or_insert(wall_ns);
        (self.pending, self.owed) = (None, false);
    }

    /// Its fault may have been accepted.
    pub(crate) fn may_have_been_said(&mut self, wall_ns: u64) {
        self.said_since_ns.get_or_insert(wall_ns);
    }

    /// Its health was accepted.
    pub(crate) fn was_cleared(&mut self) {
        self.said_since_ns = None;
        (self.is_reset, self.owed) = (false, false);
    }

    /// The device goes by another name now; `true` when a fault stands under the old one.
    pub(crate) fn rename(&mut self) -> bool {
        let stood = self.said_since_ns.take().is_some();
        if stood && !std::mem::take(&mut self.is_reset) && self.pending.is_none() {
            self.pending = Some(Pending::Again);
        }
        stood
    }

    /// A clearing of another's fault takes its own with it: it is to be said again.
    pub(crate) fn overshadow(&mut self) {
        if self.said_since_ns.is_some() && !self.is_reset && !self.owed {
            self.pending.get_or_insert(Pending::Again);
        }
    }

    /// The host was rebooted: nothing is known but what stands at the connector.
    pub(crate) fn after_reboot(&mut self) {
        *self = Count {
            said_since_ns: self.said_since_ns,
            owed: true,
            ..Count::default()
        };
    }
}
