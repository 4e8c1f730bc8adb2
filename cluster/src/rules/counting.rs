//! Rules that count: so many events in a window that ends with the one that triggers.
//!
//! The window is `[T - window, T]` by the events' own stamps, both ends included, T being the stamp of
//! the triggering event (NVSentinel, health-events-analyzer). So an event that comes late counts for
//! later ones and changes nothing about those that came before it, and after a clock's step back what
//! was stamped before it lies in the future and does not count. Of each group as many events are kept
//! as the rule can need, the oldest arrivals going first: memory follows the groups, not the history.

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

/// Of each group so many times the rule's count is kept, so that events which come late, out of their
/// order, find what they belong to. Chosen.
const KEPT_PER_COUNT: usize = 8;

/// What a rule has counted, by group.
#[derive(Clone, Debug, Default)]
pub(super) struct Tallies(BTreeMap<Group, Tally>);

#[derive(Clone, Debug, Default)]
struct Tally {
    /// In the order of arrival: the stamp, and which alternatives of `match` it was, as bits.
    seen: VecDeque<(Stamp, u8)>,
    is_reached: bool,
    touched: Stamp,
}

impl Tallies {
    /// Takes in an event of this group; the count, if the rule fires.
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

    /// Forgets the groups of which nothing was heard since before `oldest`.
    pub(super) fn forget(&mut self, oldest: Stamp) {
        self.0.retain(|_, tally| tally.touched >= oldest);
    }

    /// Bytes kept.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(Group, Tally)>();
        let of = |(group, tally): (&Group, &Tally)| {
            entry + group.len() + tally.seen.capacity() * size_of::<(Stamp, u8)>()
        };
        self.0.iter().map(of).sum()
    }
}

impl Tally {
    /// Is it another one? Not if it belongs to one that was seen already, as the other side of it.
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

/// The first alternative that the event is, as a bit.
fn met(matches: &[Match], event: &HealthEvent, turn: Turn) -> Option<u8> {
    let found = matches.iter().position(|one| meets(one, event, turn))?;
    Some(1 << found)
}

/// Is it such an event, at such a turn of its fault's life?
pub(super) fn meets(one: &Match, event: &HealthEvent, turn: Turn) -> bool {
    let turns = match (one.on, turn) {
        (On::Each, _) | (On::Fall, Turn::Fall) => true,
        (On::Return { after }, Turn::Return(stood)) => stood >= after,
        _ => false,
    };
    turns && one.meets(event)
}
