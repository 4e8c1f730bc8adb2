//! Monitors NICs of every make.

use super::{About, Wrong};

pub(super) struct WatchesEveryMake;

impl Wrong for WatchesEveryMake {
    fn about(&self) -> About {
        About {
            name: "watches-every-make",
            models: "an Omni-Path port that replaces a machine by the rules for NVIDIA's NICs",
            story: STORY,
        }
    }

    fn is_ours(&self, _: bool) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: Omni-Path adapters come into a node that had no NIC
why: there is no NIC of any make for twenty polls
platforms: { names: [ opa-cn5000 ] }
let: { nics: { device: [ hfi1_0, hfi1_1, hfi1_2, hfi1_3, hfi1_4, hfi1_5, hfi1_6, hfi1_7 ], count: all } }
timeline:
  - at: 0s
    do: [ { remove: nics } ]
  - at: 20s
    do: [ { restore: nics } ]
    expect: [ { nothing: nics, from: 20s, to: 30s } ]
until: 30s
"#;
