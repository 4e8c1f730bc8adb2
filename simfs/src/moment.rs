//! Moments: points in a reader's work at which a story goes on.

use std::fmt;

use crate::{
    Op, OpSet, Pattern, Tree,
    pattern::{Matcher, Place},
};

/// The number of a moment, chosen by whoever arms it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MomentId(pub u64);

impl fmt::Display for MomentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "moment {}", self.0)
    }
}

/// Operations at places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The operations.
    pub ops: OpSet,
    /// The places.
    pub pattern: Pattern,
}

impl Spot {
    /// The spot of these operations at these places.
    #[must_use]
    pub fn new(ops: impl Into<OpSet>, pattern: &str) -> Self {
        Self {
            ops: ops.into(),
            pattern: Pattern::new(pattern),
        }
    }
}

/// On which side of an operation a moment lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Before the operation: it meets whatever the story makes of the tree.
    Before(Spot),
    /// After the operation took effect, before its answer is given.
    After(Spot),
    /// Once the first was done, before the second: a device that goes between the listing and
    /// the reading.
    Between {
        /// What must have been done.
        after: Spot,
        /// What is about to be done.
        before: Spot,
    },
}

/// How far a moment's memory reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// It forgets its counts when a poll begins.
    Poll,
    /// It counts on.
    Drill,
}

/// A point in a reader's work. It comes once, and is then no longer armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Its number. Arming a moment with the number of another takes the other's place.
    pub id: MomentId,
    /// Where it lies.
    pub turn: Turn,
    /// At which such operation it comes, from 1; with [`Turn::Between`], such operations count
    /// only after the first was done.
    pub nth: u64,
    /// How far its memory reaches.
    pub within: Within,
}

/// The moments yet to come, in the order in which they were armed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments(Vec<Armed>);

#[derive(Clone, Debug)]
struct Armed {
    moment: Moment,
    after: Option<Matcher>,
    before: Option<Matcher>,
    after_seen: bool,
    to_count: u64,
}

impl Moments {
    pub(crate) fn arm(&mut self, moment: Moment) {
        let (after, before) = match &moment.turn {
            Turn::Before(spot) => (None, Some(spot)),
            Turn::After(spot) => (Some(spot), None),
            Turn::Between { after, before } => (Some(after), Some(before)),
        };
        let matcher = |spot: Option<&Spot>| spot.map(|spot| Matcher::new(spot.pattern.clone()));
        let (after, before) = (matcher(after), matcher(before));
        self.disarm(moment.id);
        self.0.push(Armed {
            moment,
            after,
            before,
            after_seen: false,
            to_count: 0,
        });
    }

    pub(crate) fn disarm(&mut self, id: MomentId) -> bool {
        let before = self.0.len();
        self.0.retain(|armed| armed.moment.id != id);
        self.0.len() < before
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn poll_begins(&mut self) {
        for armed in self
            .0
            .iter_mut()
            .filter(|armed| armed.moment.within == Within::Poll)
        {
            armed.after_seen = false;
            armed.to_count = 0;
        }
    }

    /// The moments that come just before an operation.
    pub(crate) fn before(&mut self, op: Op, places: &[Place<'_>], tree: &Tree) -> Vec<MomentId> {
        self.take(|armed| {
            let waits = matches!(armed.moment.turn, Turn::Between { .. }) && !armed.after_seen;
            let ops = match &armed.moment.turn {
                Turn::Before(spot) | Turn::Between { before: spot, .. } => spot.ops,
                Turn::After(_) => OpSet::NONE,
            };
            !waits && ops.has(op) && meets(armed.before.as_mut(), places, tree)
        })
    }

    /// The moments that come just after an operation.
    pub(crate) fn after(&mut self, op: Op, places: &[Place<'_>], tree: &Tree) -> Vec<MomentId> {
        self.take(|armed| match &armed.moment.turn {
            Turn::Before(_) => false,
            Turn::After(spot) => spot.ops.has(op) && meets(armed.after.as_mut(), places, tree),
            Turn::Between { after, .. } => {
                armed.after_seen |= after.ops.has(op) && meets(armed.after.as_mut(), places, tree);
                false
            }
        })
    }

    /// Counts for every moment that is struck, and takes out those that have come.
    fn take(&mut self, mut strikes: impl FnMut(&mut Armed) -> bool) -> Vec<MomentId> {
        let mut come = Vec::new();
        self.0.retain_mut(|armed| {
            let struck = strikes(armed);
            armed.to_count += u64::from(struck);
            let now = struck && armed.to_count >= armed.moment.nth;
            if now {
                come.push(armed.moment.id);
            }
            !now
        });
        come
    }
}

fn meets(matcher: Option<&mut Matcher>, places: &[Place<'_>], tree: &Tree) -> bool {
    matcher.is_some_and(|matcher| places.iter().any(|place| matcher.matches(tree, place)))
}
