//! Drop and delay rules: LNet's own fault injection (`lnetctl fault drop add`, `fault delay add`).
//!
//! A rule that drops or delays applies to messages that arrive at its node; one that simulates a
//! status applies to messages that its node sends, in the driver. The first matching rule applies.

use std::collections::BTreeSet;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use simfs::SimTime;

use super::{
    nid::{Nid, NidPattern},
    stats::MessageKind,
    status::MsgStatus,
};

/// Which of the matching messages a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Every message (`-x`).
    Every,
    /// One in each window of this many, at a random position (`-r`); in windows of two, the first.
    OneIn(u32),
    /// The first in each interval of this many seconds (`-i`).
    EverySecs(u32),
    /// The first after a random time in each interval of this many seconds (`-i -n`).
    RandomlyEverySecs(u32),
}

/// The effect of a rule on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultEffect {
    /// It is lost on arrival.
    Drop,
    /// Its send ends with one of these statuses (`-e`); a random one if there are several.
    Simulate(Vec<MsgStatus>),
    /// Its arrival is delayed by this much (`-l`).
    Delay(SimTime),
}

/// The specification of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// The interface of its origin (`-s`).
    pub source: NidPattern,
    /// The interface of its destination (`-d`).
    pub destination: NidPattern,
    /// The kinds of message (`-m`); all if empty.
    pub kinds: BTreeSet<MessageKind>,
    /// The portal (`-p`).
    pub portal: Option<u32>,
    /// The local interface on which it arrives or leaves (`-o`).
    pub via: Option<Nid>,
    /// Which of the matching messages.
    pub pace: Pace,
    /// The effect.
    pub effect: FaultEffect,
}

/// Why a rule is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A window or interval of 0.
    #[error("a rule cannot hit one in 0, or once in 0 seconds\nhint: {hint}", hint = self.hint())]
    NoPace,
    /// No status to simulate, or `ok`.
    #[error("a rule cannot simulate success\nhint: {hint}", hint = self.hint())]
    NoStatus,
    /// A delay of 0.
    #[error("a rule cannot delay by 0\nhint: {hint}", hint = self.hint())]
    NoDelay,
}

impl RuleError {
    /// The hint.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoPace => "give 1 or more",
            Self::NoStatus => "give one or more statuses such as `local_dropped`",
            Self::NoDelay => "give a latency",
        }
    }
}

/// A rule with its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its specification.
    pub spec: FaultRule,
    /// Number of messages that matched.
    pub matched: u64,
    /// Number of messages that it was applied to.
    pub hits: u64,
    random: SplitMix64,
    /// The position in the window that it applies to, from 0.
    place: u64,
    added: SimTime,
    /// The first time at which it may apply again.
    due: SimTime,
}

/// A message as a rule sees it.
pub(crate) struct Passing<'a> {
    pub(crate) source: &'a Nid,
    pub(crate) destination: &'a Nid,
    pub(crate) kind: MessageKind,
    pub(crate) portal: u32,
    pub(crate) via: &'a Nid,
}

impl Rule {
    pub(crate) fn new(spec: FaultRule, seed: u64, now: SimTime) -> Result<Self, RuleError> {
        match spec.pace {
            Pace::OneIn(0) | Pace::EverySecs(0) | Pace::RandomlyEverySecs(0) => {
                return Err(RuleError::NoPace);
            }
            Pace::Every | Pace::OneIn(_) | Pace::EverySecs(_) | Pace::RandomlyEverySecs(_) => {}
        }
        match &spec.effect {
            FaultEffect::Simulate(list) if list.is_empty() || list.contains(&MsgStatus::Ok) => {
                return Err(RuleError::NoStatus);
            }
            FaultEffect::Delay(SimTime::ZERO) => return Err(RuleError::NoDelay),
            FaultEffect::Drop | FaultEffect::Simulate(_) | FaultEffect::Delay(_) => {}
        }
        let mut rule = Self {
            spec,
            matched: 0,
            hits: 0,
            random: SplitMix64::seed_from_u64(seed),
            place: 0,
            added: now,
            due: now,
        };
        rule.draw_due(0);
        Ok(rule)
    }

    /// Whether the rule applies to a message now.
    pub(crate) fn hits(&mut self, passing: &Passing<'_>, now: SimTime) -> bool {
        let spec = &self.spec;
        let fits = spec.source.fits(passing.source)
            && spec.destination.fits(passing.destination)
            && (spec.kinds.is_empty() || spec.kinds.contains(&passing.kind))
            && spec.portal.is_none_or(|portal| portal == passing.portal)
            && spec.via.as_ref().is_none_or(|via| via == passing.via);
        if !fits {
            return false;
        }
        let seen = self.matched;
        self.matched += 1;
        let hit = match spec.pace {
            Pace::Every => true,
            Pace::OneIn(window) => {
                let place = seen % u64::from(window);
                if place == 0 {
                    self.draw_place();
                }
                place == self.place
            }
            Pace::EverySecs(_) | Pace::RandomlyEverySecs(_) => now >= self.due,
        };
        if hit {
            self.hits += 1;
            if let Pace::EverySecs(span_s) | Pace::RandomlyEverySecs(span_s) = self.spec.pace {
                let span_ns = u64::from(span_s) * 1_000_000_000;
                self.draw_due(now.since(self.added).as_ns() / span_ns + 1);
            }
        }
        hit
    }

    /// The simulated status: a random number selects the listed status nearest to it.
    pub(crate) fn status(&mut self) -> Option<MsgStatus> {
        let FaultEffect::Simulate(list) = &self.spec.effect else {
            return None;
        };
        let mut listed = list.clone();
        listed.sort_unstable();
        let drawn = self.below(10) + 1;
        let by_nearness = |status: &MsgStatus| (status.number() as u64).abs_diff(drawn);
        listed.into_iter().min_by_key(by_nearness)
    }

    fn draw_place(&mut self) {
        if let Pace::OneIn(window) = self.spec.pace {
            let drawn = self.below(u64::from(window));
            self.place = if window == 2 { 0 } else { drawn };
        }
    }

    fn draw_due(&mut self, span: u64) {
        let (span_s, late) = match self.spec.pace {
            Pace::RandomlyEverySecs(span_s) => (span_s, self.below(u64::from(span_s))),
            Pace::EverySecs(span_s) => (span_s, 0),
            Pace::Every | Pace::OneIn(_) => return,
        };
        self.due = self.added + SimTime::from_secs(u64::from(span_s) * span + late);
    }

    /// A random number below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }
}
