//! Lets a RoCE port that never comes up be silent for ever.

use super::{About, Wrong};
use crate::name::LinkLayer;

pub(super) struct NeverEscalatesEthernet;

impl Wrong for NeverEscalatesEthernet {
    fn about(&self) -> About {
        About {
            name: "never-escalates-ethernet",
            models: "a patience that only the InfiniBand check has",
            story: STORY,
        }
    }

    fn escalates(&self, layer: LinkLayer) -> bool {
        layer == LinkLayer::InfiniBand
    }
}

const STORY: &str = r#"
scenario: a RoCE port stays in INIT until the patience is over
why: the patience is not over for twenty polls
platforms: { with: { layer: ethernet } }
let: { victim: { layer: ethernet, nth: 1 } }
timeline:
  - at: 5s
    do: [ { set: victim, state: INIT, phys_state: LinkUp } ]
  - at: 36s
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 40s
"#;
