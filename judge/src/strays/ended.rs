//! Which healthy events end something, and what may be another report of the same.

use std::collections::BTreeSet;

use observe::{
    Subject,
    promises::{Granularity, Named, Names},
};
use terms::{CheckKind, Severity};

use super::Strays;
use crate::{demands::behind, kinds::Whom, reported_event::ReportedEvent};

impl<'a> Strays<'a> {
    /// Whether an alarm that was raised before, each time in these words, may be about another fault of its subject: each is
    /// reported when it begins, and more of them began than were reported.
    pub(crate) fn may_be_another<'r>(
        &self,
        reported: &ReportedEvent<'_>,
        before: impl Iterator<Item = &'r ReportedEvent<'r>>,
    ) -> bool {
        let promises = &self.context.descriptor.promises;
        let are_all_named = promises.granularity.unwrap_or_default() != Granularity::Port
            && promises.names == Some(Names::All);
        let count = |told: usize, earlier: &ReportedEvent<'_>| {
            told + usize::from(self.begun(earlier) > told)
        };
        are_all_named && self.begun(reported) > before.fold(0, count)
    }

    /// How many faults of ports and devices began of the subject of an event until it came.
    pub(super) fn begun(&self, reported: &ReportedEvent<'_>) -> usize {
        let mut before = BTreeSet::new();
        let ticks = 0..=reported.tick;
        let of_tick = ticks.map(|tick| {
            let faults = self.faults(reported, tick).into_iter();
            let of_their_own = faults.filter(|(whom, kind)| match whom {
                Whom::Port(..) => *kind != Named::GoneDevice.into(),
                Whom::Device(_) => true,
                Whom::Card(_) | Whom::Name(_) | Whom::Check => false,
            });
            let now: BTreeSet<Whom> = of_their_own.map(|(whom, _)| whom).collect();
            let begun = now.difference(&before).count();
            before = now;
            begun
        });
        of_tick.sum()
    }

    /// Whether a healthy event that came after others ends nothing: after the first poll nothing happened to its subject that a
    /// monitor could have seen, and nothing was said of it. What is healthy is said in a first poll, or when it changes
    /// (docs/decisions.md, Promises).
    pub(crate) fn ends_nothing(
        &self,
        reported: &ReportedEvent<'_>,
        before: &[ReportedEvent<'_>],
    ) -> bool {
        let (node, tick, event) = (reported.node, reported.tick, reported.event);
        if event.severity != Severity::Healthy || !self.are_changes_told() {
            return false;
        }
        let kinds = [
            CheckKind::State,
            CheckKind::Degradation,
            CheckKind::CharDevice,
        ];
        let behind = kinds.map(|kind| behind(&self.context, kind));
        let behind = behind.into_iter().max().unwrap_or_default();
        let first = self.readings.first_poll(self.recording, node);
        if tick <= first.saturating_add(behind) {
            return false;
        }
        // An alarm about a part of it, or about the whole, may be what it ends, unless it was taken back in an earlier poll; what
        // is said again is another law's.
        let is_about_it = |at: usize| {
            let earlier = &before[at];
            let (one, other) = (&earlier.event.subject, &event.subject);
            let is_part =
                *one == Subject::Node || *other == Subject::Node || one.nic() == other.nic();
            let is_same = one == other && earlier.event.codes == event.codes;
            let is_taken_back = || {
                before[at..].iter().any(|later| {
                    later.tick < tick
                        && later.node == node
                        && later.event.severity == Severity::Healthy
                        && later.event.subject == *one
                        && later.event.codes == earlier.event.codes
                })
            };
            earlier.node == node
                && (is_same
                    || is_part && earlier.event.severity != Severity::Healthy && !is_taken_back())
        };
        let functions = self.functions(reported);
        let at_first = self.functions(&ReportedEvent {
            tick: first,
            ..*reported
        });
        let is_calm = || {
            self.episodes.latest_of_monitor(node, 0, tick).is_none()
                && !(0..=tick).any(|tick| self.readings.is_any_ruled(node, tick))
                && !self.happened_to(reported, |_| true)
        };
        !functions.is_empty()
            && functions == at_first
            && !(0..before.len()).any(is_about_it)
            && is_calm()
            && (first..=tick).all(|tick| !self.stands(reported, tick))
    }
}

/// The alarms about the subject of an event that came before it.
pub(super) fn alarms_about<'r, 'e>(
    reported: &'r ReportedEvent<'_>,
    before: &'r [ReportedEvent<'e>],
) -> impl Iterator<Item = &'r ReportedEvent<'e>> {
    before.iter().filter(|earlier| {
        earlier.node == reported.node
            && earlier.event.subject == reported.event.subject
            && earlier.event.severity != Severity::Healthy
    })
}
