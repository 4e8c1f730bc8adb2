//! Takes what it finds after a restart for what was.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct SwallowsWhatItMissed;

impl Wrong for SwallowsWhatItMissed {
    fn about(&self) -> About {
        About {
            name: "swallows-what-it-missed",
            models: "the first readings of a process kept as its baseline: what broke meanwhile was never healthy",
            story: STORY,
        }
    }

    fn sayings(&self, polls: u64, memory: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        let mut ports = memory.slots.values().flat_map(|slot| slot.ports.values());
        let is_restart = polls == 1 && ports.any(|port| !port.owed);
        if is_restart {
            let effects = sayings.drain(..).map(|saying| saying.effect).collect();
            memory.apply(effects);
        }
    }
}

const STORY: &str = r#"
scenario: a port goes dark while the monitor is away
why: the monitor is there for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { monitor: restart, away: 5s } ]
  - at: 22s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim, within: 2 polls } ]
until: 30s
"#;
