//! Forgets at a restart what it has said.

use super::{About, Wrong};
use crate::memory::Memory;

pub(super) struct Forgetful;

impl Wrong for Forgetful {
    fn about(&self) -> About {
        About {
            name: "forgetful",
            models: "a state file that holds readings and not what was said of them",
            story: STORY,
        }
    }

    fn after_load(&self, memory: &mut Memory) {
        for slot in memory.slots.values_mut() {
            slot.gone.clear();
            for port in slot.ports.values_mut() {
                port.said = None;
            }
        }
    }
}

const STORY: &str = r#"
scenario: the monitor is restarted while a fault stands
why: nothing is forgotten before the restart
let: { victim: { nth: 1 } }
timeline:
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { monitor: restart } ]
    expect: [ { this_poll: nothing } ]
until: 25s
"#;
