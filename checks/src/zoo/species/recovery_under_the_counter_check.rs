//! Files the recovery of a port under the counter check of its layer.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::{Check, HealthEvent};

pub(super) struct RecoveryUnderTheCounterCheck;

impl Wrong for RecoveryUnderTheCounterCheck {
    fn about(&self) -> About {
        About {
            name: "recovery-under-the-counter-check",
            models: "a recovery under another check's name: the fault's own condition is nobody's to clear",
            story: STORY,
        }
    }

    fn event(&self, memory: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        let Effect::PortHealthy(key, number) = &saying.effect else {
            return;
        };
        let port = memory.slots.get(key);
        let port = port.and_then(|slot| slot.ports.get(number));
        if port.is_some_and(|port| port.said.is_some()) {
            let check = match saying.check {
                Check::InfiniBandState => Check::InfiniBandDegradation,
                _ => Check::EthernetDegradation,
            };
            event.check_name = check.to_string();
        }
    }
}

const STORY: &str = r#"
scenario: a port goes dark and comes back
why: nothing returns for twenty polls
checks: all
let: { victim: { nth: 1 } }
timeline:
  - at: 15s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim }, { fatal: victim, counter: link_downed } ] } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 10 polls } ]
until: 32s
"#;
