//! Counting rules: a number of events in a window that ends with the triggering event.
//!
//! The window is `[T - window, T]` by the events' timestamps, inclusive, where T is the timestamp of
//! the triggering event (NVSentinel, health-events-analyzer). So a late event counts for later ones
//! and does not change earlier results, and after a step back of the clock, events from before it are
//! in the future and do not count. For each group as many events are kept as the rule can need, and
//! the oldest arrivals are removed first: memory depends on the number of groups, not on the length of
//! the stream.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use proto::HealthEvent;

use super::{
    faults::Turn,
    group::Group,
    rule::{Count, Match, On, Repeat, Rule},
};
use crate::stamp::Stamp;

/// The number of events kept per group, as a multiple of the rule's count, so that late events find
/// the events of their window. Chosen.
const KEPT_PER_COUNT: usize = 8;

/// The events of a rule, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies(BTreeMap<Group, Tally>);

#[derive(Clone, Debug, Default)]
struct Tally {
    /// In order of arrival: the timestamp, and which alternatives of `match` matched, as bits.
    seen: VecDeque<(Stamp, u8)>,
    is_reached: bool,
    touched: Stamp,
}

impl Tallies {
    /// Adds an event of this group; returns the count if the rule fires.
    pub(super) fn take(
        &mut self,
        rule: &Rule,
        count: &Count,
        group: &Group,
        event: &HealthEvent,
        turn: Turn,
        clock: Stamp,
    ) -> Option<usize> {
        let at = floored(count, Stamp::of(event.generated_timestamp.as_ref()));
        let met = met(&rule.matches, event, turn);
        let wants = |trigger: &Match| !event.is_healthy && meets(trigger, event, turn);
        let triggers = count.trigger.iter().any(wants);
        if met.is_none() && !triggers {
            return None;
        }
        let tally = self.0.entry(group.clone()).or_default();
        tally.touched = clock;
        let is_fresh = met.is_some_and(|bit| tally.add(at, bit, count));
        let looks = triggers || is_fresh && count.trigger.is_empty();
        if !looks {
            return None;
        }
        let oldest = at.before(count.window);
        let is_in = |(seen, _): &&(Stamp, u8)| (oldest..=at).contains(seen);
        let found = tally.seen.iter().filter(is_in).count();
        let was_reached = std::mem::replace(&mut tally.is_reached, found >= count.count);
        let is_news = count.repeat == Repeat::Each || !was_reached;
        (tally.is_reached && is_news).then_some(found)
    }

    /// Removes the groups without events since `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0.retain(|_, tally| tally.touched >= oldest);
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(Group, Tally)>();
        let of = |(group, tally): (&Group, &Tally)| {
            entry + group.len() + tally.seen.capacity() * size_of::<(Stamp, u8)>()
        };
        self.0.iter().map(of).sum()
    }
}

impl Tally {
    /// Adds an event; returns whether it is a new one, instead of the other side of one seen before.
    fn add(&mut self, at: Stamp, bit: u8, count: &Count) -> bool {
        let is_other_side =
            |(seen, sides): &&mut (Stamp, u8)| *sides & bit == 0 && seen.apart(at) <= count.merge;
        if count.merge > Duration::ZERO
            && let Some((seen, sides)) = self.seen.iter_mut().find(is_other_side)
        {
            *seen = (*seen).min(at);
            *sides |= bit;
            return false;
        }
        if self.seen.len() >= count.count * KEPT_PER_COUNT {
            self.seen.pop_front();
        }
        self.seen.push_back((at, bit));
        true
    }
}

fn floored(count: &Count, at: Stamp) -> Stamp {
    const NS_PER_S: i64 = 1_000_000_000;
    if count.whole_seconds {
        Stamp::from_s(at.as_ns().div_euclid(NS_PER_S))
    } else {
        at
    }
}

/// The first alternative that the event matches, as a bit.
fn met(matches: &[Match], event: &HealthEvent, turn: Turn) -> Option<u8> {
    let found = matches.iter().position(|one| meets(one, event, turn))?;
    Some(1 << found)
}

/// Whether an event matches, given what it means for its fault.
pub(super) fn meets(one: &Match, event: &HealthEvent, turn: Turn) -> bool {
    let turns = match (one.on, turn) {
        (On::Each, _) | (On::Fall, Turn::Fall) => true,
        (On::Return { after }, Turn::Return(stood)) => stood >= after,
        _ => false,
    };
    turns && one.meets(event)
}
