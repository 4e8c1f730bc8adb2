//! Puts the clearings of a batch after its faults.

use super::{About, Wrong};
use crate::saying::Saying;

pub(super) struct ClearsLast;

impl Wrong for ClearsLast {
    fn about(&self) -> About {
        About {
            name: "clears-last",
            models: "events sorted by severity: the clearing of an old name takes the new fault with it",
            story: STORY,
        }
    }

    fn order(&self, sayings: &mut [Saying]) {
        sayings.sort_by_key(|saying| saying.severity.is_none());
    }
}

const STORY: &str = r#"
scenario: two devices with dark ports swap their names
why: nothing is cleared in a poll in which something breaks, for twenty polls
platforms: { names: [ dgx-h100 ] }
let: { victim: { device: mlx5_3 } }
timeline:
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { rename: device of victim, to: mlx5_42 } ]
    expect:
      - this_poll:
          - in_order: [ { cleared: { name: mlx5_3, port: 1 } }, { fatal: { name: mlx5_42, port: 1 } } ]
until: 25s
"#;
