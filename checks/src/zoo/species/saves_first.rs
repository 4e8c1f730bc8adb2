//! Saves what it is about to say as said.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};

pub(super) struct SavesFirst;

impl Wrong for SavesFirst {
    fn about(&self) -> About {
        About {
            name: "saves-first",
            models: "a state file written before the publish: a kill in between, and the event is lost",
            story: STORY,
        }
    }

    fn saves_first(&self) -> bool {
        true
    }

    fn saved(&self, memory: &Memory, pending: Vec<Effect>) -> Memory {
        let mut saved = memory.clone();
        saved.apply(pending);
        saved
    }
}

const STORY: &str = r#"
scenario: the monitor is killed while the connector refuses
why: every event is accepted at once for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: refuse, for: 10s }, { disable: victim } ]
  - at: 25s
    do: [ { monitor: restart, signal: KILL } ]
  - at: 30s
    expect: [ { fatal: victim, within: 2 polls } ]
until: 35s
"#;
