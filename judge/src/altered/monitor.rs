//! Expectations about a monitor's exits, log, state file, reads and answers made false.

use std::{collections::BTreeMap, sync::Arc};

use observe::{MonitorTick, Recording};
use scenarios::{FileRef, MetricIs, StateFileIs, Times, What};
use terms::Check;

use super::change::{AlteredSubject, Change};
use crate::facts::count_reads;

/// A text that no log line has and no JSON member equals.
const OTHER: &str = "\"\\u0001\"";

/// A line that has nothing to do with anything: a text of a few letters that it has asserts nothing.
const UNRELATED: &str = "another note: now and then the quick brown fox jumps over the lazy dog, no more than 10 times of 100, \
                         and in one way or the other";

pub(super) fn changes(subject: &AlteredSubject<'_>) -> Vec<(&'static str, Change)> {
    match &subject.expectation.what {
        What::Exit { code } => {
            vec![("another code", subject.line(What::Exit { code: code + 1 }))]
        }
        What::Log { contains } => vec![
            (
                "another text",
                subject.line(What::Log {
                    contains: format!("{contains}{OTHER}"),
                }),
            ),
            ("a line about something else", logged_instead(subject)),
        ],
        What::NoLog { contains } => vec![("it is logged", logged(subject, contains))],
        What::Polls(count) => vec![("another count", subject.line(What::Polls(count + 1)))],
        What::Calls { count } => vec![(
            "another count",
            subject.line(What::Calls { count: count + 1 }),
        )],
        What::StateFile(is) => vec![state_file(subject, is)],
        What::Reads { file, times } => vec![(
            "another count",
            match other_times(*times) {
                // A bound on what never happens; `at most 0` says that it must not.
                Some(_) if times.at_least == 0 && times.at_most > 0 && is_unread(subject, file) => {
                    Change::Equivalent("nobody reads this file, and some reads are allowed")
                }
                Some(times) => subject.line(What::Reads {
                    file: file.clone(),
                    times,
                }),
                None => Change::Equivalent("it allows any number"),
            },
        )],
        What::Metric { name, labels, is } => vec![metric(subject, name, labels, *is)],
        What::Healthz { status } => vec![(
            "another status",
            subject.line(What::Healthz { status: status + 1 }),
        )],
        What::StuckInKernel => vec![("dropped", Change::Less(None))],
        _ => Vec::new(),
    }
}

/// Whether no monitor reads the file in the whole drill.
fn is_unread(subject: &AlteredSubject<'_>, file: &FileRef) -> bool {
    let context = &subject.context;
    context.story.monitors.iter().all(|node| {
        let ticks = (0..).zip(&subject.recording.ticks);
        let own = ticks.filter_map(|(at, tick)| Some((at, &**tick.monitors.get(node.as_str())?)));
        count_reads(file, context, node, own) == 0
    })
}

/// A count that these bounds exclude.
fn other_times(times: Times) -> Option<Times> {
    let exactly = |count| Times {
        at_least: count,
        at_most: count,
    };
    let more = times.at_most.checked_add(1);
    more.or_else(|| times.at_least.checked_sub(1)).map(exactly)
}

/// The recording in which this line alone is logged in the window.
fn logged_instead(subject: &AlteredSubject<'_>) -> Change {
    let window = subject.expectation.window;
    let of = subject.expectation.node.as_ref();
    let mut recording: Recording = subject.recording.clone();
    for (at, tick) in (0..).zip(&mut recording.ticks) {
        if !(window.from..=window.to).contains(&at) {
            continue;
        }
        for (name, monitor) in Arc::make_mut(&mut tick.monitors) {
            if of.is_none_or(|of| of.as_str() == &**name) {
                Arc::make_mut(monitor).log = vec![UNRELATED.to_owned()];
            }
        }
    }
    Change::Recording(Box::new(recording))
}

fn logged(subject: &AlteredSubject<'_>, contains: &str) -> Change {
    let line = contains.replace('…', " ");
    in_window(subject, subject.expectation.window.from, |monitor| {
        monitor.log.push(line.clone());
    })
}

fn state_file(subject: &AlteredSubject<'_>, is: &StateFileIs) -> (&'static str, Change) {
    let window = subject.expectation.window;
    let end = window.to.min(subject.last());
    match is {
        StateFileIs::Unchanged if window.from >= end => (
            "another file",
            Change::Equivalent("its time is after the end of the drill"),
        ),
        StateFileIs::Unchanged => (
            "another file",
            in_window(subject, end, |monitor| {
                monitor.state_file = Some((*b"\x01").into())
            }),
        ),
        StateFileIs::Absent => (
            "a file",
            in_window(subject, end, |monitor| {
                monitor.state_file = Some((*b"{}").into())
            }),
        ),
        StateFileIs::Valid => (
            "an invalid file",
            in_window(subject, end, |monitor| {
                monitor.state_file = Some((*b"\x01").into())
            }),
        ),
        StateFileIs::Holds { member, .. } => (
            "another value",
            subject.line(What::StateFile(StateFileIs::Holds {
                member: member.clone(),
                equals: OTHER.to_owned(),
            })),
        ),
    }
}

fn metric(
    subject: &AlteredSubject<'_>,
    name: &str,
    labels: &BTreeMap<String, String>,
    is: MetricIs,
) -> (&'static str, Change) {
    let check = labels.get("check");
    if is == MetricIs::Absent && check.is_some_and(|check| Check::parse(check).is_none()) {
        let why = "no check has the name that its label states";
        return ("another value", Change::Equivalent(why));
    }
    let other = match is {
        MetricIs::Absent => MetricIs::Within {
            least: 0,
            most: u64::MAX,
        },
        MetricIs::Within {
            least: 0,
            most: u64::MAX,
        } => MetricIs::Absent,
        MetricIs::Within {
            least,
            most: u64::MAX,
        } => MetricIs::Within {
            least: 0,
            most: least - 1,
        },
        MetricIs::Within { most, .. } => MetricIs::Within {
            least: most + 1,
            most: u64::MAX,
        },
    };
    let what = What::Metric {
        name: name.to_owned(),
        labels: labels.clone(),
        is: other,
    };
    ("another value", subject.line(what))
}

/// The recording with this done to the monitors that the line is about, in a tick.
fn in_window(subject: &AlteredSubject<'_>, tick: u64, done: impl Fn(&mut MonitorTick)) -> Change {
    let mut recording: Recording = subject.recording.clone();
    let at = usize::try_from(tick).ok();
    let Some(at) = at.and_then(|at| recording.ticks.get_mut(at)) else {
        return Change::Equivalent("its time is after the end of the drill");
    };
    let of = subject.expectation.node.as_ref();
    for (name, monitor) in Arc::make_mut(&mut at.monitors) {
        if of.is_none_or(|of| of.as_str() == &**name) {
            done(Arc::make_mut(monitor));
        }
    }
    Change::Recording(Box::new(recording))
}
