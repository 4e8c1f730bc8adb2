//! The lines of a story: for which nodes each is judged, and how it is counted.

use observe::ClockKind;
use platforms::NodeName;
use reports::{Finding, StoryLine};
use scenarios::{Expectation, Story, What};

use crate::{
    Judging,
    consequences::Consequences,
    demands,
    facts::{self, Outcome, Scene},
    owed::{self, Instead, Owed},
    reasons,
    reported_event::ReportedEvent,
};

impl<'a> Judging<'a> {
    /// Judges the lines that are not about single events; `reported` says of each event whether a line claims it.
    pub(super) fn facts(
        &mut self,
        reported: &[(ReportedEvent<'_>, bool)],
        made: &Consequences,
        owed: &Owed<'_>,
    ) {
        for expectation in &self.story.expectations {
            let Some(fact) = facts::fact(&expectation.what) else {
                // What is about events is counted by `count_events`.
                continue;
            };
            for node in whom(expectation, self.story) {
                if fact.kind().needs_events && self.has_alarms() {
                    self.judged
                        .leave_out_line(line_of(expectation), self.too_fine());
                    continue;
                }
                let moved = match owed.instead(expectation, node) {
                    None => None,
                    Some(Instead::Moved(later, about)) => Some(owed::moved(
                        expectation,
                        (later, about),
                        self.story.ticks.interval(),
                    )),
                    Some(Instead::NotOwed) => {
                        self.judged.judge();
                        continue;
                    }
                    Some(Instead::NotJudged(reason)) => {
                        self.judged.leave_out_line(line_of(expectation), reason);
                        continue;
                    }
                };
                let scene = Scene {
                    expectation: moved.as_ref().unwrap_or(expectation),
                    node,
                    context: self.context,
                    recording: self.recording,
                    reported,
                    made,
                };
                match facts::standing(&scene) {
                    None => {}
                    Some(Outcome::Holds) => self.judged.judge(),
                    Some(Outcome::NotJudged(reason)) => {
                        self.judged.leave_out_line(line_of(expectation), reason);
                    }
                    Some(Outcome::Fails { expected, came, at }) => {
                        self.judged.judge();
                        let tick = at.unwrap_or(expectation.window.from);
                        let cause = self.context.cause_of_fact(node, tick, &*fact);
                        let mut finding =
                            self.finding(fact.kind().finding, cause, Some(node), Some(tick));
                        place(&mut finding, expectation);
                        finding.expected.push(expected);
                        finding.came = came;
                        self.findings.push(finding);
                    }
                }
            }
        }
    }

    /// Counts expectations about events, and the parts of them that do not apply to this monitor.
    pub(super) fn count_events(&mut self, owed: &Owed<'_>) {
        let descriptor = self.context.descriptor;
        let about_events = |expectation: &&Expectation| is_about_events(&expectation.what);
        for expectation in self.story.expectations.iter().filter(about_events) {
            for node in nodes(expectation, self.story) {
                if let Some(reason) = owed.not_judged(expectation, node) {
                    self.judged.leave_out_line(line_of(expectation), reason);
                    continue;
                }
                self.judged.judge();
                let What::Say { event, .. } = &expectation.what else {
                    continue;
                };
                let stamped = event.stamped_from.is_some() || event.stamped_to.is_some();
                if stamped && descriptor.clock == ClockKind::Own {
                    self.judged.leave_out_part(reasons::TIMESTAMPS);
                }
                let mut messages = event.message.values();
                if messages.any(|text| !descriptor.texts.events.has(text)) {
                    self.judged.leave_out_part(reasons::MESSAGES);
                }
            }
        }
    }

    /// Counts every expectation as not judged, for one reason.
    pub(super) fn leave_out_all(&mut self, reason: &str) {
        for expectation in &self.story.expectations {
            for _ in nodes(expectation, self.story) {
                self.judged.leave_out_line(line_of(expectation), reason);
            }
        }
    }
}

/// Sets the line of the story that a failure is about, if there is one.
pub(super) fn place<'e>(finding: &mut Finding, expectation: impl Into<Option<&'e Expectation>>) {
    finding.line = expectation.into().map(line_of);
}

/// The line of the story that has an expectation.
pub(super) fn line_of(expectation: &Expectation) -> StoryLine {
    StoryLine {
        place: expectation.place.to_string(),
        text: expectation.text.clone(),
    }
}

/// Whether an expectation is met by events, which demands are made of.
pub(super) fn is_about_events(what: &What) -> bool {
    matches!(
        what,
        What::Say { .. } | What::FollowEdges { .. } | What::Baseline { .. }
    )
}

/// The nodes that an expectation is meant for; it is judged, or not, once for each.
pub(super) fn nodes<'s>(
    expectation: &'s Expectation,
    story: &'s Story,
) -> impl Iterator<Item = &'s NodeName> {
    let nodes = if is_about_events(&expectation.what) {
        story.monitors.iter().collect()
    } else {
        whom(expectation, story)
    };
    let meant = move |node: &&NodeName| demands::is_meant(expectation, node);
    nodes.into_iter().filter(meant)
}

/// The nodes for which an expectation that is not about one event is checked: for expectations about
/// the world the named node or any one, for those about a monitor every monitored node.
pub(super) fn whom<'s>(expectation: &'s Expectation, story: &'s Story) -> Vec<&'s NodeName> {
    let first = if expectation.what.is_of_the_world() {
        story.nodes.first().map(|(name, _)| name)
    } else if expectation.what.is_of_the_rules() {
        // There is one analyzer for all nodes.
        story.monitors.first()
    } else {
        return story.monitors.iter().collect();
    };
    expectation.node.as_ref().or(first).into_iter().collect()
}
