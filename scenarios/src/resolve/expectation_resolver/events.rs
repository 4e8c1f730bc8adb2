//! Resolves expected events and their messages.

use std::collections::BTreeMap;

use super::{Around, ExpectationResolver};
use crate::error::Unfit;
use crate::expect::{EventSpec, ExpectLine};
use crate::message::{self, Part};
use crate::resolved_world::Subject;
use crate::story::{EventPattern, Times, What};

impl ExpectationResolver<'_> {
    pub(super) fn event(
        &mut self,
        line: &ExpectLine,
        event: &EventSpec,
        around: &Around<'_>,
    ) -> Result<(), Unfit> {
        let subjects = self.subjects(&event.of, around)?;
        self.tallied(&subjects, event.tally)?;
        let default = Times {
            at_least: 1,
            at_most: if around.reported { u32::MAX } else { 1 },
        };
        for subject in subjects {
            let what = What::Say {
                event: self.pattern(event, &subject, around.it)?,
                times: event.times.unwrap_or(default),
                reported: around.reported,
                in_order: self.order(around),
            };
            let node = self.resolved.node_of_subject(&subject);
            self.push_of(line, around, what, node)?;
        }
        Ok(())
    }

    /// The event at an edge of a port: about the port, or what is named through `it`.
    pub(super) fn edge(&self, event: &EventSpec, port: usize) -> Result<EventPattern, Unfit> {
        match &self.resolved.find(&event.of, Some(port))[..] {
            [subject] => self.pattern(event, subject, Some(port)),
            _ => Err(self
                .source
                .wrong(event.of.place, "one subject is meant at an edge")
                .hint("write `it`")
                .into()),
        }
    }

    fn pattern(
        &self,
        event: &EventSpec,
        subject: &Subject,
        it: Option<usize>,
    ) -> Result<EventPattern, Unfit> {
        let about = if event.clears {
            self.resolved.about_at_rest(subject)
        } else {
            self.resolved.about(subject)
        };
        self.known_counter(event.counter.as_ref())?;
        let mut message = BTreeMap::new();
        for (layer, (text, _)) in &event.message {
            message.insert(*layer, self.message(text, it));
        }
        Ok(EventPattern {
            tone: event.tone,
            about,
            check: event.check.clone(),
            message,
            stamped_from: event.stamped_from,
            stamped_to: event.stamped_to,
            error_codes: event.codes.clone(),
            counter: event.counter.as_ref().map(|(name, _)| name.clone()),
        })
    }

    /// The message with the placeholders of handles filled in.
    pub(super) fn message(&self, text: &str, it: Option<usize>) -> String {
        let mut filled = String::new();
        for part in message::parts(text) {
            match part {
                Part::Text(text) => filled += text,
                Part::Own(field) => filled += &format!("{{{field}}}"),
                Part::Of("it", field) => {
                    filled += &it
                        .map(|port| self.resolved.ports[port].field_text(field))
                        .unwrap_or_default();
                }
                Part::Of(handle, field) => {
                    filled += &self
                        .resolved
                        .first_of(handle)
                        .map(|port| port.field_text(field))
                        .unwrap_or_default();
                }
            }
        }
        filled
    }
}
