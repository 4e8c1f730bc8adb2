//! Takes a port whose `link_layer` cannot be read for one that is missing.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::name::SlotKey;
use crate::sample::{PortSample, Samples};
use crate::sight::SeenPorts;

pub(super) struct LayerErrorIsALostPort;

impl Wrong for LayerErrorIsALostPort {
    fn about(&self) -> About {
        About {
            name: "layer-error-is-a-lost-port",
            models: "a port sorted out of its check by an error, and so reported as disappeared (field bug B26)",
            story: STORY,
        }
    }

    fn after_reading(
        &self,
        memory: &mut Memory,
        samples: &mut Samples,
        key: &SlotKey,
        ports: &SeenPorts,
    ) {
        let (Some(slot), SeenPorts::Listed(listed)) = (memory.slots.get(key), ports) else {
            return;
        };
        for seen in listed.iter().filter(|seen| seen.layer.is_none()) {
            if slot.ports.contains_key(&seen.number) {
                let here = samples.of_mut(key);
                here.ports.insert(seen.number, PortSample::Missing);
            }
        }
    }
}

const STORY: &str = r#"
scenario: the link layer of a port cannot be read for a poll
why: every file can be read for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { read: victim/link_layer, fail: EIO, for: 1s } ]
    expect: [ { nothing: victim, from: 20s, to: 25s } ]
until: 25s
"#;
