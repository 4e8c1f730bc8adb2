//! Recording what outages do to queue pairs.

use super::{Net, NetEvent, NetEventKind};
use crate::{AsyncEvent, HostId, Rail, RailState};

impl Net {
    /// Records an event of the present time.
    pub(super) fn record(&mut self, host: HostId, rail: Rail, kind: NetEventKind) {
        let at = self.now;
        self.events.push(NetEvent {
            at,
            host,
            rail,
            kind,
        });
    }

    /// Records the asynchronous event of a port's change, if it raises one.
    pub(super) fn record_change(
        &mut self,
        host: HostId,
        rail: Rail,
        before: RailState,
        state: RailState,
    ) {
        if let Some(event) = AsyncEvent::of_change(before, state) {
            self.record(host, rail, NetEventKind::Async(event));
        }
    }
}
