//! Takes a port that is ARMED for one that is up.

use super::{About, Wrong};
use crate::reading::{PortState, Reading};

pub(super) struct ArmedIsUp;

impl Wrong for ArmedIsUp {
    fn about(&self) -> About {
        About {
            name: "armed-is-up",
            models: "everything above INIT taken for healthy",
            story: STORY,
        }
    }

    fn reading(&self, reading: Reading) -> Reading {
        match reading.state {
            PortState::Armed => Reading {
                state: PortState::Active,
                ..reading
            },
            _ => reading,
        }
    }
}

const STORY: &str = r#"
scenario: a port is stuck in ARMED
why: no port is ARMED for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 20s
    do: [ { set: victim, state: ARMED, phys_state: LinkUp } ]
    expect: [ { this_poll: [ { nonfatal: victim } ] } ]
until: 25s
"#;
