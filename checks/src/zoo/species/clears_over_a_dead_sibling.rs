//! Says that a device is back when one of its ports is healthy.

use super::{About, Wrong};
use crate::memory::Slot;
use crate::name::LinkLayer;
use crate::recognise::ports_of;
use crate::sample::DeviceSample;

pub(super) struct ClearsOverADeadSibling;

impl Wrong for ClearsOverADeadSibling {
    fn about(&self) -> About {
        About {
            name: "clears-over-a-dead-sibling",
            models: "a device-level clear that also takes back what stands of the port that is still dark",
            story: STORY,
        }
    }

    fn is_back(&self, slot: &Slot, here: &DeviceSample, layer: LinkLayer, _: bool) -> bool {
        ports_of(slot, layer).any(|(number, port)| here.is_healthy(number, port))
    }
}

const STORY: &str = r#"
scenario: a two-port device returns with its second port dark
why: nothing returns for twenty polls
platforms: { with: { devices_with_two_ports: ">= 1" } }
let:
  one: { device_ports: 2, port: 1, nth: 1 }
  two: { sibling_of: one, port: 2 }
timeline:
  - at: 10s
    do: [ { cut: two } ]
    expect: [ { this_poll: [ { fatal: two } ] } ]
  - at: 15s
    do: [ { remove: device of one } ]
    expect: [ { this_poll: [ { fatal: device of one } ] } ]
  - at: 20s
    do: [ { restore: device of one } ]
    expect: [ { nothing: device of one, from: 20s, to: 30s } ]
  - at: 30s
    do: [ { mend: two } ]
    expect:
      - { healthy: device of one, within: 2 polls }
      - { healthy: one, within: 2 polls }
      - { healthy: two, within: 2 polls }
until: 35s
"#;
