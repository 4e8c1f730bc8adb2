//! Rules between a tree and its reader.

use std::fmt;

use crate::{
    Errno, Op, OpSet, Pattern, SimTime, Tree, TreePath,
    pattern::{Matcher, Place},
};

/// The number of a rule, chosen by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u64);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.0)
    }
}

/// A rule: an effect on matching operations at certain times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number. Arming a rule with the number of another replaces that.
    pub id: RuleId,
    /// The operations.
    pub ops: OpSet,
    /// The paths: the path in the tree, the name through an alias folder, or a path through links.
    pub pattern: Pattern,
    /// When it applies.
    pub when: When,
    /// Its effect.
    pub verdict: Verdict,
}

/// When a rule applies. Matching operations are counted from 1 after arming, including those to
/// which an earlier rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// To every operation.
    Always,
    /// From the first time until just before the second.
    Between(SimTime, SimTime),
    /// To the nth operation only.
    Nth(u64),
    /// To the first n operations.
    FirstN(u64),
    /// To the nth operation and all later ones.
    FromNth(u64),
    /// To every nth operation.
    EveryNth(u64),
}

/// The effect of a rule. An effect that does not fit an operation (such as content for a listing) is
/// ignored and not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The operation fails with this error; nothing is read or changed. Fits every operation.
    Fail(Errno),
    /// The operation is held until it is released. Fits every counted operation.
    Hang {
        /// Whether SIGKILL ends the wait. If not, the process is stuck in the kernel.
        killable: bool,
    },
    /// A read returns these bytes.
    Content(Vec<u8>),
    /// A read returns only this many bytes, or a listing only this many names, the first ones.
    Truncate(usize),
    /// A read returns the start of another value, followed by the rest of the real one.
    Torn {
        /// The other value.
        first: Vec<u8>,
        /// The number of bytes from it.
        at: usize,
    },
    /// Paths are removed, in one epoch, at this operation. A read of a file below them then fails
    /// with `ENODEV`, as on the descriptor of a device that was removed.
    Vanish {
        /// The removed paths: canonical, as for [`Edit::Remove`](crate::Edit::Remove).
        paths: Vec<TreePath>,
        /// For a listing: how many names are returned before the removal; `None` for all.
        after_names: Option<usize>,
    },
    /// A write accepts only this many bytes, the first ones, and returns their number.
    ShortWrite(usize),
}

impl Verdict {
    /// Whether it can apply to this operation.
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

/// The armed rules, in the order in which they were armed.
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

    pub(crate) fn move_to(&mut self, id: RuleId, pattern: &Pattern) {
        for armed in self.0.iter_mut().filter(|armed| armed.rule.id == id) {
            armed.rule.pattern = pattern.clone();
            armed.matcher = Matcher::new(pattern.clone());
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

    /// The number of operations that a rule matched since it was armed.
    pub(crate) fn count(&self, id: RuleId) -> Option<u64> {
        self.0
            .iter()
            .find(|armed| armed.rule.id == id)
            .map(|armed| armed.to_count)
    }

    pub(crate) fn any_on_links(&self) -> bool {
        self.0.iter().any(|armed| armed.rule.ops.has(Op::ReadLink))
    }

    /// The first rule that applies to an operation; every rule that matches it counts it.
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

    /// The error of reading a link, by the first rule on links that applies now.
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
