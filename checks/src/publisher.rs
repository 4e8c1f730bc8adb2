//! The interface through which events leave the monitor, and the parts in which a wrong monitor
//! differs.

use std::fmt;
use std::rc::Rc;

use proto::HealthEvents;

use crate::policy::{Policy, Right};
use crate::todo::Outcome;

/// Sends batches of events to the platform connector.
pub trait Publisher {
    /// Calls the connector once and returns the outcome; `None` if the monitor stops before the
    /// call ends.
    fn publish(&mut self, batch: HealthEvents) -> Option<Outcome>;
}

/// Wraps the publisher that reaches the connector.
pub type Wrap = for<'a> fn(Box<dyn Publisher + 'a>) -> Box<dyn Publisher + 'a>;

/// A monitor: its policy, and what alters its events.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Creates the policy when the monitor starts.
    pub policy: fn() -> Rc<dyn Policy>,
    /// Wraps the publisher to the connector.
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
