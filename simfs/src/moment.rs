//! Moments: points in a reader's work at which the story acts.

use std::fmt;

use crate::{
    Op, OpSet, Pattern, Tree,
    pattern::{Matcher, Place},
};

/// The number of a moment, chosen by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MomentId(pub u64);

impl fmt::Display for MomentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "moment {}", self.0)
    }
}

/// Operations at paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The operations.
    pub ops: OpSet,
    /// The paths.
    pub pattern: Pattern,
}

impl Spot {
    /// These operations at these paths.
    #[must_use]
    pub fn new(ops: impl Into<OpSet>, pattern: &str) -> Self {
        Self {
            ops: ops.into(),
            pattern: Pattern::new(pattern),
        }
    }
}

/// The position of a moment relative to an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Before the operation, which then sees the tree that the story has changed.
    Before(Spot),
    /// After the operation took effect, before its result is returned.
    After(Spot),
    /// After the first operation and before the second, such as a device that disappears between
    /// listing and reading.
    Between {
        /// The operation that must have been done.
        after: Spot,
        /// The operation that is about to be done.
        before: Spot,
    },
}

/// When the counts of a moment are reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// At the start of each poll.
    Poll,
    /// Never.
    Drill,
}

/// A point in a reader's work. It comes once, and is then disarmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpMoment {
    /// Its number. Arming a moment with the number of another replaces that.
    pub id: MomentId,
    /// Its position.
    pub turn: Turn,
    /// The number of the matching operation at which it comes, from 1; with [`Turn::Between`],
    /// operations count only after the first was done.
    pub nth: u64,
    /// When its counts are reset.
    pub within: Within,
}

/// The armed moments, in the order in which they were armed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moments(Vec<Armed>);

#[derive(Clone, Debug)]
struct Armed {
    moment: OpMoment,
    after: Option<Matcher>,
    before: Option<Matcher>,
    after_seen: bool,
    to_count: u64,
}

impl Moments {
    pub(crate) fn arm(&mut self, moment: OpMoment) {
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

    /// Counts for every matching moment, and removes and returns those that have come.
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
