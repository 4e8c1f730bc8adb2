//! Says that a port is healthy although it said no fault of it.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::name::SlotKey;
use crate::sample::Samples;
use crate::sight::SeenPorts;

pub(super) struct GreetsEveryRecovery;

impl Wrong for GreetsEveryRecovery {
    fn about(&self) -> About {
        About {
            name: "greets-every-recovery",
            models: "a recovery for a transient that the Ethernet check keeps to itself (field bug B26, the last part)",
            story: STORY,
        }
    }

    fn after_reading(
        &self,
        memory: &mut Memory,
        samples: &mut Samples,
        key: &SlotKey,
        _: &SeenPorts,
    ) {
        if let Some(slot) = memory.slots.get_mut(key) {
            let here = samples.of(key);
            for (number, port) in &mut slot.ports {
                port.owed |= here.is_unhealthy(*number, port);
            }
        }
    }
}

const STORY: &str = r#"
scenario: a RoCE port trains for a moment
why: no port trains for twenty polls
platforms: { with: { layer: ethernet } }
let: { victim: { layer: ethernet, nth: 1 } }
timeline:
  - at: 20s
    do: [ { set: victim, state: INIT, phys_state: LinkUp } ]
  - at: 22s
    do: [ { set: victim, state: ACTIVE, phys_state: LinkUp } ]
    expect: [ { nothing: victim, from: 20s, to: 25s } ]
until: 25s
"#;
