//! Recommends nothing for a device that vanished.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::saying::Saying;
use proto::{HealthEvent, RecommendedAction};

pub(super) struct WrongAction;

impl Wrong for WrongAction {
    fn about(&self) -> About {
        About {
            name: "wrong-action",
            models: "a fatal event without an action, which no automation takes up",
            story: STORY,
        }
    }

    fn event(&self, _: &Memory, _: u64, saying: &Saying, event: &mut HealthEvent) {
        if matches!(saying.effect, Effect::Gone(..)) {
            event.recommended_action = RecommendedAction::None.into();
        }
    }
}

const STORY: &str = r#"
scenario: a device vanishes
why: nothing vanishes for twenty polls
let: { victim: { nth: 1 } }
timeline:
  - at: 20s
    do: [ { remove: device of victim } ]
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
until: 25s
heal: never
because: what is told is the fault
"#;
