//! What was said, one event after the other, with when and how.

use platforms::NodeName;
use proto::HealthEvent;

use crate::recording::Recording;

/// One event that reached the connector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    /// The node whose monitor said it.
    pub(crate) node: &'a NodeName,
    /// The tick in which it was received.
    pub(crate) tick: u64,
    /// The call within the tick, from 0.
    pub(crate) call: usize,
    /// The event within the call, from 0.
    pub(crate) place: usize,
    /// The event.
    pub(crate) event: &'a HealthEvent,
    /// Whether the connector took it.
    pub(crate) accepted: bool,
    /// What the connector answered.
    pub(crate) answer: &'a str,
}

impl Said<'_> {
    /// When it was said, for comparing two events of one node.
    pub(crate) fn position(&self) -> (u64, usize, usize) {
        (self.tick, self.call, self.place)
    }

    /// The event in one readable line.
    pub(crate) fn line(&self) -> String {
        let answer = if self.accepted {
            String::new()
        } else {
            format!(" ({})", self.answer)
        };
        format!("poll {}: {}{answer}", self.tick, event_line(self.event))
    }
}

/// Everything that was said, in order of tick, node, call and place.
pub(crate) fn all_said(recording: &Recording) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    for (tick, chairs) in (0..).zip(&recording.ticks) {
        for (node, chair) in chairs.chairs.iter() {
            for (call, heard) in chair.calls.iter().enumerate() {
                for (place, event) in heard.events.iter().enumerate() {
                    let (accepted, answer) = (heard.accepted, heard.answer.as_str());
                    said.push(Said {
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
    said
}

/// An event in one readable line: tone, entities, check, message, and what else it carries.
#[must_use]
pub fn event_line(event: &HealthEvent) -> String {
    let tone = match (event.is_fatal, event.is_healthy) {
        (true, false) => "fatal",
        (false, false) => "nonfatal",
        (false, true) => "healthy",
        (true, true) => "fatal+healthy",
    };
    let mut line = tone.to_owned();
    for entity in &event.entities_impacted {
        line.push_str(&format!(" {}={}", entity.entity_type, entity.entity_value));
    }
    line.push_str(&format!(" {} \"{}\"", event.check_name, event.message));
    if !event.error_code.is_empty() {
        line.push_str(&format!(" [{}]", event.error_code.join(", ")));
    }
    line
}
