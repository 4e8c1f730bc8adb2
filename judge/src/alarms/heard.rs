//! The alarms that a monitor raised, tick by tick. Start at [`Heard`].

use observe::{
    Recording, Severity, Subject,
    interval::{Interval, said},
};
use platforms::NodeName;

use super::due::Group;
use crate::kinds::Whom;

/// How many statements a finding shows. Chosen.
const LINES_MAX: usize = 6;

/// How many alarms about the node as a whole a finding shows beside them. Chosen.
const NODE_LINES_MAX: usize = 2;

/// What the monitor of a node said.
pub(super) struct Heard<'r> {
    said: Vec<Interval>,
    recording: &'r Recording,
    node: String,
}

impl<'r> Heard<'r> {
    /// What was accepted of it.
    pub(super) fn of(recording: &'r Recording, node: &NodeName) -> Self {
        Self {
            said: said(recording, node.as_str()),
            recording,
            node: node.to_string(),
        }
    }

    /// The worst statement about a subject at the end of a tick, if it is an alarm.
    pub(super) fn worst(&self, group: &Group, tick: u64) -> Option<Severity> {
        let standing = self.alarms(group).filter(|alarm| stands(alarm, tick));
        standing.map(|alarm| alarm.severity).max()
    }

    /// The worst statement about a subject at the end of any of these ticks, if it is an alarm.
    pub(super) fn worst_in(&self, group: &Group, from: u64, to: u64) -> Option<Severity> {
        (from..=to.max(from))
            .filter_map(|tick| self.worst(group, tick))
            .max()
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
        (from..=to).any(|tick| {
            let Ok(at) = usize::try_from(tick) else {
                return false;
            };
            let tick = self.recording.ticks.get(at);
            let monitor = tick.and_then(|tick| tick.monitors.get(self.node.as_str()));
            let calls = monitor.into_iter().flat_map(|monitor| &monitor.calls);
            calls
                .filter(|call| call.accepted)
                .flat_map(|call| &call.observations)
                .any(|event| event.severity != Severity::Healthy && is_about(group, &event.subject))
        })
    }

    /// The alarms that nothing explains: the tick in which each begins to lack a reason, and its lines.
    pub(super) fn unfounded(&self, group: &Group) -> Vec<(u64, Vec<String>)> {
        let last = self.recording.ticks.len() as u64;
        // How long a founded one stands is judged with its reason.
        let alarms = self.alarms(group);
        let found = alarms
            .filter(|alarm| !group.may_alarm(alarm.from) && alarm.from < last)
            .map(|alarm| (alarm.from, vec![line(alarm)]));
        found.collect()
    }

    /// The statements about a subject around a tick.
    pub(super) fn lines(&self, group: &Group, tick: u64) -> Vec<String> {
        let mut about: Vec<&Interval> = self
            .said
            .iter()
            .filter(|it| is_about(group, &it.subject))
            .collect();
        about.sort_by_key(|it| it.from.abs_diff(tick));
        let lines = about.into_iter().take(LINES_MAX);
        lines.map(line).collect()
    }

    /// The alarms about the node as a whole that stand at a tick or come later, where the subject is a part of it: they
    /// may have been meant.
    pub(super) fn lines_of_node(&self, group: &Group, tick: u64) -> Vec<String> {
        let of_node = |it: &&Interval| {
            group.whom.is_some()
                && it.subject == Subject::Node
                && it.severity != Severity::Healthy
                && it.to.is_none_or(|to| tick < to)
        };
        let lines = self.said.iter().filter(of_node).take(NODE_LINES_MAX);
        lines.map(line).collect()
    }

    fn alarms<'h>(&'h self, group: &'h Group) -> impl Iterator<Item = &'h Interval> {
        self.said
            .iter()
            .filter(|it| it.severity != Severity::Healthy && is_about(group, &it.subject))
    }
}

fn stands(alarm: &Interval, tick: u64) -> bool {
    alarm.from <= tick && alarm.to.is_none_or(|to| tick < to)
}

/// Whether a statement is about a subject, or a part of it.
fn is_about(group: &Group, subject: &Subject) -> bool {
    let Some(whom) = &group.whom else { return true };
    let is_named = |name: &str| group.names.iter().any(|of| of == name);
    match (whom, subject) {
        (Whom::Port(_, of), Subject::Port { device, port }) => {
            is_named(device) && *port == of.to_string()
        }
        (Whom::Device(_), Subject::Device(name)) => is_named(name),
        (Whom::Device(_), Subject::Port { device, .. }) => group.has_ports && is_named(device),
        (Whom::Card(_), Subject::Card(name)) => is_named(name),
        _ => false,
    }
}

fn line(it: &Interval) -> String {
    let to = it
        .to
        .map_or("the end".to_owned(), |to| format!("poll {to}"));
    format!(
        "from poll {} to {to}: {} {}",
        it.from, it.severity, it.subject
    )
}
