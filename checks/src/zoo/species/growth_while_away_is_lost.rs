//! Measures growth anew after a restart.

use super::{About, Wrong};
use crate::memory::Memory;

pub(super) struct GrowthWhileAwayIsLost;

impl Wrong for GrowthWhileAwayIsLost {
    fn about(&self) -> About {
        About {
            name: "growth-while-away-is-lost",
            models: "last values kept in the process: what grew while the monitor was away was always there",
            story: STORY,
        }
    }

    fn after_load(&self, memory: &mut Memory) {
        let devices = memory.counters.devices.values_mut();
        let ports = devices.flat_map(|device| device.ports.values_mut());
        for count in ports.flat_map(|port| port.counts.values_mut()) {
            count.seed = None;
        }
    }
}

const STORY: &str = r#"
scenario: a counter grows while the monitor is away
why: the monitor is there for twenty polls
checks: counters
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { monitor: restart, away: 5s } ]
  - at: 22s
    do: [ { counter: victim, name: rnr_nak_retry_err, add: 1 } ]
    expect: [ { fatal: victim, counter: rnr_nak_retry_err, within: 2 polls } ]
until: 30s
"#;
