//! Silence made false: something is said in its window.

use std::sync::Arc;

use observe::{Call, Observation, Recording, Subject};
use platforms::NodeName;
use scenarios::{About, What};
use terms::Severity;

use super::change::{AlteredSubject, Change};

pub(super) fn nothing(
    subject: &AlteredSubject<'_>,
    about: &[About],
    attempts: bool,
) -> Vec<(&'static str, Change)> {
    let said = |accepted, about: Option<&About>| {
        heard(subject, about, accepted).map_or(
            Change::Equivalent("its subject has no name in its time"),
            |recording| Change::Recording(Box::new(recording)),
        )
    };
    let abouts: Vec<Option<&About>> = if about.is_empty() {
        vec![None]
    } else {
        about.iter().map(Some).collect()
    };
    let mut changes = Vec::new();
    for about in abouts {
        changes.push(("something is said", said(true, about)));
        if attempts {
            changes.push(("something is tried", said(false, about)));
        }
    }
    changes
}

/// The recording with an event about this subject in the first tick of the window.
fn heard(subject: &AlteredSubject<'_>, about: Option<&About>, accepted: bool) -> Option<Recording> {
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
    let counter = match &expectation.what {
        What::Nothing { counter, .. } => counter.clone(),
        _ => None,
    };
    let at = recording.ticks.get_mut(usize::try_from(tick).ok()?)?;
    let event = Observation {
        codes: counter.into_iter().collect(),
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
