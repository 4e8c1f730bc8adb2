//! Compares events with demands: what is missing, what no expectation matches, what stays
//! outstanding.

use std::collections::{BTreeMap, BTreeSet};

use director::Socket;
use observe::{
    Subject,
    promises::{LostPublish, Pinned},
};
use platforms::NodeName;
use reports::{Cause, CauseKind, CauseRole, FindingKind};
use scenarios::{About, Expectation, Heal, What, Window};
use terms::{EventField, Severity};

use super::assign::{self, Assignment, Bounds};
use super::demands::{self, Demand};
use super::order::put_in_order;
use super::outstanding;
use super::owed::Owed;
use super::reported_event::{self, EventKey, ReportedEvent, called};
use super::strays::Strays;
use super::{Judging, place};
use crate::{
    causes::{Alike, Likeness, OtherEntities},
    consequences::Consequences,
    facts,
    fits::JudgeContext,
    forgotten, laws,
};

/// How many events a failure shows as the nearest to a missing one. Chosen.
const NEAREST_MAX: usize = 6;

/// How many events outside its time a failure shows beside those in it. Chosen: the one before and the
/// one after.
const BESIDE_MAX: usize = 2;

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

    /// Reports demands that were not met; returns the unclaimed events that came instead.
    fn demanded(
        &mut self,
        demands: &[Demand<'_>],
        assignment: &Assignment,
        accepted: &[ReportedEvent<'a>],
        reported: &[ReportedEvent<'a>],
        answers: &dyn Fn(&Demand<'_>, &ReportedEvent<'_>) -> bool,
    ) -> CameInstead<'a> {
        let mut instead = CameInstead::new();
        let unclaimed: Vec<ReportedEvent<'a>> = accepted
            .iter()
            .zip(&assignment.of_event)
            .filter(|(_, demand)| demand.is_none())
            .map(|(reported, _)| *reported)
            .collect();
        for (demand, claimed) in demands.iter().zip(&assignment.of_demand) {
            let attempts = if demand.attempts == 0 {
                0
            } else {
                reported
                    .iter()
                    .filter(|reported| answers(demand, reported))
                    .count()
            };
            if claimed.len() >= demand.bounds.at_least && attempts >= demand.attempts {
                continue;
            }
            let (mut cause, event) =
                self.why_missed(demand, &unclaimed, !claimed.is_empty(), &instead);
            let refused = match event {
                None if claimed.is_empty() && demand.attempts == 0 => {
                    let mut refused = reported.iter().filter(|reported| !reported.accepted);
                    let in_time = refused.find(|reported| answers(demand, reported));
                    in_time.or_else(|| self.last_said(demand, reported))
                }
                _ => None,
            };
            if refused.is_some() {
                cause.kind = CauseKind::NotDelivered;
            }
            let may_lose = self.context.descriptor.promises.lost_publish == Some(LostPublish::Lost);
            let is_lost = || match cause.kind {
                CauseKind::NotDelivered => true,
                CauseKind::Missed => self.nobody_listened(demand),
                _ => false,
            };
            if may_lose && is_lost() {
                self.judged.leave_out_part(laws::LOST);
                continue;
            }
            let mut finding = self.finding(
                FindingKind::Missing,
                cause,
                Some(&demand.node),
                Some(demand.window.from),
            );
            if let Some(event) = event {
                let came = (finding.cause, demand.window);
                instead.entry(event).or_insert(came);
            }
            place(&mut finding, demand.expectation);
            finding.expected.push(demand.line(&self.context));
            let claimed: Vec<&ReportedEvent<'a>> =
                claimed.iter().map(|at| &accepted[*at]).collect();
            let wrong = event.and_then(|event| {
                let mut unclaimed = unclaimed.iter();
                unclaimed.find(|reported| reported.key() == event)
            });
            let of_it: Vec<_> = claimed.into_iter().chain(wrong).chain(refused).collect();
            finding.came = self.nearest(demand, reported, &of_it);
            if let (Some(field), Some(event)) = (finding.cause.field, wrong) {
                let differs = self.context.difference(demand, event, field);
                let line = event.line();
                let mut came = finding.came.iter();
                let after = came.position(|came| *came == line).map_or(0, |at| at + 1);
                finding.came.splice(after..after, differs);
            }
            // What meets two demands is taken for one of them.
            let taken = accepted
                .iter()
                .zip(&assignment.of_event)
                .find_map(|(reported, by)| {
                    let other = &demands[(*by)?];
                    let is_another = !std::ptr::eq(other, demand) && answers(demand, reported);
                    is_another.then(|| (reported.line(), other.line(&self.context)))
                });
            if let Some((line, other)) = taken
                && let Some(at) = finding.came.iter().position(|came| *came == line)
            {
                let taken =
                    format!("this one is expected twice and came once: it is taken for {other}");
                finding.came.insert(at + 1, taken);
            }
            let (from, to) = (demand.window.from, demand.window.to);
            let failed = self.failed_pages(&demand.node, from, to);
            let unread = self.unread(&demand.node, from, to);
            finding.came.splice(0..0, failed.into_iter().chain(unread));
            let names = subject_names(&finding.expected[0]);
            if let Some(share) = share_of_line(demand, demands, assignment) {
                finding.expected[0].push_str(&share);
            }
            finding.reads = self.reads(Some(&demand.node), demand.window.from, &names);
            self.findings.push(finding);
        }
        instead
    }

    /// What a monitor said last about the subject of a demand, if that is the event that is demanded and was not accepted.
    fn last_said<'r>(
        &self,
        demand: &Demand<'_>,
        reported: &'r [ReportedEvent<'a>],
    ) -> Option<&'r ReportedEvent<'a>> {
        let (context, pattern) = (&self.context, &demand.pattern);
        let last = reported.iter().rfind(|reported| {
            let (node, tick, event) = (reported.node, reported.tick, reported.event);
            demand.node == *node
                && tick <= demand.window.to
                && context.names_subject(&pattern.about, node, tick, event)
        })?;
        let likeness = context.likeness(pattern, last.node, last.tick, last.event);
        // When it is sent again, it has another timestamp.
        let is_it = matches!(
            likeness,
            Likeness::Same | Likeness::Differs(EventField::Timestamp)
        );
        (!last.accepted && is_it).then_some(last)
    }

    /// Why a demand was not met, and the unclaimed event that came instead, by its key: one about
    /// the same subject in its time that differs in a field, the right one at another time, or one in its time that
    /// has other entities: of the same device, or of one that does not exist and that is not among those that came
    /// `instead` of other demands.
    fn why_missed(
        &self,
        demand: &Demand<'_>,
        unclaimed: &[ReportedEvent<'a>],
        came_at_all: bool,
        instead: &CameInstead<'a>,
    ) -> (Cause, Option<EventKey<'a>>) {
        let (context, pattern) = (&self.context, &demand.pattern);
        let in_tick = |kind, tick| context.cause_of_pattern(kind, &demand.node, tick, pattern);
        let of = |kind| match in_tick(kind, demand.window.from) {
            // What was just added may be read in a later poll of those in which it is told.
            cause if cause.role == Some(CauseRole::Absent) => in_tick(kind, demand.window.to),
            cause => cause,
        };
        if came_at_all {
            return (of(CauseKind::TooRarely), None);
        }
        let on_node = unclaimed
            .iter()
            .filter(|reported| *reported.node == demand.node);
        let (mut differing, mut late, mut early, mut beside) = (None, None, None, None);
        let mut stranger: Option<(&ReportedEvent<'a>, Alike)> = None;
        for reported in on_node {
            let (node, tick, event) = (reported.node, reported.tick, reported.event);
            let in_time = (demand.window.from..=demand.window.to).contains(&tick);
            if !context.names_subject(&pattern.about, node, tick, event) {
                let other = || context.other_entities(pattern, node, tick, event);
                match in_time.then(other).flatten() {
                    Some(OtherEntities::OfTheDevice) => beside = beside.or(Some(reported)),
                    Some(OtherEntities::OfNoDevice(alike)) => {
                        let is_nearer = stranger.is_none_or(|(_, nearest)| alike > nearest);
                        if is_nearer && !instead.contains_key(&reported.key()) {
                            stranger = Some((reported, alike));
                        }
                    }
                    None => {}
                }
                continue;
            }
            match context.likeness(pattern, node, tick, event) {
                Likeness::Same if tick > demand.window.to => late = late.or(Some(reported)),
                Likeness::Same if tick < demand.window.from => early = Some(reported),
                Likeness::Differs(field) if in_time => {
                    differing = differing.or(Some((reported, field)));
                }
                _ => {}
            }
        }
        let differs = |(reported, field): (&ReportedEvent<'a>, EventField)| {
            let cause = Cause {
                field: Some(field),
                ..of(CauseKind::Differs)
            };
            (cause, Some(reported.key()))
        };
        if let Some(differing) = differing {
            differs(differing)
        } else if let Some(reported) = late {
            (of(CauseKind::Late), Some(reported.key()))
        } else if let Some(reported) = early {
            (of(CauseKind::Early), Some(reported.key()))
        } else if let Some(reported) = beside.or(stranger.map(|(reported, _)| reported)) {
            differs((reported, EventField::Entities))
        } else {
            (of(CauseKind::Missed), None)
        }
    }

    /// The events nearest to a demand: `of_it`, which are assigned to it or came instead; those about the same subject; and
    /// alarms about the node.
    fn nearest(
        &self,
        demand: &Demand<'_>,
        reported: &[ReportedEvent<'_>],
        of_it: &[&ReportedEvent<'_>],
    ) -> Vec<String> {
        let mut lines: Vec<String> = of_it.iter().map(|reported| reported.line()).collect();
        let about = |reported: &&ReportedEvent<'_>| {
            *reported.node == demand.node
                && self.context.names_subject(
                    &demand.pattern.about,
                    reported.node,
                    reported.tick,
                    reported.event,
                )
        };
        let mut others: Vec<&ReportedEvent<'_>> = reported.iter().filter(about).collect();
        let distance = |reported: &ReportedEvent<'_>| {
            let (from, to) = (demand.window.from, demand.window.to);
            from.saturating_sub(reported.tick)
                .max(reported.tick.saturating_sub(to))
        };
        others.sort_by_key(|reported| distance(reported));
        // What is not in its time is shown with its nearest neighbours only.
        let in_time = others.partition_point(|reported| distance(reported) == 0);
        others.truncate(in_time + BESIDE_MAX);
        lines.extend(others.iter().map(|reported| reported.line()));
        // What was said of the whole node in its time may have meant it.
        let of_node = |reported: &&ReportedEvent<'_>| {
            *reported.node == demand.node
                && reported.event.subject == Subject::Node
                && reported.event.severity != Severity::Healthy
                && distance(reported) == 0
        };
        let of_node = reported.iter().filter(of_node);
        lines.extend(of_node.map(|reported| reported.line()));
        let mut seen = BTreeSet::new();
        lines.retain(|line| seen.insert(line.clone()));
        lines.truncate(NEAREST_MAX);
        lines
    }

    /// When an event is demanded that came before its time; `None` if none like it is demanded later.
    fn due_later(&self, reported: &ReportedEvent<'_>, demands: &[Demand<'_>]) -> Option<Window> {
        let (node, tick, event) = (reported.node, reported.tick, reported.event);
        let later = demands.iter().filter(|demand| {
            demand.node == *node
                && tick < demand.window.from
                && self.context.likeness(&demand.pattern, node, tick, event) == Likeness::Same
        });
        later.map(|demand| demand.window).min()
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

    /// Whether nobody listened just before the time of a demand, so that what was to be reported then was refused before any
    /// call was made.
    fn nobody_listened(&self, demand: &Demand<'_>) -> bool {
        let before = demand.window.from.saturating_sub(1);
        let outages = self.context.truth.log.outages.iter();
        let mut refusing = outages.filter(|outage| outage.socket != Socket::Listening);
        refusing.any(|outage| {
            let mut ticks = before..=demand.window.to;
            outage.node == demand.node && ticks.any(|tick| outage.lasts_in(tick))
        })
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

/// How many of the subjects of its line are missed like a demand, in parentheses; `None` if the line has no others, or all
/// are missed.
fn share_of_line(
    demand: &Demand<'_>,
    demands: &[Demand<'_>],
    assignment: &Assignment,
) -> Option<String> {
    let expectation = demand.expectation?;
    let subjects = subjects_of(&demand.pattern.about)?;
    let is_like = |other: &Demand<'_>| {
        other
            .expectation
            .is_some_and(|of| std::ptr::eq(of, expectation))
            && other.node == demand.node
            && other.bounds.at_least > 0
            && other.pattern.tone == demand.pattern.tone
            && other.pattern.counter == demand.pattern.counter
            && subjects_of(&other.pattern.about) == Some(subjects)
    };
    let of_line = demands.iter().zip(&assignment.of_demand);
    let (mut all, mut missed) = (0, 0);
    for (other, claimed) in of_line.filter(|(other, _)| is_like(other)) {
        all += 1;
        missed += usize::from(claimed.len() < other.bounds.at_least);
    }
    (0 < missed && missed < all).then(|| format!(" ({missed} of {all} {subjects})"))
}

/// What the subjects of a kind are called; `None` for a whole check.
fn subjects_of(about: &About) -> Option<&'static str> {
    match about {
        About::Port(_) | About::NamedPort(..) => Some("ports"),
        About::Device(..) | About::NamedDevice(_) => Some("devices"),
        About::Card(..) => Some("cards"),
        About::Check => None,
    }
}

/// The device names in a text with `NIC=…`, as they appear in paths.
fn subject_names(text: &str) -> Vec<String> {
    let nic = text.split(' ').find_map(|word| word.strip_prefix("NIC="));
    nic.map(|name| format!("/{}/", name.trim_end_matches(',')))
        .into_iter()
        .collect()
}
