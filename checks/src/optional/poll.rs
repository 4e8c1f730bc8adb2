//! What the checks do in a poll that run only where they are named. Start with [`look`] and [`judge`].

use proto::Check;

use crate::chars;
use crate::eyes::Eyes;
use crate::hands::Hands;
use crate::memory::Memory;
use crate::policy::Policy;
use crate::saying::Saying;
use crate::sight::Sight;

/// Looks for those that run, after devices and ports were read.
pub(crate) fn look(eyes: &Eyes, hands: &dyn Hands, sight: &mut Sight) {
    let runs = |check| eyes.checks.contains(&check);
    if runs(Check::InfiniBandCharDevice) {
        let seen = chars::read::read(eyes, hands, sight);
        sight.optional.chars = Some(seen);
    }
}

/// Keeps what was seen and says what it makes an event. What a check said that does not run is cleared.
pub(crate) fn judge(memory: &mut Memory, sight: &Sight, policy: &dyn Policy) -> Vec<Saying> {
    chars::judge::judge(memory, sight, policy)
}
