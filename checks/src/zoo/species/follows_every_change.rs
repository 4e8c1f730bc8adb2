//! Reports a fault that became less bad.

use super::{About, Wrong};
use crate::reading::Severity;

pub(super) struct FollowsEveryChange;

impl Wrong for FollowsEveryChange {
    fn about(&self) -> About {
        About {
            name: "follows-every-change",
            models: "an event whenever the severity differs from the last one, instead of when it rises",
            story: STORY,
        }
    }

    fn is_rise(&self, said: Option<Severity>, now: Severity) -> bool {
        said != Some(now)
    }
}

const STORY: &str = r#"
scenario: a dark port begins to train
why: no fault becomes less bad for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 15s
    do: [ { set: victim, state: DOWN, phys_state: Disabled } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { set: victim, state: INIT, phys_state: LinkUp } ]
    expect: [ { this_poll: nothing } ]
until: 25s
"#;
