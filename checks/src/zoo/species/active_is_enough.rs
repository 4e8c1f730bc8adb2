//! Looks at `state` alone.

use super::{About, Wrong};
use crate::reading::{PhysState, PortState, Reading};

pub(super) struct ActiveIsEnough;

impl Wrong for ActiveIsEnough {
    fn about(&self) -> About {
        About {
            name: "active-is-enough",
            models: "a port that is ACTIVE with a phy that is not up, taken for healthy",
            story: STORY,
        }
    }

    fn reading(&self, reading: Reading) -> Reading {
        match reading.state {
            PortState::Active => Reading {
                phys: PhysState::LinkUp,
                ..reading
            },
            _ => reading,
        }
    }
}

const STORY: &str = r#"
scenario: a port is ACTIVE and its phy disabled
why: both files say the same for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 20s
    do: [ { set: victim, state: ACTIVE, phys_state: Disabled } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
