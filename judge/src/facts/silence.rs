//! Nothing is stated. Accepted events are checked elsewhere, because each must be claimed; this checks refused calls.

use std::sync::Arc;

use observe::{Call, Observation, Recording, Subject};
use platforms::NodeName;
use reports::{CauseKind, FindingKind};
use scenarios::About;
use terms::Severity;

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject, Change},
    fits::JudgeContext,
    reported_event::ReportedEvent,
};

/// Nothing that no other line claims.
pub(crate) struct Silence<'w> {
    /// About these subjects; about any if there is none.
    pub(super) about: &'w [About],
    /// Of this counter.
    pub(super) counter: Option<&'w str>,
    /// Not even an attempt.
    pub(super) attempts: bool,
}

impl Fact for Silence<'_> {
    fn kind(&self) -> FactKind {
        FactKind {
            finding: FindingKind::Unexpected,
            ..FactKind::of("silence", CauseKind::Silence)
        }
    }

    fn about(&self) -> Option<About> {
        self.about.first().cloned()
    }

    fn lane(&self) -> FactLane<'_> {
        match self.about {
            [one] => FactLane::About(one),
            _ => FactLane::Monitor,
        }
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let window = scene.expectation.window;
        let heard: Vec<String> = scene
            .reported
            .iter()
            .filter(|(reported, claimed)| {
                !claimed
                    && reported.node == scene.node
                    && (window.from..=window.to).contains(&reported.tick)
                    && (self.attempts && !reported.accepted)
                    && self.is_silenced(&scene.context, reported)
            })
            .map(|(reported, _)| reported.line())
            .collect();
        check(
            heard.is_empty(),
            || "nothing, not even an attempt".to_owned(),
            || heard,
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let said = |accepted, about: Option<&About>| {
            heard(subject, (about, self.counter), accepted).map_or(
                Change::Equivalent("its subject has no name in its time"),
                |recording| Change::Recording(Box::new(recording)),
            )
        };
        let abouts: Vec<Option<&About>> = match self.about {
            [] => vec![None],
            about => about.iter().map(Some).collect(),
        };
        let mut changes = Vec::new();
        for about in abouts {
            changes.push(("something is said", said(true, about)));
            if self.attempts {
                changes.push(("something is tried", said(false, about)));
            }
        }
        changes
    }
}

impl Silence<'_> {
    /// Whether an event is one of those that silence is wanted about, whenever it comes.
    pub(crate) fn is_silenced(
        &self,
        context: &JudgeContext<'_>,
        reported: &ReportedEvent<'_>,
    ) -> bool {
        let (node, tick, event) = (reported.node, reported.tick, reported.event);
        let is_meant = |about: &About| context.names_subject(about, node, tick, event);
        let of_counter = |counter: &str| event.codes == [counter];
        (self.about.is_empty() || self.about.iter().any(is_meant))
            && self.counter.is_none_or(of_counter)
    }
}

/// The recording with an event about this subject in the first tick of the window.
fn heard(
    subject: &AlteredSubject<'_>,
    (about, counter): (Option<&About>, Option<&str>),
    accepted: bool,
) -> Option<Recording> {
    let expectation = subject.expectation;
    let tick = expectation.window.from;
    let mut recording = subject.recording.clone();
    let story = subject.context.story;
    let of_subject = match about {
        Some(About::Port(slot)) => Some(&slot.node),
        Some(About::Device(node, _) | About::Card(node, _)) => Some(node),
        _ => None,
    };
    let node: &NodeName = of_subject
        .or(expectation.node.as_ref())
        .or(story.monitors.first())?;
    let (nic, port) = match about {
        Some(about) => subject.context.entities(about, node, tick),
        None => (None, None),
    };
    let named = match (nic, port) {
        (Some(device), Some(port)) => Subject::Port { device, port },
        (Some(device), None) => Subject::Device(device),
        (None, _) => Subject::Node,
    };
    let at = recording.ticks.get_mut(usize::try_from(tick).ok()?)?;
    let event = Observation {
        codes: counter.map(str::to_owned).into_iter().collect(),
        node: Some(node.to_string()),
        stamped_ns: Some(recording.start_wall_ns + at.at_ns),
        check: story.checks.names().first().map(ToString::to_string),
        subject: named,
        severity: Severity::Fatal,
        ..Observation::default()
    };
    let monitors = Arc::make_mut(&mut at.monitors);
    let monitor = monitors.get_mut(node.as_str())?;
    Arc::make_mut(monitor).calls.push(Call {
        observations: vec![event],
        fields: Vec::new(),
        accepted,
        answer: if accepted { "accepted" } else { "UNAVAILABLE" }.to_owned(),
    });
    Some(recording)
}
