//! Judges by intervals a monitor that reports devices or its node as a whole, or states what is instead of
//! reporting what changes.
//!
//! The faults that a subject owes are one alarm: it opens within its time after the first of them, stands while
//! one of them does, and closes within its time after the last. Nothing else alarms. Start at
//! [`Judging::alarms`].

mod asked;
mod due;
pub(crate) mod heard;
mod patience;
mod promised;
pub(crate) mod subject;

use std::collections::BTreeSet;

use observe::{
    Observation,
    promises::{Granularity, Named, Names, Style},
    statement::Statement,
};
use platforms::NodeName;
use reports::{Cause, CauseKind, Finding, FindingKind};
use scenarios::{About, Heal};
use terms::{EventField, Severity};

use crate::{
    Judging,
    consequences::Consequences,
    demands, is_about_events, laws, line_of, nodes,
    owed::{Fate, Owed, Rows},
    readings::Readings,
    reasons,
    reported_event::{self, ReportedEvent},
    strays::Strays,
};

use due::{Alarm, Group};
use heard::Heard;
use subject::{Bearers, cause_subject};

/// Why an expectation about a single port or event is not judged.
const GRANULARITY: &str = "its reports are about more than one port, by promise";

/// The same where it states what is.
const LEVEL: &str = "it states what is, by promise, so that single events are not compared";

/// What is expected of an alarm that nothing explains.
const NOTHING_ELSE: &str = "nothing else alarms";

impl Judging<'_> {
    /// Whether the monitor is judged by intervals.
    pub(super) fn has_alarms(&self) -> bool {
        self.context.descriptor.promises.has_alarms()
    }

    /// Compares what was said with what is owed, interval by interval.
    pub(super) fn alarms(&mut self) {
        let (context, recording) = (self.context, self.recording);
        let (documents, _) = demands::demands(self.story, &context, recording);
        let owed = Owed::of(documents, &context, recording);
        let promises = &context.descriptor.promises;
        let granularity = promises.granularity.unwrap_or_default();
        let names = promises
            .names
            .filter(|_| granularity != Granularity::Port)
            .unwrap_or_default();
        let mut openings: BTreeSet<(NodeName, u64)> = BTreeSet::new();
        let readings = Readings::of(context, recording.healing_from);
        for node in &self.story.monitors {
            let bearers = Bearers::of(&readings, recording, node);
            let heard = Heard::of(&context, recording, node, &bearers);
            let groups = due::groups(
                &context,
                recording,
                node,
                (&readings, &bearers),
                granularity,
            );
            for group in &groups {
                openings.extend(group.alarms.iter().flat_map(|alarm| {
                    [alarm.opens, alarm.closes].map(|tick| (node.clone(), tick))
                }));
                let first = self.findings.len();
                self.group(node, group, &heard, names);
                for finding in &mut self.findings[first..] {
                    if finding.kind != FindingKind::Unexpected {
                        finding.line = asked::line(&owed, node, group, finding);
                    }
                }
            }
            self.of_no_name(node, &heard);
            if granularity != Granularity::Node {
                self.of_nobody(node, &groups, &heard);
            }
        }
        if granularity == Granularity::Port {
            self.healing();
        }
        let made = Consequences::of(self.story, recording);
        let reported = reported_event::all_reported(self.story, recording);
        if promises.style.unwrap_or_default() == Style::Edge {
            self.changes(&reported);
        }
        let reported: Vec<_> = reported
            .into_iter()
            .map(|reported| (reported, true))
            .collect();
        self.facts(&reported, &made, &owed);
        // What was said under a name that was given up may stay, and so may what was said of a port that moved.
        let is_open = Rows::of(&context)
            .unpromised(&Named::MovedLayer.into())
            .is_some();
        let stays = |node: &NodeName, _: &str| {
            let is_left = owed.left_behind.iter().any(|(of, ..)| of == node);
            is_left || is_open && !readings.layer_changes(node).is_empty()
        };
        self.consequences(&made, &stays);
        self.count_alarms(&owed, &openings);
    }

    /// Why what single events decide is not judged of one that has alarms.
    pub(super) fn too_fine(&self) -> &'static str {
        match self.context.descriptor.promises.granularity {
            None | Some(Granularity::Port) => LEVEL,
            Some(_) => GRANULARITY,
        }
    }

    fn group(&mut self, node: &NodeName, group: &Group, heard: &Heard<'_>, names: Names) {
        let heals = !matches!(self.story.heal, Heal::Never { .. });
        let last = (self.recording.ticks.len() as u64).saturating_sub(1);
        for alarm in &group.alarms {
            let due = alarm.opens_by.min(last);
            let tones = alarm.due.iter().map(|(_, tone)| *tone);
            let wanted = tones.reduce(Severity::worst).unwrap_or(Severity::Fatal);
            // One that is short may be over by then.
            if heard.worst_in(group, alarm.opens, due).is_none() {
                let what = format!("an alarm about {} by poll {due}", group.name);
                let times = (alarm.opens, due);
                self.missing(node, group, times, (CauseKind::Missed, wanted), what, heard);
                continue;
            }
            for (piece, (piece_due, tone)) in alarm.pieces.iter().zip(&alarm.due) {
                let wanted = *tone;
                let worst = heard.worst_in(group, *piece, (*piece_due).min(last));
                if worst.is_some_and(|worst| wanted.is_worse_than(worst)) {
                    let what = format!("it is {wanted} by poll {piece_due}");
                    let times = (*piece_due, *piece_due);
                    self.missing(
                        node,
                        group,
                        times,
                        (CauseKind::Differs, wanted),
                        what,
                        heard,
                    );
                }
            }
            if names == Names::All {
                for (piece, (due, _)) in alarm.pieces.iter().zip(&alarm.due) {
                    if !heard.any_between(group, *piece, *due) {
                        let what = format!("a report of the fault of poll {piece} by poll {due}");
                        let times = (*piece, *due);
                        self.missing(node, group, times, (CauseKind::Missed, wanted), what, heard);
                    }
                }
            }
            let off = (alarm.opens_by..alarm.closes.min(last))
                .find(|tick| heard.worst(group, *tick).is_none());
            if let Some(off) = off {
                let what = format!("an alarm about {} until poll {}", group.name, alarm.closes);
                self.missing(
                    node,
                    group,
                    (off, off),
                    (CauseKind::Missed, wanted),
                    what,
                    heard,
                );
            }
            let is_over = alarm.closes_by.is_some_and(|by| by <= last);
            if let Some(by) = alarm.closes_by.filter(|_| is_over && heals)
                && let Some(standing) = heard.worst_statement(group, by)
                && !group.may_alarm(by)
            {
                self.not_over(node, group, standing, (alarm.closes, by), heard);
            }
        }
        self.unpromised(node, group, heard, last);
        self.too_severe(node, group, heard);
        for (alarm, from) in heard.unfounded(group) {
            let expected = match (self.no_subject(node, from, alarm), group.waits(from)) {
                (Some(nothing), _) => nothing,
                (None, Some(opens)) => format!("no alarm about {} before poll {opens}", group.name),
                (None, None) => NOTHING_ELSE.to_owned(),
            };
            let mut finding = self.needless(node, from, alarm, expected);
            let mended = group.alarms.iter().filter(|it| it.closes <= from);
            let mended = mended.map(|it| it.closes).max();
            let unread = mended.and_then(|mended| self.unread(node, mended, from));
            finding.came.extend(unread);
            finding.came.push(heard::line(alarm));
            self.findings.push(finding);
        }
    }

    /// What is expected instead of an alarm about what is not there, or is not monitored; `None` of any other.
    fn no_subject(&self, node: &NodeName, tick: u64, alarm: &Statement) -> Option<String> {
        let subject = self.context.not_monitored(node, tick, &observed(alarm))?;
        Some(format!("nothing about {subject}"))
    }

    /// The finding about an alarm that should not be there, or not like this, in a tick.
    fn needless(&self, node: &NodeName, tick: u64, alarm: &Statement, expected: String) -> Finding {
        let kind = CauseKind::Unexpected;
        let cause = self
            .context
            .cause_of_event(kind, node, tick, &observed(alarm));
        let mut finding = self.finding(FindingKind::Unexpected, cause, Some(node), Some(tick));
        finding.expected.push(expected);
        finding
    }

    /// What laws say of single reports where they begin and end alarms.
    fn changes(&mut self, reported: &[ReportedEvent<'_>]) {
        let strays = Strays::of(&self.context, self.recording);
        let accepted = reported.iter().filter(|reported| reported.accepted);
        let accepted: Vec<_> = accepted.copied().collect();
        self.twice(&accepted, &(0..accepted.len()).collect(), &strays);
        for (at, healthy) in accepted.iter().enumerate() {
            if !strays.ends_nothing(healthy, &accepted[..at]) {
                continue;
            }
            let (node, tick, event) = (healthy.node, healthy.tick, healthy.event);
            let kind = CauseKind::Unexpected;
            let cause = self.context.cause_of_event(kind, node, tick, event);
            let mut finding = self.finding(FindingKind::Unexpected, cause, Some(node), Some(tick));
            finding.expected.push(laws::no_recovery(event));
            finding.came.push(healthy.line());
            self.findings.push(finding);
        }
    }

    /// What is said of names and numbers that the node never had, or of what is not monitored where the node is the subject.
    fn of_no_name(&mut self, node: &NodeName, heard: &Heard<'_>) {
        let style = self.context.descriptor.promises.style.unwrap_or_default();
        for statement in heard.of_no_name(style == Style::Edge) {
            let expected = self.no_subject(node, statement.from, statement);
            let expected = expected.unwrap_or_else(|| NOTHING_ELSE.to_owned());
            let mut finding = self.needless(node, statement.from, statement, expected);
            finding.came.push(heard::line(statement));
            self.findings.push(finding);
        }
    }

    /// Alarms about what is not monitored.
    fn of_nobody(&mut self, node: &NodeName, groups: &[Group], heard: &Heard<'_>) {
        let first = self.story.steps.first();
        let first = first.map_or(u64::MAX, |step| self.story.ticks.first_from(step.at));
        for alarm in heard.of_nobody(groups, first) {
            let expected = self.no_subject(node, alarm.from, alarm);
            let expected = expected.unwrap_or_else(|| NOTHING_ELSE.to_owned());
            let mut finding = self.needless(node, alarm.from, alarm, expected);
            finding.came.push(heard::line(alarm));
            self.findings.push(finding);
        }
    }

    /// Alarms that are worse than the rows of what stands promise.
    fn too_severe(&mut self, node: &NodeName, group: &Group, heard: &Heard<'_>) {
        // One that reports changes need not take a part of an alarm back.
        let throughout = self.context.descriptor.promises.style == Some(Style::Level);
        for (alarm, tick, at_most) in heard.too_severe(group, throughout) {
            let expected = format!("an alarm about {} is {at_most} at most", group.name);
            let mut finding = self.needless(node, tick, alarm, expected);
            finding.came.extend(self.failed_pages(node, tick, tick));
            finding.came.extend(self.unread(node, tick, tick));
            finding.came.push(heard::line(alarm));
            self.findings.push(finding);
        }
    }

    /// What laws say of the faults that nothing is promised about: an alarm that states what is stays while the fault
    /// stands, and one that was raised is taken back.
    fn unpromised(&mut self, node: &NodeName, group: &Group, heard: &Heard<'_>, last: u64) {
        let style = self.context.descriptor.promises.style;
        let flickers = heard.gap(group, last);
        if let Some(off) = flickers.filter(|_| style == Some(Style::Level)) {
            let what = format!(
                "an alarm about {} that stays while the fault does",
                group.name
            );
            let before = heard.worst(group, off.saturating_sub(1));
            let cause = (CauseKind::Missed, before.unwrap_or(Severity::Fatal));
            self.missing(node, group, (off, off), cause, what, heard);
        }
        let heals = !matches!(self.story.heal, Heal::Never { .. });
        // What stays over the end of an alarm that is owed is told there.
        let is_told = |by: u64| {
            by <= last && !group.may_alarm(by) && heard.worst_statement(group, by).is_some()
        };
        let mut ends = group.alarms.iter().filter_map(|alarm| alarm.closes_by);
        let is_over = !group.unpromised.is_empty() && !group.may_alarm(last) && !ends.any(is_told);
        if heals
            && is_over
            && let Some(standing) = heard.worst_statement(group, last)
        {
            self.not_over(node, group, standing, (last, last), heard);
        }
    }

    /// An alarm that stands although its fault does not, since a tick and in another one.
    fn not_over(
        &mut self,
        node: &NodeName,
        group: &Group,
        standing: &Statement,
        (since, by): (u64, u64),
        heard: &Heard<'_>,
    ) {
        let event = observed(standing);
        let cause = self
            .context
            .cause_of_event(CauseKind::NotCleared, node, by, &event);
        let mut finding = self.finding(FindingKind::Outstanding, cause, Some(node), Some(by));
        finding
            .expected
            .push(format!("no alarm about {} from poll {by} on", group.name));
        finding.came.extend(self.failed_pages(node, since, by));
        finding.came.extend(self.unread(node, since, by));
        finding.came.extend(heard.lines(group, by));
        self.findings.push(finding);
    }

    fn missing(
        &mut self,
        node: &NodeName,
        group: &Group,
        (tick, by): (u64, u64),
        (kind, severity): (CauseKind, Severity),
        expected: String,
        heard: &Heard<'_>,
    ) {
        let mut cause = self.cause(group, kind, severity);
        let lines = heard.lines(group, tick);
        // What was said of a name that no device has may have meant it.
        let (strangers, may_mean_it) = match lines.is_empty() {
            true => heard.strangers(tick, |name| self.context.is_a_name(node, name)),
            false => (Vec::new(), false),
        };
        if may_mean_it {
            cause.kind = CauseKind::Differs;
            cause.field = Some(EventField::Entities);
        }
        let mut finding = self.finding(FindingKind::Missing, cause, Some(node), Some(tick));
        finding.expected.push(expected);
        finding.came = strangers;
        finding.came.extend(self.failed_pages(node, tick, by));
        finding.came.extend(self.unread(node, tick, by));
        finding.came.extend(lines);
        finding.came.extend(heard.lines_of_node(group, tick));
        self.findings.push(finding);
    }

    fn cause(&self, group: &Group, kind: CauseKind, severity: Severity) -> Cause {
        Cause {
            severity: Some(severity),
            subject: Some(cause_subject(group.subject.whom.as_ref())),
            ..Cause::of(kind)
        }
    }

    /// Counts expectations about events: those that open or close an alarm are judged with it.
    fn count_alarms(&mut self, owed: &Owed<'_>, openings: &BTreeSet<(NodeName, u64)>) {
        for expectation in &self.story.expectations {
            if !is_about_events(&expectation.what) {
                continue;
            }
            for node in nodes(expectation, self.story) {
                if let Some(reason) = owed.not_judged(expectation, node) {
                    self.judged.leave_out_line(line_of(expectation), reason);
                    continue;
                }
                let of_it = owed.documents.iter().filter(|it| {
                    let same = |of: &scenarios::Expectation| std::ptr::eq(of, expectation);
                    it.demand.node == *node && it.demand.expectation.is_some_and(same)
                });
                let decides = of_it.clone().any(|it| {
                    let later = match it.fate {
                        Fate::Owed { later, .. } => later,
                        _ => 0,
                    };
                    let from = it.demand.window.from.saturating_add_signed(later);
                    let is_alarm = !matches!(it.demand.pattern.about, About::Check)
                        && (it.demand.pattern.tone != Severity::Healthy
                            || it.kinds.clears.is_some());
                    let near = from.saturating_sub(1)..=it.demand.window.to.saturating_add(1);
                    is_alarm
                        && openings
                            .iter()
                            .any(|(of, tick)| of == node && near.contains(tick))
                });
                let place = expectation.place.to_string();
                if decides || self.findings.iter().any(|finding| finding.is_at(&place)) {
                    self.judged.judge();
                    continue;
                }
                let has_no_page = of_it.into_iter().any(|it| {
                    let window = it.demand.window;
                    self.has_no_page(node, window.from, window.to)
                });
                let reason = match has_no_page {
                    true => reasons::NO_PAGE,
                    false => self.too_fine(),
                };
                self.judged.leave_out_line(line_of(expectation), reason);
            }
        }
    }
}

/// A statement as an event.
fn observed(statement: &Statement) -> Observation {
    Observation {
        subject: statement.subject.clone(),
        check: statement.check.clone(),
        codes: statement.codes.clone(),
        severity: statement.severity,
        ..Observation::default()
    }
}

impl Alarm {
    /// The ticks in which it may stand.
    fn may_stand(&self, tick: u64) -> bool {
        tick >= self.opens && self.closes_by.is_none_or(|by| tick < by)
    }
}
