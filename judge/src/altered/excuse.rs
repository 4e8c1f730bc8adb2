//! Why a drill stays green although a line about events was altered: what is demanded stayed the same, or something
//! else allows the event that the line demanded.

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
    let context = subject.context;
    let recording = subject.recording;
    let altered = JudgeContext {
        story: altered,
        ..context
    };
    let (before, _) = demands(context.story, &context, recording);
    let (after, _) = demands(altered.story, &altered, recording);
    let (was, is) = (demanded(&before), demanded(&after));
    let (lost, gained) = (without(&was, &is), without(&is, &was));
    if lost.is_empty() && gained.is_empty() {
        return Some("it differs only in events that may be missing, or in none");
    }
    if !gained.is_empty() {
        return None;
    }
    let allowed = allowed(after, &altered, recording);
    let is_allowed = |event: &One| allowed.iter().any(|allowed| allowed.allows(event));
    if lost.iter().all(is_allowed) {
        return Some("the event is allowed without the line, by another line or by the documents");
    }
    let heals = |event: &One| {
        let from = recording.healing_from;
        event.pattern.tone == Severity::Healthy && from.is_some_and(|from| event.window.to >= from)
    };
    let is_healed = lost.iter().all(|event| heals(event) || is_allowed(event));
    is_healed.then_some("while the world heals, a fault may be cleared unasked")
}

/// An event that is demanded, or allowed.
#[derive(Clone, Debug, PartialEq)]
struct One {
    node: NodeName,
    window: Window,
    pattern: EventPattern,
}

impl One {
    fn of(demand: &Demand<'_>) -> Self {
        Self {
            node: demand.node.clone(),
            window: demand.window,
            pattern: demand.pattern.clone().into_owned(),
        }
    }

    /// Whether an event about the same subject is allowed at a time at which this one is demanded.
    fn allows(&self, event: &Self) -> bool {
        self.node == event.node
            && self.pattern.tone == event.pattern.tone
            && self.pattern.about == event.pattern.about
            && self.pattern.counter == event.pattern.counter
            && self.window.from <= event.window.to
            && event.window.from <= self.window.to
    }
}

/// How many events a demand takes at least.
fn least(demand: &Demand<'_>) -> usize {
    demand.bounds.at_least.max(demand.attempts)
}

/// What the lines of a story demand, each as often.
fn demanded(all: &[Demand<'_>]) -> Vec<One> {
    let each = all.iter().flat_map(|of| vec![One::of(of); least(of)]);
    each.collect()
}

/// What the lines of a story allow, and what is owed without a line.
fn allowed(all: Vec<Demand<'_>>, context: &JudgeContext<'_>, recording: &Recording) -> Vec<One> {
    let optional = all.iter().filter(|of| least(of) < of.bounds.at_most);
    let mut allowed: Vec<One> = optional.map(One::of).collect();
    let owed = Owed::of(all, context, recording);
    let unasked = owed.demands.iter().filter(|of| of.expectation.is_none());
    allowed.extend(unasked.map(One::of));
    allowed
}

/// What is demanded in one of these and not in the other, each as often.
fn without(one: &[One], other: &[One]) -> Vec<One> {
    let (mut lost, mut there) = (one.to_vec(), other.to_vec());
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
