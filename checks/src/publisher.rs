//! The way of events out of the monitor, and what a whole monitor is run with.

use std::fmt;
use std::rc::Rc;

use proto::HealthEvents;

use crate::agent::Outcome;
use crate::policy::{Policy, Right};

/// Sends batches of events to the platform connector.
pub trait Publisher {
    /// Calls the connector once and returns how that went; `None` if the monitor ends before the
    /// call does.
    fn publish(&mut self, batch: HealthEvents) -> Option<Outcome>;
}

/// Puts something between the agent and the publisher that reaches the connector.
pub type Wrap = for<'a> fn(Box<dyn Publisher + 'a>) -> Box<dyn Publisher + 'a>;

/// What a monitor is run with.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Makes the policy of a monitor that starts.
    pub policy: fn() -> Rc<dyn Policy>,
    /// What its events pass on their way to the connector.
    pub publisher: Wrap,
}

impl Variant {
    /// The reference monitor.
    pub const RIGHT: Variant = Variant {
        policy: || Rc::new(Right),
        publisher: |publisher| publisher,
    };
}

impl Default for Variant {
    fn default() -> Variant {
        Variant::RIGHT
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Variant").field(&(self.policy)()).finish()
    }
}
