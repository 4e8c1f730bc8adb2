//! What a monitor stated, and which of it are alarms about a subject. Start at [`Heard`].

use std::cmp::Reverse;

use observe::{
    Recording, Subject,
    promises::Granularity,
    statement::{Statement, statements},
};
use platforms::{NodeName, PciAddress};
use terms::Severity;

use super::{
    due::Group,
    subject::{AlarmSubject, Bearers},
};
use crate::{fits::JudgeContext, reported_event::called};

/// How many statements a finding shows. Chosen.
const LINES_MAX: usize = 6;

/// How many statements about names that no device has a finding shows. Chosen.
const STRANGERS_MAX: usize = 3;

/// How many alarms about the node as a whole a finding shows beside them. Chosen.
const NODE_LINES_MAX: usize = 2;

/// What the monitor of a node said.
pub(crate) struct Heard<'r> {
    /// Its statements by their beginnings, each with whether it is about no subject: about a name or number that its node
    /// never had, or, where the node is the subject, an alarm that names a device or a port that is not monitored.
    stated: Vec<(Statement, bool)>,
    bearers: &'r Bearers,
    recording: &'r Recording,
    node: String,
}

impl<'r> Heard<'r> {
    /// What was accepted of it.
    pub(crate) fn of(
        context: &JudgeContext<'_>,
        recording: &'r Recording,
        node: &NodeName,
        bearers: &'r Bearers,
    ) -> Self {
        let promised = &context.descriptor.promises;
        let is_of_node = promised.granularity == Some(Granularity::Node);
        let is_of_nobody = |it: &Statement| {
            let event = super::observed(it);
            let is_unwatched = || context.not_monitored(node, it.from, &event).is_some();
            context.is_of_nobody(node, &event) || is_of_node && is_alarm(it) && is_unwatched()
        };
        let all = statements(recording, node.as_str()).into_iter();
        let stated = all.map(|it| {
            let is_of_nobody = is_of_nobody(&it);
            (it, is_of_nobody)
        });
        Self {
            stated: stated.collect(),
            bearers,
            recording,
            node: node.to_string(),
        }
    }

    /// All alarms, those about names and numbers that the node never had among them, by their beginnings.
    pub(crate) fn all_alarms(&self) -> impl Iterator<Item = &Statement> {
        let all = self.stated.iter().map(|(it, _)| it);
        all.filter(|it| is_alarm(it))
    }

    /// Those about a subject when they began.
    pub(crate) fn alarms_about(&self, subject: &AlarmSubject) -> impl Iterator<Item = &Statement> {
        let all = self.all_alarms();
        all.filter(|it| subject.is_meant(&it.subject, it.from, self.bearers))
    }

    /// Whether a statement only changes the severity of an alarm.
    pub(crate) fn goes_on(&self, of: &Statement) -> bool {
        self.all_alarms().any(|before| {
            before.to == Some(of.from)
                && (&before.subject, &before.check, &before.codes)
                    == (&of.subject, &of.check, &of.codes)
        })
    }

    /// The function that a statement is about, if it names one.
    pub(crate) fn function(&self, of: &Statement) -> Option<PciAddress> {
        match &of.subject {
            Subject::Device(name) | Subject::Port { device: name, .. } => {
                self.bearers.bearer(name, of.from)
            }
            Subject::Node | Subject::Card(_) | Subject::Other(_) => None,
        }
    }

    /// The worst statement about a subject at the end of a tick, if it is an alarm.
    pub(super) fn worst(&self, group: &Group, tick: u64) -> Option<Severity> {
        let standing = self.alarms(group, tick);
        standing.map(|alarm| alarm.severity).reduce(Severity::worst)
    }

    /// The alarm about a subject that stands at the end of a tick; the worst of several.
    pub(super) fn worst_statement<'h>(
        &'h self,
        group: &'h Group,
        tick: u64,
    ) -> Option<&'h Statement> {
        let standing = self.alarms(group, tick);
        standing.max_by_key(|alarm| Reverse(alarm.severity))
    }

    /// What was said from a tick on of devices whose names no device has: alarms first, each subject once. And whether an
    /// alarm is among it, which may have meant another device.
    pub(super) fn strangers(
        &self,
        tick: u64,
        is_a_name: impl Fn(&str) -> bool,
    ) -> (Vec<String>, bool) {
        let is_strange = |it: &&Statement| {
            let named = match &it.subject {
                Subject::Device(name) | Subject::Port { device: name, .. } => Some(name),
                Subject::Node | Subject::Card(_) | Subject::Other(_) => None,
            };
            named.is_some_and(|name| !is_a_name(name)) && it.to.is_none_or(|to| tick < to)
        };
        let all = self.said().chain(self.nobody());
        let mut strange: Vec<&Statement> = all.filter(is_strange).collect();
        strange.sort_by_key(|it| (it.severity == Severity::Healthy, it.from));
        let mut told = Vec::new();
        strange.retain(|it| {
            !told.contains(&it.subject) && {
                told.push(it.subject.clone());
                true
            }
        });
        let has_alarm = strange.iter().any(|it| is_alarm(it));
        let lines = strange.into_iter().take(STRANGERS_MAX);
        let lines = lines.map(|it| format!("{} (no device has this name)", line(it)));
        (lines.collect(), has_alarm)
    }

    /// The worst statement about a subject at the end of any of these ticks, if it is an alarm.
    pub(super) fn worst_in(&self, group: &Group, from: u64, to: u64) -> Option<Severity> {
        (from..=to.max(from))
            .filter_map(|tick| self.worst(group, tick))
            .reduce(Severity::worst)
    }

    /// The first tick without an alarm about a subject between two with one, although all stands that stood in the
    /// first of them, and nothing about it is promised.
    pub(super) fn gap(&self, group: &Group, last: u64) -> Option<u64> {
        let raised = |tick: &u64| self.worst(group, *tick).is_some();
        (1..last).find(|off| {
            let before = off - 1;
            if !raised(&before) || raised(off) || group.is_promised(before) {
                return false;
            }
            let ends = group.standing(before).map(|fault| fault.to).min();
            ends.is_some_and(|end| (off + 1..end.min(last)).any(|tick| raised(&tick)))
        })
    }

    /// Whether any alarm about a subject was raised or repeated between two ticks.
    pub(super) fn any_between(&self, group: &Group, from: u64, to: u64) -> bool {
        let is_of_nobody = |subject: &Subject, at: u64| {
            let mut of_it = self.nobody().filter(|it| it.subject == *subject);
            of_it.any(|it| it.from <= at && it.to.is_none_or(|to| at <= to))
        };
        (from..=to).any(|at| {
            let Ok(index) = usize::try_from(at) else {
                return false;
            };
            let tick = self.recording.ticks.get(index);
            let monitor = tick.and_then(|tick| tick.monitors.get(self.node.as_str()));
            let calls = monitor.into_iter().flat_map(|monitor| &monitor.calls);
            calls
                .filter(|call| call.accepted)
                .flat_map(|call| &call.observations)
                .any(|event| {
                    event.severity != Severity::Healthy
                        && !is_of_nobody(&event.subject, at)
                        && self.is_about(group, &event.subject, at)
                })
        })
    }

    /// The alarms that nothing explains when they begin, or when their name is given to another subject, each with that
    /// tick.
    pub(super) fn unfounded<'h>(
        &'h self,
        group: &'h Group,
    ) -> impl Iterator<Item = (&'h Statement, u64)> {
        let last = self.recording.ticks.len() as u64;
        self.raised().filter_map(move |alarm| {
            // How long a founded one stands is judged with its reason.
            if self.is_about(group, &alarm.subject, alarm.from) {
                return (!group.may_begin(alarm.from)).then_some((alarm, alarm.from));
            }
            let mut taken_over = group
                .taken_over
                .iter()
                .filter(|(name, at, _)| alarm.subject.nic() == Some(name) && alarm.from < *at);
            let stays = taken_over.find(|(_, _, settled)| {
                *settled < last
                    && stands(alarm, *settled)
                    && self.is_about(group, &alarm.subject, *settled)
                    && !group.may_alarm(*settled)
            });
            stays.map(|(_, _, settled)| (alarm, *settled))
        })
    }

    /// What was said of nobody: alarms, and where only changes are said, what is healthy of names and numbers that the node
    /// never had and takes no alarm back.
    pub(super) fn of_no_name(&self, are_changes: bool) -> impl Iterator<Item = &Statement> {
        let ends_an_alarm = |it: &Statement| {
            let mut before = self.nobody();
            before.any(|of| of.subject == it.subject && is_alarm(of) && of.from <= it.from)
        };
        let said = self.nobody();
        said.filter(move |it| is_alarm(it) || are_changes && !ends_an_alarm(it))
    }

    /// The alarms about what no subject is as long as they stand: what nothing monitored is, and the node
    /// as a whole while nothing of it alarms and before anything was done.
    pub(super) fn of_nobody<'h>(
        &'h self,
        groups: &'h [Group],
        first_action: u64,
    ) -> impl Iterator<Item = &'h Statement> {
        let end = self.recording.ticks.len() as u64;
        self.raised().filter(move |alarm| match alarm.subject {
            Subject::Other(_) => false,
            Subject::Node => {
                let may_begin = |group: &Group| group.may_begin(alarm.from);
                alarm.from < first_action && !groups.iter().any(may_begin)
            }
            _ => {
                let mut ticks = alarm.from..alarm.to.unwrap_or(end);
                ticks.all(|tick| {
                    let is_its = |group: &Group| self.is_about(group, &alarm.subject, tick);
                    !groups.iter().any(is_its)
                })
            }
        })
    }

    /// The alarms that are worse than the rows allow of what stands, each with the first tick in which it is, and what is
    /// allowed then. `throughout` says whether an alarm states what is as long as it stands.
    pub(super) fn too_severe<'h>(
        &'h self,
        group: &'h Group,
        throughout: bool,
    ) -> impl Iterator<Item = (&'h Statement, u64, Severity)> {
        let end = self.recording.ticks.len() as u64;
        self.raised().filter_map(move |alarm| {
            let to = match throughout {
                true => alarm.to.unwrap_or(end),
                false => alarm.from + 1,
            };
            let mut ticks = alarm.from..to.min(end);
            ticks.find_map(|tick| {
                let at_most = group.at_most(tick)?;
                let is_worse = alarm.severity.is_worse_than(at_most)
                    && self.is_about(group, &alarm.subject, tick);
                is_worse.then_some((alarm, tick, at_most))
            })
        })
    }

    /// The statements about a subject around a tick.
    pub(super) fn lines(&self, group: &Group, tick: u64) -> Vec<String> {
        let about = self.said().filter(|it| {
            self.is_about(group, &it.subject, it.from) || self.is_about(group, &it.subject, tick)
        });
        nearest(about, tick).map(line).collect()
    }

    /// The alarms about the node as a whole that stand at a tick or come later, where the subject is a part of it: they
    /// may have been meant.
    pub(super) fn lines_of_node(&self, group: &Group, tick: u64) -> Vec<String> {
        let of_node = |it: &&Statement| {
            group.subject.whom.is_some()
                && it.subject == Subject::Node
                && it.severity != Severity::Healthy
                && it.to.is_none_or(|to| tick < to)
        };
        let lines = self.said().filter(of_node).take(NODE_LINES_MAX);
        lines.map(line).collect()
    }

    /// The alarms about a subject that stand at the end of a tick.
    fn alarms<'h>(&'h self, group: &'h Group, tick: u64) -> impl Iterator<Item = &'h Statement> {
        let raised = self.raised();
        raised.filter(move |it| stands(it, tick) && self.is_about(group, &it.subject, tick))
    }

    /// Whether a statement about `stated` in a tick is about a subject, or a part of it.
    fn is_about(&self, group: &Group, stated: &Subject, tick: u64) -> bool {
        group.subject.is_meant(stated, tick, self.bearers)
    }

    /// The statements about a subject.
    fn said(&self) -> impl Iterator<Item = &Statement> {
        let said = self.stated.iter().filter(|(_, is_of_nobody)| !is_of_nobody);
        said.map(|(it, _)| it)
    }

    /// The statements about none.
    fn nobody(&self) -> impl Iterator<Item = &Statement> {
        let of_nobody = self.stated.iter().filter(|(_, is_of_nobody)| *is_of_nobody);
        of_nobody.map(|(it, _)| it)
    }

    /// The statements that are alarms.
    fn raised(&self) -> impl Iterator<Item = &Statement> {
        self.said().filter(|it| is_alarm(it))
    }
}

/// The statements that a finding shows, the nearest to a tick first.
pub(crate) fn nearest<'s>(
    statements: impl Iterator<Item = &'s Statement>,
    tick: u64,
) -> impl Iterator<Item = &'s Statement> {
    let mut all: Vec<&Statement> = statements.collect();
    all.sort_by_key(|it| it.from.abs_diff(tick));
    all.into_iter().take(LINES_MAX)
}

/// Whether a statement is an alarm.
fn is_alarm(statement: &Statement) -> bool {
    statement.severity != Severity::Healthy
}

fn stands(alarm: &Statement, tick: u64) -> bool {
    alarm.from <= tick && alarm.to.is_none_or(|to| tick < to)
}

/// A statement as a line, with its check where it has one.
pub(crate) fn line_with_check(it: &Statement) -> String {
    let check = it.check.iter().map(|check| format!(" {check}"));
    line(it) + &check.collect::<String>()
}

/// A statement as a line.
pub(crate) fn line(it: &Statement) -> String {
    let time = match it.to {
        Some(to) if to == it.from => format!("in poll {to}"),
        Some(to) => format!("from poll {} to poll {to}", it.from),
        None => format!("from poll {} to the end", it.from),
    };
    let subject = match &it.subject {
        Subject::Node => format!("({})", called(&it.subject)),
        subject => subject.to_string(),
    };
    format!("{time}: {} {subject}", it.severity)
}
