//! Loses sight of a device that was renamed.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::name::{DeviceName, SlotKey};

pub(super) struct BlindAfterRename;

impl Wrong for BlindAfterRename {
    fn about(&self) -> About {
        About {
            name: "blind-after-rename",
            models: "devices kept by name, so that a function under a new name is nobody",
            story: STORY,
        }
    }

    fn is_blind_to(&self, memory: &Memory, key: &SlotKey, name: &DeviceName) -> bool {
        memory.slots.get(key).is_some_and(|slot| slot.name != *name)
    }
}

const STORY: &str = r#"
scenario: a renamed device goes dark
why: no device is renamed for twenty polls
platforms: { names: [ dgx-h100 ] }
let: { victim: { nth: 1 } }
timeline:
  - at: 18s
    do: [ { rename: device of victim, to: mlx5_42 } ]
  - at: 20s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: { name: mlx5_42, port: 1 } } ] } ]
until: 25s
"#;
