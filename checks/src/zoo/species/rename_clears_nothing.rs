//! Clears nothing under the old name of a device.

use super::{About, Wrong};
use crate::memory::Memory;

pub(super) struct RenameClearsNothing;

impl Wrong for RenameClearsNothing {
    fn about(&self) -> About {
        About {
            name: "rename-clears-nothing",
            models: "conditions orphaned by a rename (field bug B23)",
            story: STORY,
        }
    }

    fn renamed(&self, memory: &mut Memory) {
        memory
            .debts
            .retain(|debt| !debt.message.contains(" is now "));
    }
}

const STORY: &str = r#"
scenario: a device with a dark port is renamed
why: no device is renamed for twenty polls
platforms: { names: [ dgx-h100 ] }
let: { victim: { device: mlx5_3 } }
timeline:
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { rename: device of victim, to: mlx5_42 } ]
    expect: [ { this_poll: [ { cleared: { name: mlx5_3, port: 1 } }, { fatal: { name: mlx5_42, port: 1 } } ] } ]
until: 25s
"#;
