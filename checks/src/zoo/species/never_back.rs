//! Never says that a device that was gone is back.

use super::{About, Wrong};
use crate::memory::Slot;
use crate::name::LinkLayer;
use crate::sample::DeviceSample;

pub(super) struct NeverBack;

impl Wrong for NeverBack {
    fn about(&self) -> About {
        About {
            name: "never-back",
            models: "a disappearance without a recovery, so that the node stays condemned (field bug B08)",
            story: STORY,
        }
    }

    fn is_back(&self, _: &Slot, _: &DeviceSample, _: LinkLayer, _: bool) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: a device vanishes and returns
why: nothing returns for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 15s
    do: [ { remove: device of victim } ]
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
  - at: 20s
    do: [ { restore: device of victim } ]
    expect:
      - { healthy: device of victim, within: 10 polls }
      - { each: ports of device of victim, healthy: it, within: 10 polls }
until: 30s
"#;
