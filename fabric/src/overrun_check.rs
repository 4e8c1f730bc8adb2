//! What an hfi1's next check for receive buffer overruns will find, and when it comes.

use simfs::SimTime;

use crate::agenda::Key;

/// Time between two checks (`chip.c`, `RCVERR_CHECK_TIME`).
const BETWEEN_CHECKS: SimTime = SimTime::from_secs(10);

/// What a driver's next check of a port will find.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OverrunCheck {
    /// When the driver started; its checks follow at fixed intervals.
    pub(crate) since: SimTime,
    /// Whether the counter grew since the last check.
    pub(crate) grew: bool,
    /// The scheduled check.
    pub(crate) next: Option<Key>,
}

impl OverrunCheck {
    /// The time of the first check after `now`.
    pub(crate) fn following(self, now: SimTime) -> SimTime {
        let rounds = now.since(self.since).as_ns() / BETWEEN_CHECKS.as_ns() + 1;
        self.since + SimTime::from_ns(rounds.saturating_mul(BETWEEN_CHECKS.as_ns()))
    }
}
