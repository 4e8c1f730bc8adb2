//! Why a drill stays green although a line about events was altered: what is demanded stayed the same, or something
//! else allows the event that the line demanded.

use director::Truth;
use observe::Recording;
use platforms::NodeName;
use scenarios::{EventPattern, Story, What, Window};
use terms::Severity;

use super::change::AlteredSubject;
use crate::{
    demands::{Demand, demands},
    fits::JudgeContext,
    owed::Owed,
};

/// The reason, if there is one, why the altered story holds whenever the story does.
pub(super) fn of(subject: &AlteredSubject<'_>, altered: &Story) -> Option<&'static str> {
    let of_events = matches!(
        subject.expectation.what,
        What::Say { .. } | What::FollowEdges { .. } | What::Baseline { .. }
    );
    if !of_events {
        return None;
    }
    let (story, truth) = (subject.context.story, subject.context.truth);
    let before = Demanded::of(story, truth, subject);
    let after = Demanded::of(altered, truth, subject);
    let (lost, gained) = (before.without(&after), after.without(&before));
    if lost.is_empty() && gained.is_empty() {
        return Some("it differs only in events that may be missing, or in none");
    }
    if !gained.is_empty() {
        return None;
    }
    if lost.iter().all(|event| after.allows(event)) {
        return Some("the event is allowed without the line, by another line or by the documents");
    }
    let recording = subject.recording;
    let heals = |event: &One| {
        let from = recording.healing_from;
        event.pattern.tone == Severity::Healthy && from.is_some_and(|from| event.window.to >= from)
    };
    let is_healed = lost.iter().all(|event| heals(event) || after.allows(event));
    is_healed.then_some("while the world heals, a fault may be cleared unasked")
}

/// An event that is demanded, or allowed.
#[derive(Clone, Debug, PartialEq)]
struct One {
    node: NodeName,
    window: Window,
    pattern: EventPattern,
}

/// The events of a story.
struct Demanded {
    /// What its lines demand.
    demanded: Vec<One>,
    /// What its lines allow, and what is owed without a line.
    allowed: Vec<One>,
}

impl Demanded {
    fn of(story: &Story, truth: &Truth, subject: &AlteredSubject<'_>) -> Self {
        let context = JudgeContext {
            story,
            truth,
            descriptor: subject.context.descriptor,
        };
        let recording: &Recording = subject.recording;
        let (all, _) = demands(story, &context, recording);
        let one = |demand: &Demand<'_>| One {
            node: demand.node.clone(),
            window: demand.window,
            pattern: demand.pattern.clone().into_owned(),
        };
        let least = |demand: &Demand<'_>| demand.bounds.at_least.max(demand.attempts);
        let demanded = all.iter().flat_map(|of| vec![one(of); least(of)]);
        let demanded = demanded.collect();
        let optional = all.iter().filter(|of| least(of) < of.bounds.at_most);
        let mut allowed: Vec<One> = optional.map(one).collect();
        let owed = Owed::of(all, &context, recording);
        let unasked = owed.demands.iter().filter(|of| of.expectation.is_none());
        allowed.extend(unasked.map(one));
        Self { demanded, allowed }
    }

    /// What is demanded here and not there, each as often.
    fn without(&self, other: &Self) -> Vec<One> {
        let mut there = other.demanded.clone();
        let mut lost = self.demanded.clone();
        lost.retain(
            |event| match there.iter().position(|other| other == event) {
                Some(at) => {
                    there.swap_remove(at);
                    false
                }
                None => true,
            },
        );
        lost
    }

    /// Whether an event about the same subject is allowed at a time at which this one is demanded.
    fn allows(&self, event: &One) -> bool {
        self.allowed.iter().any(|allowed| {
            allowed.node == event.node
                && allowed.pattern.tone == event.pattern.tone
                && allowed.pattern.about == event.pattern.about
                && allowed.pattern.counter == event.pattern.counter
                && allowed.window.from <= event.window.to
                && event.window.from <= allowed.window.to
        })
    }
}
