//! Rules: what sits between a tree and its reader.

use std::fmt;

use crate::{
    Errno, Op, OpSet, Pattern, SimTime, Tree, TreePath,
    pattern::{Matcher, Place},
};

/// The number of a rule, chosen by whoever arms it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u64);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.0)
    }
}

/// A rule: on these operations, at these places, at these times, this happens instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number. Arming a rule with the number of another takes the other's place.
    pub id: RuleId,
    /// The operations it is about.
    pub ops: OpSet,
    /// The places it is about: the path in the tree, the name by an alias folder, or a path
    /// through links.
    pub pattern: Pattern,
    /// When it acts.
    pub when: When,
    /// What happens.
    pub verdict: Verdict,
}

/// When a rule acts. Counts begin with 1 at the first operation after arming that the rule is about,
/// and go on for operations that an earlier rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At every operation.
    Always,
    /// From the first time on, until just before the second.
    Between(SimTime, SimTime),
    /// At the nth operation only.
    Nth(u64),
    /// At the first n operations.
    FirstN(u64),
    /// At the nth operation and all after it.
    FromNth(u64),
    /// At every nth operation.
    EveryNth(u64),
}

/// What a rule does to an operation. A verdict that does not fit an operation (bytes for a
/// listing) passes it by, uncounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ends with this error; nothing is read or changed. Fits every operation.
    Fail(Errno),
    /// It does not end until it is let go. Fits every counted operation.
    Hang {
        /// Whether SIGKILL ends the wait. If not, the process is stuck in the kernel.
        killable: bool,
    },
    /// A read gives these bytes.
    Content(Vec<u8>),
    /// A read gives only the first bytes, or a listing only the first names, so many.
    Truncate(usize),
    /// A read gives the start of another value and goes on with the real one.
    Torn {
        /// The value it starts with.
        first: Vec<u8>,
        /// How many bytes come from it.
        at: usize,
    },
    /// Paths go away, in one epoch, at this very operation. A read of something below them
    /// then ends with `ENODEV`, as on the descriptor of a device that has gone.
    Vanish {
        /// What goes: canonical paths, as for [`Edit::Remove`](crate::Edit::Remove).
        paths: Vec<TreePath>,
        /// For a listing: how many of its names were given before they went; `None` for all.
        after_names: Option<usize>,
    },
    /// A write takes only the first bytes, so many, and says so.
    ShortWrite(usize),
}

impl Verdict {
    /// Whether it can be the fate of this operation.
    #[must_use]
    pub fn fits(&self, op: Op) -> bool {
        match self {
            Self::Fail(_) => true,
            Self::Hang { .. } | Self::Vanish { .. } => op != Op::ReadLink,
            Self::Content(_) | Self::Torn { .. } => op == Op::Read,
            Self::Truncate(_) => matches!(op, Op::Read | Op::List),
            Self::ShortWrite(_) => op == Op::Write,
        }
    }
}

/// The rules in force, in the order in which they were armed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Vec<Armed>);

#[derive(Clone, Debug)]
struct Armed {
    rule: Rule,
    matcher: Matcher,
    to_count: u64,
}

impl Rules {
    pub(crate) fn arm(&mut self, rule: Rule) {
        let armed = Armed {
            matcher: Matcher::new(rule.pattern.clone()),
            rule,
            to_count: 0,
        };
        match self.0.iter_mut().find(|old| old.rule.id == armed.rule.id) {
            Some(old) => *old = armed,
            None => self.0.push(armed),
        }
    }

    pub(crate) fn disarm(&mut self, id: RuleId) -> bool {
        let before = self.0.len();
        self.0.retain(|armed| armed.rule.id != id);
        self.0.len() < before
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many operations a rule was about since it was armed.
    pub(crate) fn count(&self, id: RuleId) -> Option<u64> {
        self.0
            .iter()
            .find(|armed| armed.rule.id == id)
            .map(|armed| armed.to_count)
    }

    pub(crate) fn any_on_links(&self) -> bool {
        self.0.iter().any(|armed| armed.rule.ops.has(Op::ReadLink))
    }

    /// The first rule that acts on an operation; every rule that is about it counts it.
    pub(crate) fn decide(
        &mut self,
        op: Op,
        places: &[Place<'_>],
        now: SimTime,
        tree: &Tree,
    ) -> Option<(RuleId, Verdict)> {
        let mut decided = None;
        for armed in &mut self.0 {
            let Armed {
                rule,
                matcher,
                to_count,
            } = armed;
            if !rule.ops.has(op)
                || !rule.verdict.fits(op)
                || !places.iter().any(|place| matcher.matches(tree, place))
            {
                continue;
            }
            *to_count += 1;
            if decided.is_none() && rule.when.acts(*to_count, now) {
                decided = Some((rule.id, rule.verdict.clone()));
            }
        }
        decided
    }

    /// The error with which a link fails, by the first rule on links that acts now.
    pub(crate) fn link_fails(
        &mut self,
        place: &Place<'_>,
        now: SimTime,
        tree: &Tree,
    ) -> Option<Errno> {
        self.0.iter_mut().find_map(|armed| {
            let acts = match armed.rule.when {
                When::Always => true,
                When::Between(from, until) => from <= now && now < until,
                _ => false,
            };
            match armed.rule.verdict {
                Verdict::Fail(errno) if acts && armed.rule.ops.has(Op::ReadLink) => {
                    armed.matcher.matches(tree, place).then_some(errno)
                }
                _ => None,
            }
        })
    }
}

impl When {
    fn acts(self, count: u64, now: SimTime) -> bool {
        match self {
            Self::Always => true,
            Self::Between(from, until) => from <= now && now < until,
            Self::Nth(n) => count == n,
            Self::FirstN(n) => count <= n,
            Self::FromNth(n) => count >= n,
            Self::EveryNth(n) => n > 0 && count.is_multiple_of(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(When::Always, &[1, 2, 3, 4, 5, 6])]
    #[case(When::Nth(3), &[3])]
    #[case(When::FirstN(2), &[1, 2])]
    #[case(When::FromNth(5), &[5, 6])]
    #[case(When::EveryNth(2), &[2, 4, 6])]
    #[case(When::EveryNth(0), &[])]
    fn a_count_says_when_a_rule_acts(#[case] when: When, #[case] acting: &[u64]) {
        let acted: Vec<u64> = (1..=6)
            .filter(|count| when.acts(*count, SimTime::ZERO))
            .collect();
        assert_eq!(acted, acting);
    }

    #[test]
    fn a_span_ends_just_before_its_second_time() {
        let when = When::Between(SimTime::from_secs(2), SimTime::from_secs(4));
        let acted: Vec<u64> = (0..6)
            .filter(|secs| when.acts(1, SimTime::from_secs(*secs)))
            .collect();
        assert_eq!(acted, [2, 3]);
    }
}
