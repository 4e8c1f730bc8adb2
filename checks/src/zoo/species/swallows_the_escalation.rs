//! Says nothing more of a port of which it said anything.

use super::{About, Wrong};
use crate::reading::Severity;

pub(super) struct SwallowsTheEscalation;

impl Wrong for SwallowsTheEscalation {
    fn about(&self) -> About {
        About {
            name: "swallows-the-escalation",
            models: "events only at the boundary of healthy and unhealthy: non-fatal, then nothing (field bug B04)",
            story: STORY,
        }
    }

    fn is_rise(&self, said: Option<Severity>, _: Severity) -> bool {
        said.is_none()
    }
}

const STORY: &str = r#"
scenario: a port that trains for ever is then disabled
why: no fault grows worse for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 15s
    do: [ { set: victim, state: INIT, phys_state: LinkUp } ]
    expect: [ { this_poll: [ { nonfatal: victim } ] } ]
  - at: 20s
    do: [ { set: victim, state: DOWN, phys_state: Disabled } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
