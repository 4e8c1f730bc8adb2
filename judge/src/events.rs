//! Compares events with demands: what is missing, what no expectation matches, what stays
//! outstanding.

mod missing;

use missing::subject_names;

use std::collections::{BTreeMap, BTreeSet};

use observe::promises::{LostPublish, Pinned};
use platforms::NodeName;
use reports::{Cause, CauseKind, FindingKind};
use scenarios::{About, Expectation, Heal, What, Window};
use terms::Severity;

use super::assign::{self, Bounds};
use super::demands::{self, Demand};
use super::order::put_in_order;
use super::outstanding;
use super::owed::Owed;
use super::reported_event::{self, EventKey, ReportedEvent, called};
use super::strays::Strays;
use super::{Judging, place};
use crate::{consequences::Consequences, facts, fits::JudgeContext, forgotten, laws};

/// The unclaimed events that came instead of demanded ones, each with the cause that both share, and the time in which it was
/// demanded.
type CameInstead<'a> = BTreeMap<EventKey<'a>, (Cause, Window)>;

impl<'a> Judging<'a> {
    pub(super) fn events(&mut self) {
        let (context, recording) = (self.context, self.recording);
        let reported = reported_event::all_reported(self.story, recording);
        let accepted: Vec<ReportedEvent<'a>> = reported
            .iter()
            .filter(|reported| reported.accepted)
            .copied()
            .collect();
        let (documents, mismatches) = demands::demands(self.story, &context, recording);
        let owed = Owed::of(documents, &context, recording);
        let demands = &owed.demands;
        for mismatch in mismatches {
            let expectation = mismatch.expectation;
            let tick = expectation.window.from;
            let node = expectation.node.as_ref().or(self.story.monitors.first());
            let cause = match (node, &expectation.what) {
                (Some(node), What::FollowEdges { slot, .. }) => {
                    let about = About::Port(slot.clone());
                    context.cause_about(CauseKind::Edges, node, tick, &about)
                }
                _ => Cause::of(CauseKind::Edges),
            };
            let mut finding = self.finding(FindingKind::Missing, cause, None, Some(tick));
            place(&mut finding, expectation);
            finding.came.push(mismatch.what);
            self.findings.push(finding);
        }
        let answers = |demand: &Demand<'_>, reported: &ReportedEvent<'_>| {
            demand.node == *reported.node
                && (demand.window.from..=demand.window.to).contains(&reported.tick)
                && context.fits(
                    &demand.pattern,
                    reported.node,
                    reported.tick,
                    reported.event,
                )
                && !(demand.may_come_later(reported.tick) && silence(&context, reported).is_some())
        };
        let fits: Vec<Vec<usize>> = accepted
            .iter()
            .map(|reported| {
                (0..demands.len())
                    .filter(|demand| answers(&demands[*demand], reported))
                    .collect()
            })
            .collect();
        let bounds: Vec<Bounds> = demands.iter().map(|demand| demand.bounds).collect();
        let mut assignment = assign::assign(&fits, &bounds);
        put_in_order(&mut assignment, &fits, demands, &accepted);
        let instead = self.demanded(demands, &assignment, &accepted, &reported, &answers);
        self.order(demands, &assignment, &accepted);
        let reckoning = outstanding::reckon(
            &accepted,
            |at| assignment.of_event[at].is_some(),
            recording.healing_from,
            context.truth,
            &forgotten::forgotten(&context, recording),
        );
        let strays = Strays::of(&context, recording);
        let mut excused = BTreeSet::new();
        for (at, reported) in accepted.iter().enumerate() {
            let before = &accepted[..at];
            let is_allowed =
                || reckoning.allowed.contains(&at) && !strays.is_new_of_nobody(reported, before);
            if assignment.of_event[at].is_none() && !is_allowed() {
                if strays.excuse(reported, before).is_some() {
                    excused.insert(at);
                    continue;
                }
                let instead = instead.get(&reported.key()).copied();
                let due = instead.map(|(_, window)| window);
                let due = due.or_else(|| self.due_later(reported, demands));
                let cause = instead.map(|(cause, _)| cause);
                self.unexpected(reported, (cause, due), before, &strays);
            }
        }
        self.laws(&accepted, &reported, &excused, &strays);
        // What stays, by promise: its demand says so, its name was given up, or it is pinned and no healing mends it.
        let last = (recording.ticks.len() as u64).saturating_sub(1);
        let pins = context.descriptor.promises.scope.as_ref();
        let pins = pins.is_some_and(|scope| scope.pinned == Some(Pinned::All));
        let stays = |at: usize| {
            let fault = &accepted[at];
            let name = fault.event.subject.nic().unwrap_or_default();
            let is_left =
                |(node, of, _): &(NodeName, String, u64)| node == fault.node && of == name;
            assignment.of_event[at].is_some_and(|demand| demands[demand].stays)
                || owed.left_behind.iter().any(is_left)
                || strays.unpromised_move(&at_the_end(fault, last)).is_some()
                || pins && strays.stands(fault, last)
        };
        let all = accepted.iter().enumerate();
        let lost = all.filter(|(_, fault)| self.is_clear_lost(fault, &reported));
        let lost: BTreeSet<usize> = lost.map(|(at, _)| at).collect();
        if !matches!(self.story.heal, Heal::Never { .. }) {
            for at in reckoning.outstanding {
                if !stays(at) && !lost.contains(&at) {
                    self.outstanding(&accepted[at], assignment.of_event[at].is_some());
                }
            }
        }
        let claimed = |reported: &ReportedEvent<'_>| {
            demands
                .iter()
                .any(|demand| demand.attempts > 0 && answers(demand, reported))
        };
        let reported: Vec<(ReportedEvent<'a>, bool)> = reported
            .into_iter()
            .map(|reported| (reported, claimed(&reported)))
            .collect();
        let made = Consequences::of(self.story, recording);
        self.facts(&reported, &made, &owed);
        let staying: BTreeSet<(&NodeName, &str)> = accepted
            .iter()
            .enumerate()
            .filter(|(at, reported)| {
                let is_fault = reported.event.severity != Severity::Healthy;
                is_fault && (stays(*at) || lost.contains(at))
            })
            .filter_map(|(_, reported)| Some((reported.node, reported.event.check.as_deref()?)))
            .collect();
        let stays = |node: &NodeName, check: &str| staying.contains(&(node, check));
        self.consequences(&made, &stays);
        self.count_events(&owed);
    }

    /// Reports an event that nobody expects; `instead` is the cause that it shares with a demand that
    /// was not met, `due` the time in which an event like it is demanded, `before` what was accepted before it. Without
    /// promises only a law can forbid it: one is that nothing is said without a cause.
    fn unexpected(
        &mut self,
        reported: &ReportedEvent<'_>,
        (instead, due): (Option<Cause>, Option<Window>),
        before: &[ReportedEvent<'_>],
        strays: &Strays<'_>,
    ) {
        let silence = silence(&self.context, reported);
        let (node, tick, event) = (reported.node, reported.tick, reported.event);
        let same = before.iter().rev().filter(|earlier| {
            earlier.node == node
                && earlier.event.subject == event.subject
                && earlier.event.check == event.check
                && earlier.event.codes == event.codes
        });
        let said = same.take_while(|earlier| earlier.event.severity == event.severity);
        let first = said.last();
        let kind = match silence {
            _ if first.is_some() && !strays.denies_what_stands(reported) => CauseKind::Repeats,
            Some(_) => CauseKind::Silence,
            None => CauseKind::Unexpected,
        };
        let cause = instead.unwrap_or_else(|| self.context.cause_of_event(kind, node, tick, event));
        let mut finding = self.finding(FindingKind::Unexpected, cause, Some(node), Some(tick));
        match silence {
            Some(expectation) => {
                place(&mut finding, expectation);
                finding.expected.push("nothing".to_owned());
            }
            None if self.context.descriptor.promises.is_empty() && !strays.has_cause(reported) => {
                finding.expected.push(laws::NO_CAUSE.to_owned());
            }
            None => {
                let not_monitored = self.context.not_monitored(node, tick, event);
                let nothing = not_monitored.map(|subject| format!("nothing about {subject}"));
                let forbidden = || strays.forbidden(reported, before).map(str::to_owned);
                let else_nothing = || match due {
                    _ if cause.kind == CauseKind::Repeats => laws::NOTHING_AGAIN.to_owned(),
                    Some(due) if tick < due.from => {
                        format!("no such event before poll {}", due.from)
                    }
                    Some(due) if due.to < tick => format!("no such event after poll {}", due.to),
                    _ if strays.ends_nothing(reported, before) => laws::no_recovery(event),
                    _ => "nothing that the story does not name".to_owned(),
                };
                let nothing = nothing.or_else(forbidden);
                finding.expected.push(nothing.unwrap_or_else(else_nothing));
            }
        }
        finding.came.push(reported.line());
        let first = first.filter(|_| finding.cause.kind == CauseKind::Repeats);
        finding.came.extend(first.map(|first| {
            let at = self.story.ticks.at(first.tick);
            format!("said first at {at}, {}", first.line())
        }));
        let names = subject_names(&reported.event.subject.to_string());
        finding.reads = self.reads(Some(reported.node), reported.tick, &names);
        self.findings.push(finding);
    }

    /// Whether the clear of a report was refused, and is lost by promise.
    fn is_clear_lost(&self, fault: &ReportedEvent<'_>, reported: &[ReportedEvent<'_>]) -> bool {
        let promised = self.context.descriptor.promises.lost_publish;
        promised == Some(LostPublish::Lost)
            && reported.iter().any(|clear| {
                !clear.accepted
                    && clear.node == fault.node
                    && clear.position() > fault.position()
                    && clear.event.subject == fault.event.subject
                    && clear.event.check == fault.event.check
                    && clear.event.severity == Severity::Healthy
            })
    }

    /// Reports a fault that was not taken back; one that nobody expected need not have been reported at all.
    fn outstanding(&mut self, reported: &ReportedEvent<'_>, is_expected: bool) {
        let last = (self.recording.ticks.len() as u64).saturating_sub(1);
        let cause = self.context.cause_of_event(
            CauseKind::NotCleared,
            reported.node,
            reported.tick,
            reported.event,
        );
        let (kind, node) = (FindingKind::Outstanding, Some(reported.node));
        let mut finding = self.finding(kind, cause, node, Some(last));
        let subject = called(&reported.event.subject);
        let of_check = reported.event.check.as_ref();
        let of_check = of_check.map_or_else(String::new, |check| format!(" of {check}"));
        finding.expected.push(format!(
            "a healthy event{of_check} for {subject} by poll {last}"
        ));
        let not_monitored =
            self.context
                .not_monitored(reported.node, reported.tick, reported.event);
        let not_monitored = not_monitored.filter(|_| !is_expected);
        let expected = not_monitored.map(|subject| format!("or nothing at all about {subject}"));
        finding.expected.extend(expected);
        finding.came.push(reported.line());
        finding.reads = self.reads(Some(reported.node), last, &subject_names(&subject));
        self.findings.push(finding);
    }
}

/// An event as one of the last tick, for what is known then.
fn at_the_end<'e>(reported: &ReportedEvent<'e>, last: u64) -> ReportedEvent<'e> {
    ReportedEvent {
        tick: last,
        ..*reported
    }
}

/// The line that wants silence about an event in its time.
fn silence<'s>(
    context: &JudgeContext<'s>,
    reported: &ReportedEvent<'_>,
) -> Option<&'s Expectation> {
    let mut all = context.story.expectations.iter();
    all.find(|expectation| {
        (expectation.window.from..=expectation.window.to).contains(&reported.tick)
            && facts::silence(&expectation.what)
                .is_some_and(|silence| silence.is_silenced(context, reported))
    })
}
