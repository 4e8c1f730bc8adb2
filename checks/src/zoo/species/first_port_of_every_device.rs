//! Names the first port, whichever port of the device it is.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::HealthEvent;

pub(super) struct FirstPortOfEveryDevice;

impl Wrong for FirstPortOfEveryDevice {
    fn about(&self) -> About {
        About {
            name: "first-port-of-every-device",
            models: "a port number taken from the device's name, since most devices have one",
            story: STORY,
        }
    }

    fn event(&self, _: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        if matches!(saying.effect, Effect::PortSaid(..)) {
            for entity in &mut event.entities_impacted {
                if entity.entity_type == "NICPort" {
                    "1".clone_into(&mut entity.entity_value);
                }
            }
        }
    }
}

const STORY: &str = r#"
scenario: the second port of a device goes dark
why: every port is healthy for twenty polls
platforms: { with: { devices_with_two_ports: ">= 1" } }
let: { victim: { device_ports: 2, port: 2, nth: 1 } }
timeline:
  - at: 20s
    do: [ { cut: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
