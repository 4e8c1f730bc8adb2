//! Saves once a poll, after the last call.

use super::{About, Wrong};

pub(super) struct SavesLate;

impl Wrong for SavesLate {
    fn about(&self) -> About {
        About {
            name: "saves-late",
            models: "two checks, two calls, one save: a kill between the calls repeats the first",
            story: STORY,
        }
    }

    fn saves_each(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the monitor is killed between its two calls
why: there is one call a poll for twenty polls
platforms: { with: { layer: both } }
let: { ib: { layer: infiniband, nth: 1 }, roce: { layer: ethernet, nth: 1 } }
timeline:
  - at: 20s
    do: [ { disable: ib }, { disable: roce } ]
    expect: [ { fatal: ib, within: 3 polls }, { fatal: roce, repeats: allowed, within: 3 polls } ]
  - at: 20s
    in_poll: { received: 2 }
    do: [ { monitor: restart, signal: KILL } ]
until: 30s
"#;
