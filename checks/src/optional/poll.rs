//! What the checks do in a poll that run only where they are named. Start with [`look`] and [`judge`].

use proto::Check;

use crate::chars;
use crate::discovery::Discovery;
use crate::hands::Hands;
use crate::memory::Memory;
use crate::policy::Policy;
use crate::prepared_event::PreparedEvent;
use crate::snapshot::Snapshot;

/// Looks for those that run, after devices and ports were read.
pub(crate) fn look(discovery: &Discovery, hands: &dyn Hands, snapshot: &mut Snapshot) {
    let runs = |check| discovery.checks.contains(&check);
    if runs(Check::InfiniBandCharDevice) {
        let seen = chars::read::read(discovery, hands, snapshot);
        snapshot.optional.chars = Some(seen);
    }
}

/// Keeps what was seen and says what it makes an event. What a check said that does not run is cleared.
pub(crate) fn judge(
    memory: &mut Memory,
    snapshot: &Snapshot,
    policy: &dyn Policy,
) -> Vec<PreparedEvent> {
    chars::judge::judge(memory, snapshot, policy)
}
