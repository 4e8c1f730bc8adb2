//! Owes nothing to a device that it could not read at its start.

use super::{About, Wrong};
use crate::memory::Memory;
use crate::sample::{PortSample, Samples};
use crate::saying::Saying;

pub(super) struct BaselineDebtForgotten;

impl Wrong for BaselineDebtForgotten {
    fn about(&self) -> About {
        About {
            name: "baseline-debt-forgotten",
            models: "a baseline sent once, for whoever could be read then: an old fault of the others stands for ever",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, memory: &mut Memory, samples: &Samples, _: &mut Vec<Saying>) {
        for (key, slot) in &mut memory.slots {
            let here = samples.of(key);
            for (number, port) in &mut slot.ports {
                port.owed &= !matches!(here.port(*number), PortSample::Unreadable(_));
            }
        }
    }
}

const STORY: &str = r#"
scenario: a port cannot be read at the start, and for long
why: what cannot be read is owed, and not due, for twenty polls
let: { victim: { nth: 1 } }
given: [ { read: victim/state, fail: EIO } ]
timeline:
  - at: 3s
    expect: [ { this_poll: [ { baseline: null, except: victim } ] } ]
  - at: 20s
    do: [ { no_rule: everywhere } ]
    expect:
      - { healthy: victim, within: 2 polls }
      - { healthy: device of victim, times: [ 0, 1 ], within: 2 polls }
      - { healthy: card of victim, times: [ 0, 1 ], within: 2 polls }
until: 25s
"#;
