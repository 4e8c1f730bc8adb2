//! Says of a port that it is healthy, and names its card as well.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::{Entity, HealthEvent};

pub(super) struct RecoveryNamesTheCardToo;

impl Wrong for RecoveryNamesTheCardToo {
    fn about(&self) -> About {
        About {
            name: "recovery-names-the-card-too",
            models: "a healthy event with more entities than its fault: the node is released, and the condition stands for ever",
            story: STORY,
        }
    }

    fn event(&self, memory: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        let Effect::PortHealthy(key, number) = &saying.effect else {
            return;
        };
        let Some(slot) = memory.slots.get(key) else {
            return;
        };
        let port = slot.ports.get(number);
        if port.is_some_and(|port| port.said.is_some()) {
            event.entities_impacted.push(Entity {
                entity_type: "NIC".to_owned(),
                entity_value: slot.card().as_str().to_owned(),
            });
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
