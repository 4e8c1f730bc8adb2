//! Runs the optional checks in a poll. Start with [`look`] and [`judge`].

use terms::Check;

use crate::chars;
use crate::discovery::Discovery;
use crate::hands::Hands;
use crate::memory::Memory;
use crate::policy::Policy;
use crate::prepared_event::PreparedEvent;
use crate::snapshot::Snapshot;

/// Reads for the optional checks that run, after devices and ports were read.
pub(crate) fn look(discovery: &Discovery, hands: &dyn Hands, snapshot: &mut Snapshot) {
    let runs = |check| discovery.checks.contains(&check);
    if runs(Check::InfiniBandCharDevice) {
        let seen = chars::read::read(discovery, hands, snapshot);
        snapshot.optional.chars = Some(seen);
    }
}

/// Stores what was read and returns the events. The reported faults of a check that does not run
/// are cleared.
pub(crate) fn judge(
    memory: &mut Memory,
    snapshot: &Snapshot,
    policy: &dyn Policy,
) -> Vec<PreparedEvent> {
    chars::judge::judge(memory, snapshot, policy)
}
