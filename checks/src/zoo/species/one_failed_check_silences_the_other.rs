//! Gives up a poll's other calls when one fails.

use super::{About, Wrong};

pub(super) struct OneFailedCheckSilencesTheOther;

impl Wrong for OneFailedCheckSilencesTheOther {
    fn about(&self) -> About {
        About {
            name: "one-failed-check-silences-the-other",
            models: "checks run in a row, and the first error ends the row",
            story: STORY,
        }
    }

    fn delivers_the_rest(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the first of two calls fails
why: every call is accepted for twenty polls
platforms: { with: { layer: both } }
let: { ib: { layer: infiniband, nth: 1 }, roce: { layer: ethernet, nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: { code: INVALID_ARGUMENT }, calls: 1 }, { disable: ib }, { disable: roce } ]
    expect: [ { this_poll: [ { fatal: roce } ] }, { next_poll: [ { fatal: ib } ] } ]
until: 30s
"#;
