//! A text is in the monitor's log, or is not.

use std::sync::Arc;

use observe::Recording;
use reports::{CauseKind, FindingKind};
use scenarios::What;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject, Change, in_window},
    fits::like,
    reasons,
};

/// A text that no log line has.
const OTHER: &str = "\"\\u0001\"";

/// A line that has nothing to do with anything: a text of a few letters that it has asserts nothing.
const UNRELATED: &str = "another note: now and then the quick brown fox jumps over the lazy dog, no more than 10 times of 100, \
                         and in one way or the other";

/// It is, where `…` matches any text.
pub(super) struct Logged<'w>(pub(super) &'w str);

/// It is not.
pub(super) struct NotLogged<'w>(pub(super) &'w str);

impl Fact for Logged<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("log line", CauseKind::Log)
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        not_promised(self.0, scene)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let found = lines(scene).any(|line| holds(self.0, line));
        check(
            found,
            || format!("a log line with \"{}\"", self.0),
            || tail(lines(scene)),
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let contains = format!("{}{OTHER}", self.0);
        vec![
            ("another text", subject.line(What::Log { contains })),
            ("a line about something else", logged_instead(subject)),
        ]
    }
}

impl Fact for NotLogged<'_> {
    fn kind(&self) -> FactKind {
        FactKind {
            finding: FindingKind::Unexpected,
            ..FactKind::of("no log line", CauseKind::Log)
        }
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        not_promised(self.0, scene)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let found = lines(scene).filter(|line| holds(self.0, line));
        let found: Vec<String> = found.map(str::to_owned).collect();
        check(
            found.is_empty(),
            || format!("no log line with \"{}\"", self.0),
            || found,
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let line = self.0.replace('…', " ");
        let from = subject.expectation.window.from;
        let logged = in_window(subject, from, |monitor| monitor.log.push(line.clone()));
        vec![("it is logged", logged)]
    }
}

/// The reason where a monitor does not promise lines with this text.
fn not_promised(contains: &str, scene: &Scene<'_>) -> Option<&'static str> {
    let logs = &scene.context.descriptor.texts.logs;
    (!logs.has(contains)).then_some(reasons::LOG_LINES)
}

fn lines<'s>(scene: &Scene<'s>) -> impl Iterator<Item = &'s str> {
    let all = scene.instances();
    all.flat_map(|(_, instance)| instance.log.iter().map(String::as_str))
}

/// Whether a line contains a text, in which `…` matches anything.
fn holds(contains: &str, line: &str) -> bool {
    like(&format!("…{contains}…"), line)
}

/// The last few lines.
fn tail<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    const LAST: usize = 8;
    let lines: Vec<&str> = lines.collect();
    lines[lines.len().saturating_sub(LAST)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
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
