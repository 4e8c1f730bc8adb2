//! What is owed and did not come: findings with what came instead, and why.

use std::collections::BTreeSet;

use director::Socket;
use observe::{Subject, promises::LostPublish};
use reports::{Cause, CauseKind, CauseRole, FindingKind};
use scenarios::{About, Window};
use terms::{EventField, Severity};

use super::CameInstead;
use crate::{
    Judging,
    assign::Assignment,
    causes::{Alike, Likeness, OtherEntities},
    demands::Demand,
    laws, place,
    reported_event::{EventKey, ReportedEvent},
};

impl<'a> Judging<'a> {
    /// Reports demands that were not met; returns the unclaimed events that came instead.
    pub(super) fn demanded(
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
    pub(super) fn last_said<'r>(
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
    pub(super) fn why_missed(
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
    pub(super) fn nearest(
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
    pub(super) fn due_later(
        &self,
        reported: &ReportedEvent<'_>,
        demands: &[Demand<'_>],
    ) -> Option<Window> {
        let (node, tick, event) = (reported.node, reported.tick, reported.event);
        let later = demands.iter().filter(|demand| {
            demand.node == *node
                && tick < demand.window.from
                && self.context.likeness(&demand.pattern, node, tick, event) == Likeness::Same
        });
        later.map(|demand| demand.window).min()
    }

    /// Whether nobody listened just before the time of a demand, so that what was to be reported then was refused before any
    /// call was made.
    pub(super) fn nobody_listened(&self, demand: &Demand<'_>) -> bool {
        let before = demand.window.from.saturating_sub(1);
        let outages = self.context.truth.log.outages.iter();
        let mut refusing = outages.filter(|outage| outage.socket != Socket::Listening);
        refusing.any(|outage| {
            let mut ticks = before..=demand.window.to;
            outage.node == demand.node && ticks.any(|tick| outage.lasts_in(tick))
        })
    }
}

/// How many of the subjects of its line are missed like a demand, in parentheses; `None` if the line has no others, or all
/// are missed.
pub(super) fn share_of_line(
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
pub(super) fn subjects_of(about: &About) -> Option<&'static str> {
    match about {
        About::Port(_) | About::NamedPort(..) => Some("ports"),
        About::Device(..) | About::NamedDevice(_) => Some("devices"),
        About::Card(..) => Some("cards"),
        About::Check => None,
    }
}

/// The device names in a text with `NIC=…`, as they appear in paths.
pub(super) fn subject_names(text: &str) -> Vec<String> {
    let nic = text.split(' ').find_map(|word| word.strip_prefix("NIC="));
    nic.map(|name| format!("/{}/", name.trim_end_matches(',')))
        .into_iter()
        .collect()
}

/// How many events a failure shows as the nearest to a missing one. Chosen.
pub(super) const NEAREST_MAX: usize = 6;

/// How many events outside its time a failure shows beside those in it. Chosen: the one before and the
/// one after.
pub(super) const BESIDE_MAX: usize = 2;
