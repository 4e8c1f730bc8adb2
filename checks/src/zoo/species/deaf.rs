//! Stops reporting faults.

use super::{About, GRACE_POLLS, Wrong};
use crate::memory::Memory;
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct Deaf;

impl Wrong for Deaf {
    fn about(&self) -> About {
        About {
            name: "deaf",
            models: "a polling loop that freezes on its first readings while it looks alive",
            story: STORY,
        }
    }

    fn sayings(&self, polls: u64, _: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        if polls > GRACE_POLLS {
            sayings.retain(|saying| saying.severity.is_none());
        }
    }
}

const STORY: &str = r#"
scenario: a port is disabled after twenty polls
why: it hears for twenty polls, and no longer
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
