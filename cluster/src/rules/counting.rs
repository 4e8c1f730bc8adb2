//! Counting rules: a number of events in a window that ends with the triggering event.
//!
//! The window is `[T - window, T]` by the events' timestamps, inclusive, where T is the timestamp of
//! the triggering event (NVSentinel, health-events-analyzer). So a late event counts for later ones
//! and does not change earlier results, and after a step back of the clock, events from before it are
//! in the future and do not count. For each group as many events are kept as the rule can need, and
//! the oldest arrivals are removed first: memory depends on the number of groups, not on the length of
//! the stream. An event that arrives again with the same timestamp, as a store's retried write does,
//! is the same event.

use std::{
    collections::{BTreeMap, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use proto::HealthEvent;

use super::{
    entering::Passage,
    faults::Turn,
    group::Group,
    rule::{Count, Edge, Match, On, Repeat, Rule},
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
    /// Digests of the latest events, in order of arrival.
    heard: VecDeque<u64>,
    /// By alternative, for those with `on = "enter"`.
    passages: BTreeMap<usize, Passage>,
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
        let stamp = Stamp::of(event.generated_timestamp.as_ref());
        let at = floored(count, stamp);
        let is_of_check = |one: &Match| one.on == On::Enter && one.is_of_its_check(event);
        let wants = |trigger: &Match| !event.is_healthy && meets(trigger, event, turn);
        let triggers = count.trigger.iter().any(wants);
        let matters = triggers
            || rule.matches.iter().any(|one| meets(one, event, turn))
            || rule.matches.iter().any(is_of_check);
        if !matters {
            return None;
        }
        let tally = self.0.entry(group.clone()).or_default();
        tally.touched = clock;
        let kept = count.count * KEPT_PER_COUNT;
        if !tally.hears(event, stamp, kept * rule.matches.len()) {
            return None;
        }
        let met = tally.met(&rule.matches, event, turn, stamp);
        let is_fresh = met.is_some_and(|bit| tally.add(at, bit, count));
        let looks = triggers || is_fresh && count.trigger.is_empty();
        if !looks {
            return None;
        }
        let oldest = at.before(count.window);
        let is_in = |(seen, _): &&(Stamp, u8)| match count.edge {
            Edge::Included => (oldest..=at).contains(seen),
            Edge::Excluded => *seen > oldest && *seen <= at,
        };
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
            let heard = tally.heard.capacity() * size_of::<u64>();
            let passages = tally.passages.values().map(Passage::bytes);
            let seen = tally.seen.capacity() * size_of::<(Stamp, u8)>();
            entry + group.len() + seen + heard + passages.sum::<usize>()
        };
        self.0.iter().map(of).sum()
    }
}

impl Tally {
    /// Whether the event is none of the latest `kept` ones, to which it is added.
    fn hears(&mut self, event: &HealthEvent, at: Stamp, kept: usize) -> bool {
        let digest = digest(event, at);
        if self.heard.contains(&digest) {
            return false;
        }
        if self.heard.len() >= kept {
            self.heard.pop_front();
        }
        self.heard.push_back(digest);
        true
    }

    /// The first alternative that the event matches, as a bit.
    fn met(&mut self, matches: &[Match], event: &HealthEvent, turn: Turn, at: Stamp) -> Option<u8> {
        let mut found = None;
        // Every passage sees the event, whichever alternative it matches.
        for (number, one) in matches.iter().enumerate() {
            let is_met = match one.on {
                On::Enter if one.is_of_its_check(event) => {
                    let passage = self.passages.entry(number).or_default();
                    passage.take(at, one.meets(event))
                }
                On::Enter => false,
                _ => meets(one, event, turn),
            };
            if is_met && found.is_none() {
                found = Some(1 << number);
            }
        }
        found
    }

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

/// A number that stands for everything that distinguishes an event of its group.
fn digest(event: &HealthEvent, at: Stamp) -> u64 {
    let mut hasher = DefaultHasher::new();
    at.hash(&mut hasher);
    for text in [
        &event.agent,
        &event.component_class,
        &event.check_name,
        &event.node_name,
        &event.message,
    ] {
        text.hash(&mut hasher);
    }
    (event.is_fatal, event.is_healthy).hash(&mut hasher);
    event.recommended_action.hash(&mut hasher);
    event.error_code.hash(&mut hasher);
    for entity in &event.entities_impacted {
        (&entity.entity_type, &entity.entity_value).hash(&mut hasher);
    }
    hasher.finish()
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
