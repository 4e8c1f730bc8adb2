//! Judges durations by the wall clock.

use super::{About, Wrong};
use crate::hands::Clocks;

pub(super) struct EscalatesByTheWallClock;

impl Wrong for EscalatesByTheWallClock {
    fn about(&self) -> About {
        About {
            name: "escalates-by-the-wall-clock",
            models: "a clock that NTP may step: an hour forward, and every patience is over",
            story: STORY,
        }
    }

    fn clocks(&self, clocks: Clocks) -> Clocks {
        Clocks {
            boot_ns: clocks.wall_ns,
            ..clocks
        }
    }
}

const STORY: &str = r#"
scenario: the clock jumps forward while a port trains
why: the clock does not jump for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 15s
    do: [ { stick: victim, in: init } ]
    expect: [ { this_poll: [ { nonfatal: victim } ] } ]
  - at: 20s
    do: [ { clock: step, by: 1h } ]
    expect: [ { this_poll: nothing } ]
until: 25s
"#;
