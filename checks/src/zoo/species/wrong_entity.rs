//! Says that a device is back in the name of its first port.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::{Entity, HealthEvent};

pub(super) struct WrongEntity;

impl Wrong for WrongEntity {
    fn about(&self) -> About {
        About {
            name: "wrong-entity",
            models: "a recovery that names another entity than its fault, and so clears nothing",
            story: STORY,
        }
    }

    fn event(&self, memory: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        let Effect::DeviceHealthy(key, layer) = &saying.effect else {
            return;
        };
        let slot = memory.slots.get(key);
        if slot.is_some_and(|slot| slot.gone.contains_key(layer)) {
            event.entities_impacted.push(Entity {
                entity_type: "NICPort".to_owned(),
                entity_value: "1".to_owned(),
            });
        }
    }
}

const STORY: &str = r#"
scenario: a device vanishes and returns
why: nothing returns for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 15s
    do: [ { remove: device of victim } ]
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
  - at: 20s
    do: [ { restore: device of victim } ]
    expect:
      - { healthy: device of victim, within: 10 polls }
      - { each: ports of device of victim, healthy: it, within: 10 polls }
until: 30s
"#;
