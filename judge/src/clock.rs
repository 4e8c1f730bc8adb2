//! The time in which a monitor can report: the ticks in which it polls and its reports are accepted.

use observe::Recording;
use platforms::NodeName;
use scenarios::{ConnectorBehaviour, ConnectorLasting, StepAction};

use crate::{demands::polled, fits::JudgeContext};

/// The polls of a monitor, and when nothing that it says is accepted.
pub(crate) struct Clock {
    polls: Vec<u64>,
    deaf: Vec<(u64, u64)>,
}

impl Clock {
    /// The clock of the monitor of a node.
    pub(crate) fn of(context: &JudgeContext<'_>, recording: &Recording, node: &NodeName) -> Self {
        Self {
            polls: polled(recording, node).collect(),
            deaf: deaf(context, node, recording.healing_from),
        }
    }

    /// The tick of so many polls after a tick, of those in which its reports can be delivered; the largest number
    /// if the drill ends before.
    pub(crate) fn after(&self, tick: u64, polls: u64) -> u64 {
        if tick == u64::MAX {
            return tick;
        }
        let is_heard = |at: &u64| !self.deaf.iter().any(|(from, to)| (*from..*to).contains(at));
        let mut later = self
            .polls
            .iter()
            .copied()
            .filter(|at| *at >= tick && is_heard(at));
        let polls = usize::try_from(polls).unwrap_or(usize::MAX);
        later.nth(polls).unwrap_or(u64::MAX)
    }
}

/// When the connector of a node accepts nothing: first tick, and the one after the last.
fn deaf(context: &JudgeContext<'_>, node: &NodeName, healing_from: Option<u64>) -> Vec<(u64, u64)> {
    let story = context.story;
    let end = healing_from.unwrap_or(u64::MAX);
    let mut deaf: Vec<(u64, u64)> = Vec::new();
    for step in story.given.iter().chain(&story.steps) {
        let from = story.ticks.first_from(step.at);
        for action in &step.actions {
            let StepAction::Connector(of, action) = action else {
                continue;
            };
            if of != node {
                continue;
            }
            if let Some(last) = deaf.last_mut() {
                last.1 = last.1.min(from);
            }
            let accepts = matches!(
                action.behaviour,
                ConnectorBehaviour::Accept
                    | ConnectorBehaviour::Slow(_)
                    | ConnectorBehaviour::LoseReply
            );
            let to = match action.lasting {
                ConnectorLasting::For(long) => story.ticks.first_from(step.at + long),
                ConnectorLasting::Calls(calls) => from.saturating_add(u64::from(calls)),
                ConnectorLasting::Always => end,
            };
            if !accepts {
                deaf.push((from, to.min(end)));
            }
        }
    }
    deaf
}
