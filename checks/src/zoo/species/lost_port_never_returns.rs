//! Forgets that a port was missing as soon as it is listed again.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::name::SlotKey;
use crate::sight::SeenPorts;

pub(super) struct LostPortNeverReturns;

impl Wrong for LostPortNeverReturns {
    fn about(&self) -> About {
        About {
            name: "lost-port-never-returns",
            models: "a port's disappearance without a recovery (field bug B25)",
            story: STORY,
        }
    }

    fn before_reading(&self, memory: &mut Memory, key: &SlotKey, ports: &SeenPorts) {
        let (Some(slot), SeenPorts::Listed(listed)) = (memory.slots.get_mut(key), ports) else {
            return;
        };
        for (number, port) in &mut slot.ports {
            if port.is_missing && listed.iter().any(|seen| seen.number == *number) {
                (port.said, port.again) = (None, None);
            }
        }
    }
}

const STORY: &str = r#"
scenario: a port vanishes from its device and returns
why: no port vanishes for fifteen polls, and its fault is right
platforms: { with: { devices_with_two_ports: ">= 1" } }
let: { victim: { device_ports: 2, port: 2, nth: 1 } }
timeline:
  - at: 15s
    do: [ { remove_port: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { restore_port: victim } ]
    expect: [ { healthy: victim, within: 2 polls } ]
until: 25s
"#;
