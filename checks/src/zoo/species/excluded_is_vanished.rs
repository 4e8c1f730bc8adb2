//! Takes a device that is excluded from now on for one that vanished.

use super::{About, Wrong};

pub(super) struct ExcludedIsVanished;

impl Wrong for ExcludedIsVanished {
    fn about(&self) -> About {
        About {
            name: "excluded-is-vanished",
            models: "a change of the exclusion list that fabricates a disappearance (field bug B18)",
            story: STORY,
        }
    }

    fn sees_the_excluded(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: an operator excludes a healthy NIC
why: nothing is excluded for twenty polls
platforms: { with: { compute_cards: ">= 4", devices: [ mlx5_3 ] } }
timeline:
  - at: 20s
    do: [ { monitor: restart, config: "nicExclusionRegex = \"^mlx5_3$\"" } ]
    expect: [ { this_poll: nothing } ]
until: 25s
"#;
