//! Node conditions: one for each check name, true while the check has an entry that was not cleared.
//!
//! The key is the check's name only, without agent and component class: two agents with the same
//! check name share a condition. Only fatal and healthy events change conditions;
//! [`crate::KubeEvents`] handles non-fatal ones. Start at [`Conditions::apply`].
//! Source: NVSentinel, platform-connectors, Kubernetes connector.

use std::collections::BTreeMap;

use proto::HealthEvent;

use crate::{
    entry::{Clearing, entry_of},
    message::{Loss, entries, message_of},
    stamp::Stamp,
};

/// The message of a condition without entries.
pub const NO_FAILURES: &str = "No Health Failures";

/// One condition of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether the check is unhealthy. Written as status `True`; a healthy check's is `False`.
    pub is_faulty: bool,
    /// The entries, or [`NO_FAILURES`].
    pub message: String,
    /// The timestamp of its latest event.
    pub heartbeat: Stamp,
    /// The timestamp of the event that last changed its status.
    pub transition: Stamp,
}

impl Condition {
    /// `InfiniBandStateCheckIsNotHealthy`, or `…IsHealthy`.
    #[must_use]
    pub fn reason(&self, check: &str) -> String {
        let word = if self.is_faulty {
            "IsNotHealthy"
        } else {
            "IsHealthy"
        };
        format!("{check}{word}")
    }

    /// Its entries; empty if it is healthy.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        let message = self.is_faulty.then_some(self.message.as_str());
        message.into_iter().flat_map(entries)
    }
}

/// A condition that changed its status or lost entries in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `checkName` of the event.
    pub check: String,
    /// Its previous status; `None` if it did not exist.
    pub was_faulty: Option<bool>,
    /// Its new state.
    pub now: Condition,
    /// The part that did not fit into its message.
    pub loss: Loss,
}

/// The conditions of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    by_check: BTreeMap<String, Condition>,
}

impl Conditions {
    /// The condition of this check, if there is one.
    #[must_use]
    pub fn get(&self, check: &str) -> Option<&Condition> {
        self.by_check.get(check)
    }

    /// Every condition, by check.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Condition)> {
        let all = self.by_check.iter();
        all.map(|(check, condition)| (check.as_str(), condition))
    }

    /// The checks whose condition is unhealthy.
    pub fn faulty(&self) -> impl Iterator<Item = &str> {
        let faulty = self.iter().filter(|(_, condition)| condition.is_faulty);
        faulty.map(|(check, _)| check)
    }

    /// Applies the events of one batch, in this order, and writes each condition once.
    ///
    /// Returns every condition that an event changed, sorted by check.
    pub fn apply<'a>(
        &mut self,
        clearing: Clearing,
        events: impl IntoIterator<Item = &'a HealthEvent>,
    ) -> Vec<Change> {
        let mut drafts: BTreeMap<&str, Draft> = BTreeMap::new();
        for event in events {
            if !event.is_healthy && !event.is_fatal {
                continue;
            }
            let draft = drafts
                .entry(&event.check_name)
                .or_insert_with(|| Draft::of(self.by_check.get(&event.check_name)));
            draft.apply(clearing, event);
        }
        let drafts = drafts.into_iter();
        drafts
            .map(|(check, draft)| self.write(check, draft))
            .collect()
    }

    fn write(&mut self, check: &str, draft: Draft) -> Change {
        let before = self.by_check.get(check);
        let was_faulty = before.map(|condition| condition.is_faulty);
        let is_faulty = !draft.entries.is_empty();
        let (message, loss) = if is_faulty {
            message_of(&draft.entries)
        } else {
            (NO_FAILURES.to_owned(), Loss::default())
        };
        let now = Condition {
            is_faulty,
            message,
            heartbeat: draft.latest,
            transition: match before {
                Some(before) if before.is_faulty == is_faulty => before.transition,
                _ => draft.latest,
            },
        };
        self.by_check.insert(check.to_owned(), now.clone());
        Change {
            check: check.to_owned(),
            was_faulty,
            now,
            loss,
        }
    }
}

/// The entries of a condition while a batch is applied.
struct Draft {
    entries: Vec<String>,
    latest: Stamp,
}

impl Draft {
    fn of(condition: Option<&Condition>) -> Self {
        let entries = condition.into_iter().flat_map(Condition::entries);
        Self {
            entries: entries.map(str::to_owned).collect(),
            latest: condition.map_or(Stamp::from_ns(i64::MIN), |condition| condition.heartbeat),
        }
    }

    fn apply(&mut self, clearing: Clearing, event: &HealthEvent) {
        self.latest = self
            .latest
            .max(Stamp::of(event.generated_timestamp.as_ref()));
        if event.is_healthy {
            self.entries.retain(|entry| !clearing.clears(event, entry));
            return;
        }
        let entry = entry_of(event);
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }
}
