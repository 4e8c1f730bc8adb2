//! Says of a port that it is healthy in the name of its device alone.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::HealthEvent;

pub(super) struct RecoveryWithoutItsPort;

impl Wrong for RecoveryWithoutItsPort {
    fn about(&self) -> About {
        About {
            name: "recovery-without-its-port",
            models: "a healthy event with too few entities: it clears every condition of the device and releases no node",
            story: STORY,
        }
    }

    fn event(&self, memory: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        let Effect::PortHealthy(key, number) = &saying.effect else {
            return;
        };
        let port = memory.slots.get(key);
        let port = port.and_then(|slot| slot.ports.get(number));
        if port.is_some_and(|port| port.said.is_some()) {
            event.entities_impacted.truncate(1);
        }
    }
}

const STORY: &str = r#"
scenario: a port goes dark and comes back
why: nothing returns for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 15s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 10 polls } ]
until: 32s
"#;
