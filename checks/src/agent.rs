//! The agent: started from texts, polled, told what became of what it said.

mod delivery;
mod todo;

pub use todo::{IoKind, Outcome, Refusal, SaveStep, Start, Todo};

use std::time::Duration;

use crate::hands::{Clocks, Hands, ReadError};
use crate::note::Note;

/// What one poll read; judged by [`Agent::take`].
#[derive(Debug, Clone)]
pub struct Polled {
    clocks: Clocks,
}

/// The monitor without its hands.
#[derive(Debug)]
pub struct Agent {
    delivery: delivery::Delivery<()>,
    interval: Duration,
}

impl Agent {
    /// Starts from texts, or refuses.
    ///
    /// # Errors
    /// A [`Refusal`]: configuration or metadata that cannot be.
    pub fn start(start: Start<'_>) -> Result<(Agent, Vec<Note>), Refusal> {
        let settings = start.settings;
        Ok((
            Agent {
                delivery: delivery::Delivery::new(settings.publish, &settings.node_name),
                interval: settings.state_polling_interval,
            },
            Vec::new(),
        ))
    }

    /// The pause between two polls.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Looks; changes nothing.
    #[must_use]
    pub fn poll(&self, hands: &dyn Hands) -> Polled {
        Polled {
            clocks: hands.clocks().unwrap_or_default(),
        }
    }

    /// Judges what a poll read: readings are kept, batches queued.
    pub fn take(&mut self, _polled: Polled) {
        self.delivery.begin(Vec::new());
    }

    /// What must be done now.
    pub fn next(&mut self) -> Todo {
        if let Some(todo) = self.delivery.next_note_or_save() {
            return todo;
        }
        self.delivery.next_attempt().unwrap_or(Todo::Done)
    }

    /// Answers [`Todo::Publish`].
    pub fn published(&mut self, outcome: &Outcome) {
        self.delivery.published(outcome);
    }

    /// Answers [`Todo::Save`].
    pub fn saved(&mut self, result: Result<(), ReadError>) {
        self.delivery.saved(result);
    }

    /// Ends in good order: drops what is queued, and leaves at most a save to be done.
    pub fn stop(&mut self) {
        self.delivery.begin(Vec::new());
    }

    /// How every device is classified and why, signal by signal.
    #[must_use]
    pub fn explain(&self, _hands: &dyn Hands) -> String {
        String::new()
    }
}
