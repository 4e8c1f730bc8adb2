//! Declares every port healthy after a reboot.

use super::{About, Wrong};
use crate::judge::port;
use crate::memory::Memory;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct HealthyOnReboot;

impl Wrong for HealthyOnReboot {
    fn about(&self) -> About {
        About {
            name: "healthy-on-reboot",
            models: "baselines sent for every known port without reading it first",
            story: STORY,
        }
    }

    fn reborn(&self, memory: &Memory, samples: &Samples, sayings: &mut Vec<Saying>) {
        sayings.retain(|saying| saying.severity.is_none());
        for (key, slot) in &memory.slots {
            let here = samples.of(key);
            for (number, port) in &slot.ports {
                if here.is_unhealthy(*number, port) {
                    sayings.push(port::healthy(key, &slot.name, *number, port.layer));
                }
            }
        }
    }
}

const STORY: &str = r#"
scenario: the node is rebooted while a fault stands
why: nothing is declared before the reboot
let: { victim: { nth: 1 } }
timeline:
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { reboot: { takes: 30s } } ]
  - at: 50s
    expect: [ { this_poll: [ { reboot_baseline: null, except: victim }, { fatal: victim }, { fatal: card of victim, times: [ 0, 1 ] } ] } ]
until: 55s
"#;
