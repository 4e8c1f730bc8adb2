//! Leaves a port that never comes up non-fatal for ever.

use super::{About, Wrong};
use crate::name::LinkLayer;

pub(super) struct NeverEscalates;

impl Wrong for NeverEscalates {
    fn about(&self) -> About {
        About {
            name: "never-escalates",
            models: "the promise of 3.2 left to a comparison of cards that runs once",
            story: STORY,
        }
    }

    fn escalates(&self, _: LinkLayer) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: a port stays in INIT until the patience is over
why: the patience is not over for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 5s
    do: [ { stick: victim, in: init } ]
    expect: [ { this_poll: [ { nonfatal: victim } ] } ]
  - at: 36s
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 40s
"#;
