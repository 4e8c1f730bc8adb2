//! Believes an empty `ports/` at once.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::name::SlotKey;
use crate::sight::SeenPorts;

pub(super) struct EmptyPortsAreLostPorts;

impl Wrong for EmptyPortsAreLostPorts {
    fn about(&self) -> About {
        About {
            name: "empty-ports-are-lost-ports",
            models: "a driver on its way in or out, caught between two steps",
            story: STORY,
        }
    }

    fn before_reading(&self, memory: &mut Memory, key: &SlotKey, ports: &SeenPorts) {
        let is_empty = matches!(ports, SeenPorts::Listed(listed) if listed.is_empty());
        if let Some(slot) = memory.slots.get_mut(key).filter(|_| is_empty) {
            slot.empty_listings = 1;
        }
    }
}

const STORY: &str = r#"
scenario: a device shows no ports for one poll
why: every device shows its ports for twenty polls
platforms: { with: { devices_with_two_ports: ">= 1" } }
let: { pair: { device_ports: 2, count: 2 } }
timeline:
  - at: 20s
    in_poll: { after: list class/infiniband }
    do: [ { remove_port: pair } ]
    expect: [ { nothing: pair, from: 20s, to: 25s } ]
  - at: 20500ms
    do: [ { restore_port: pair } ]
until: 25s
"#;
