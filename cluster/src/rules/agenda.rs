//! The scheduled checks of the rules: which group of which rule to check, and when.
//!
//! An entry is a reminder only; the rule checks whether it is really time.

use std::collections::BTreeSet;

use super::group::Group;
use crate::stamp::Stamp;

/// The reminders, earliest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda(BTreeSet<(Stamp, usize, Group)>);

impl Agenda {
    pub(super) fn put(&mut self, due: Stamp, rule: usize, group: Group) {
        self.0.insert((due, rule, group));
    }

    pub(super) fn next(&self) -> Option<Stamp> {
        self.0.first().map(|(due, _, _)| *due)
    }

    /// Removes and returns the earliest reminder that is due.
    pub(super) fn pop(&mut self, now: Stamp) -> Option<(usize, Group)> {
        if self.next()? > now {
            return None;
        }
        let (_, rule, group) = self.0.pop_first()?;
        Some((rule, group))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of = |(_, _, group): &(Stamp, usize, Group)| {
            group.len() + size_of::<(Stamp, usize, Group)>()
        };
        self.0.iter().map(of).sum()
    }
}
