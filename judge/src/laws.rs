//! Laws: what holds for every monitor, whatever it promises. They decide where no row does.
//!
//! Nothing is said without a cause in what was read; a monitor neither crashes nor hangs; what it reported it takes
//! back, what healed first not last; where reports begin and end faults, the same thing is not reported twice; a report that was not delivered
//! is not lost. Where a kind has a row, the demands that follow from it say all of this more exactly.
//!
//! A further law is a file in `laws/` and a call: in `Judging::judgement` for every monitor, in [`Judging::laws`] for one whose events
//! no row explains, in `alarms.rs` for one that is judged by intervals.

mod crashing_runs;
mod healing;

use std::{collections::BTreeSet, ops::RangeInclusive};

use observe::{
    Medium, Observation,
    promises::{LostPublish, Named, Style},
    slurm::LIFTED,
};
use platforms::NodeName;
use reports::{CauseKind, FindingKind};
use terms::Severity;

use crate::{
    Judging,
    demands::polled,
    episodes::Episodes,
    owed::Rows,
    reported_event::{ReportedEvent, called},
    strays::Strays,
};

/// What is expected where an event has no cause.
pub(crate) const NO_CAUSE: &str = "nothing without a cause in what was read";

/// What is expected where an event says again what was said before.
pub(crate) const NOTHING_AGAIN: &str = "nothing that was reported before";

/// What is expected where a healthy event ends nothing.
pub(crate) fn no_recovery(event: &Observation) -> String {
    let codes = event.codes.iter().map(|code| format!("`{code}` of "));
    let (codes, subject) = (codes.collect::<String>(), called(&event.subject));
    format!("no recovery of {codes}{subject}: no fault of it was there, and none was reported")
}

/// Why a report that was lost is no finding.
pub(crate) const LOST: &str = "a report that is not delivered is lost, by promise";

/// In how many polls after the connector accepts calls again a monitor must deliver what it could not deliver.
/// Chosen: as scenarios allow.
const DELIVERED_WITHIN: u64 = 3;

impl Judging<'_> {
    /// Reports what breaks a law among the events that no promise is about: `excused` are their indices.
    pub(super) fn laws(
        &mut self,
        accepted: &[ReportedEvent<'_>],
        reported: &[ReportedEvent<'_>],
        excused: &BTreeSet<usize>,
        strays: &Strays<'_>,
    ) {
        if self.context.descriptor.promises.style.unwrap_or_default() == Style::Edge {
            self.twice(accepted, excused, strays);
        }
        self.lost(accepted, reported, strays);
        self.healing();
    }

    /// A node that is put back into service although somebody else took it out.
    pub(super) fn lifted_drains(&mut self) {
        let mut lifted = Vec::new();
        for (tick, monitors) in (0..).zip(&self.recording.ticks) {
            for node in &self.story.monitors {
                let monitor = monitors.monitors.get(node.as_str());
                let calls = monitor.into_iter().flat_map(|monitor| &monitor.calls);
                for event in calls.flat_map(|call| &call.observations) {
                    let reason = event.fields.iter().find(|(name, _)| name == LIFTED);
                    lifted.extend(reason.map(|(_, reason)| (node, tick, reason, event)));
                }
            }
        }
        for (node, tick, reason, event) in lifted {
            let cause = self
                .context
                .cause_of_event(CauseKind::Unexpected, node, tick, event);
            let mut finding = self.finding(FindingKind::Unexpected, cause, Some(node), Some(tick));
            finding.expected.push(format!(
                "the node stays drained: somebody else drained it, with the reason \"{reason}\""
            ));
            finding.came.push(event.text.clone());
            self.findings.push(finding);
        }
    }

    /// The same thing that is reported twice. A lost reply is no reason to be believed, and a monitor that ended in
    /// between may have forgotten.
    pub(crate) fn twice(
        &mut self,
        accepted: &[ReportedEvent<'_>],
        excused: &BTreeSet<usize>,
        strays: &Strays<'_>,
    ) {
        let episodes = Episodes::of(&self.context);
        let are_lines = self.recording.protocol.facts().medium == Medium::Output;
        // Nothing else says which of them are expected.
        let are_alarms = self.has_alarms();
        for (at, again) in accepted.iter().enumerate() {
            if !are_lines && !excused.contains(&at) {
                continue;
            }
            let about = |earlier: &&ReportedEvent<'_>| {
                earlier.node == again.node
                    && earlier.event.check == again.event.check
                    && (earlier.event.subject == again.event.subject
                        || earlier.event.subject == observe::Subject::Node)
                    && (earlier.event.codes == again.event.codes || earlier.event.codes.is_empty())
            };
            let Some(first) = accepted[..at].iter().rposition(|it| about(&it)) else {
                continue;
            };
            let before = &accepted[first];
            let is_same = before.event.severity == again.event.severity
                && before.event.subject == again.event.subject;
            // One of two lines may be what the story expects.
            let is_excused = || excused.contains(&first) || excused.contains(&at);
            let was_heard = are_lines || before.answer == "accepted";
            let same = is_same
                && was_heard
                && match are_lines || are_alarms {
                    true => {
                        is_excused()
                            && self.is_written_again(before, &accepted[..at], again, strays)
                    }
                    false => before.event.text == again.event.text,
                };
            let ended = || {
                let kind = episodes.latest_of_monitor(again.node, before.tick, again.tick);
                self.has_ended(again.node, before.tick..=again.tick)
                    || kind.is_some_and(|kind| kind != Named::Connector)
            };
            if !same || ended() {
                continue;
            }
            let (node, tick) = (again.node, again.tick);
            let cause = self
                .context
                .cause_of_event(CauseKind::Repeats, node, tick, again.event);
            let mut finding = self.finding(FindingKind::Unexpected, cause, Some(node), Some(tick));
            finding.expected.push(NOTHING_AGAIN.to_owned());
            finding.came = vec![before.line(), again.line()];
            self.findings.push(finding);
        }
    }

    /// Whether a report says again what one before it said, although nothing changed in between. A program that promises
    /// nothing may state what is.
    fn is_written_again(
        &self,
        before: &ReportedEvent<'_>,
        earlier: &[ReportedEvent<'_>],
        again: &ReportedEvent<'_>,
        strays: &Strays<'_>,
    ) -> bool {
        let is_healthy = again.event.severity == Severity::Healthy;
        let same = earlier.iter().filter(|it| {
            it.node == again.node
                && it.event.subject == again.event.subject
                && it.event.severity == again.event.severity
                && it.event.text == again.event.text
        });
        strays.are_changes_told()
            && before.event.codes == again.event.codes
            && (is_healthy
                || before.event.text == again.event.text && !strays.may_be_another(again, same))
            && strays.is_as_it_was(again, before.tick)
    }

    /// Reports that were refused, although the fault stands on, and never delivered.
    fn lost(
        &mut self,
        accepted: &[ReportedEvent<'_>],
        reported: &[ReportedEvent<'_>],
        strays: &Strays<'_>,
    ) {
        let mut told = BTreeSet::new();
        let forgets = Rows::of(&self.context).unpromised(&Named::MonitorRestart.into());
        for refused in reported.iter().filter(|reported| !reported.accepted) {
            let (node, event) = (refused.node, refused.event);
            if event.severity == Severity::Healthy || strays.excuse(refused, &[]).is_none() {
                continue;
            }
            let of_node =
                |later: &&ReportedEvent<'_>| later.node == node && later.tick > refused.tick;
            let Some(delivers) = accepted.iter().find(of_node).map(|later| later.tick) else {
                continue;
            };
            let due = delivers.saturating_add(DELIVERED_WITHIN);
            let polls = polled(self.recording, node)
                .filter(|tick| (delivers..=due).contains(tick))
                .count();
            let stands = (refused.tick..=due).all(|tick| strays.stands(refused, tick));
            let came = accepted.iter().any(|later| {
                later.node == node
                    && later.tick >= refused.tick
                    && later.event.subject == event.subject
                    && later.event.check == event.check
                    && later.event.severity != Severity::Healthy
            });
            let key = (node, event.subject.clone(), event.check.clone());
            if polls <= 1 || !stands || came || !told.insert(key) {
                continue;
            }
            if self.context.descriptor.promises.lost_publish == Some(LostPublish::Lost) {
                self.judged.leave_out_part(LOST);
                continue;
            }
            // What it remembers over its end may be promised or not.
            if let Some(reason) = &forgets
                && self.has_ended(node, refused.tick..=due)
            {
                self.judged.leave_out_part(reason.clone());
                continue;
            }
            let cause =
                self.context
                    .cause_of_event(CauseKind::NotDelivered, node, refused.tick, event);
            let (kind, tick) = (FindingKind::Missing, Some(refused.tick));
            let mut finding = self.finding(kind, cause, Some(node), tick);
            finding.expected.push(format!(
                "the same report by poll {due}, for the fault stands and the connector accepts calls from poll \
                 {delivers} on"
            ));
            finding.came.push(refused.line());
            self.findings.push(finding);
        }
    }

    /// Whether a node's monitor ended in these ticks.
    fn has_ended(&self, node: &NodeName, mut ticks: RangeInclusive<u64>) -> bool {
        ticks.any(|tick| {
            let tick = usize::try_from(tick).ok();
            let tick = tick.and_then(|tick| self.recording.ticks.get(tick));
            let monitor = tick.and_then(|tick| tick.monitors.get(node.as_str()));
            monitor.is_some_and(|monitor| !monitor.exits.is_empty())
        })
    }
}
