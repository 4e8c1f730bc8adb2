//! What a monitor needs of the real time, because it cannot be told to wait less. Start at [`RealTime`].

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Span;

/// The real time that a monitor needs, whatever the simulated time is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RealTime {
    /// The time between two of its polls, if it cannot be shortened, such as a sleep of one second.
    pub interval: Option<Span>,
    /// The longest time that one poll takes when the connector refuses its calls: all attempts, and the waits
    /// between them.
    pub backoff: Option<Span>,
    /// The same while the connector's socket is missing; default: as `backoff`.
    pub missing_socket: Option<Span>,
    /// The longest time that a drill may wait beside the intervals, for a dial, a back-off or a timeout. A
    /// scenario that may need more by `backoff` does not apply; a drill that waits longer fails.
    pub at_most: Option<Span>,
}

impl RealTime {
    /// How much longer than usual one wait for this monitor may take.
    #[must_use]
    pub fn patience(&self) -> Duration {
        let of = |span: Option<Span>| span.unwrap_or_default().0;
        of(self.interval) + of(self.backoff)
    }

    /// The longest time that one poll takes while the connector's socket is missing.
    #[must_use]
    pub fn backoff_without_socket(&self) -> Option<Span> {
        self.missing_socket.or(self.backoff)
    }

    /// How much longer than usual a whole poll may take while the connector's socket is missing.
    #[must_use]
    pub fn without_socket(&self) -> Duration {
        let of = |span: Option<Span>| span.unwrap_or_default().0;
        of(self.interval) + of(self.backoff_without_socket())
    }

    /// The time between this many polls.
    #[must_use]
    pub fn intervals(&self, polls: u64) -> Duration {
        times(self.interval, polls)
    }

    /// The longest time that a drill waits in which the connector refuses in so many polls, and its socket is
    /// missing in so many.
    #[must_use]
    pub fn waits(&self, refused: u64, missing: u64) -> Duration {
        let missing = times(self.backoff_without_socket(), missing);
        times(self.backoff, refused).saturating_add(missing)
    }
}

fn times(span: Option<Span>, times: u64) -> Duration {
    let times = u32::try_from(times).unwrap_or(u32::MAX);
    span.unwrap_or_default().0.saturating_mul(times)
}
