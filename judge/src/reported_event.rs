//! The events of a recording in order, each with its tick and call.

use observe::{Observation, Recording, Subject};
use platforms::NodeName;
use scenarios::Story;
use terms::Severity;

/// An event that reached the connector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedEvent<'a> {
    /// The node of the monitor that emitted it.
    pub(crate) node: &'a NodeName,
    /// The tick in which it was received.
    pub(crate) tick: u64,
    /// Index of the call within the tick, from 0.
    pub(crate) call: usize,
    /// Index of the event within the call, from 0.
    pub(crate) place: usize,
    pub(crate) event: &'a Observation,
    /// Whether the connector accepted it.
    pub(crate) accepted: bool,
    /// The connector's answer.
    pub(crate) answer: &'a str,
}

/// What tells an event from every other one of its run: its node, and its position there.
pub(crate) type EventKey<'a> = (&'a NodeName, (u64, usize, usize));

impl<'a> ReportedEvent<'a> {
    /// Which event of the run it is.
    pub(crate) fn key(&self) -> EventKey<'a> {
        (self.node, self.position())
    }

    /// Position for comparing two events of one node.
    pub(crate) fn position(&self) -> (u64, usize, usize) {
        (self.tick, self.call, self.place)
    }

    /// The event as one line of text.
    pub(crate) fn line(&self) -> String {
        let answer = if self.accepted {
            String::new()
        } else {
            format!(" ({})", self.answer)
        };
        format!("poll {}: {}{answer}", self.tick, self.event)
    }
}

/// A subject of events in a sentence.
pub(crate) fn called(subject: &Subject) -> String {
    match subject {
        Subject::Node => "the node".to_owned(),
        subject => subject.to_string(),
    }
}

/// All events, ordered by tick, node, call and index. A line that says that nothing is known is none; in a call to a
/// connector a severity that contradicts itself is one.
pub(crate) fn all_reported<'a>(
    story: &'a Story,
    recording: &'a Recording,
) -> Vec<ReportedEvent<'a>> {
    let nodes = story.monitors_by_name();
    let mut reported = Vec::new();
    for (tick, instances) in (0..).zip(&recording.ticks) {
        for (name, instance) in instances.monitors.iter() {
            let Some(&node) = nodes.get(&**name) else {
                continue;
            };
            for (call, heard) in instance.calls.iter().enumerate() {
                for (place, event) in heard.observations.iter().enumerate() {
                    let is_known = event.severity != Severity::Unknown;
                    if !is_known && !recording.protocol.has_connector() {
                        continue;
                    }
                    let (accepted, answer) = (heard.accepted, heard.answer.as_str());
                    reported.push(ReportedEvent {
                        node,
                        tick,
                        call,
                        place,
                        event,
                        accepted,
                        answer,
                    });
                }
            }
        }
    }
    reported
}
