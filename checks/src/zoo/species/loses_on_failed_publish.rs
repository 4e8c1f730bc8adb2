//! Remembers what it said before anyone accepted it.

use super::{About, Wrong};
use crate::agent::Outcome;

pub(super) struct LosesOnFailedPublish;

impl Wrong for LosesOnFailedPublish {
    fn about(&self) -> About {
        About {
            name: "loses-on-failed-publish",
            models: "state advanced before the publish: one failed call, and the event is never sent (field bug B01)",
            story: STORY,
        }
    }

    fn commits_unheard(&self, _: &Outcome) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: the connector refuses while a port dies
why: nothing is lost while every publish is accepted
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { connector: { code: INVALID_ARGUMENT }, calls: 1 }, { disable: victim } ]
    expect: [ { next_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
