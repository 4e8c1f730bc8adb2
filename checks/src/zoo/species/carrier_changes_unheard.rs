//! Never says that a carrier flaps.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct CarrierChangesUnheard;

impl Wrong for CarrierChangesUnheard {
    fn about(&self) -> About {
        About {
            name: "carrier-changes-unheard",
            models: "`carrier_changes` looked for where no kernel has it: silent, and nobody wonders (field bug B28)",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, _: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        let is_carrier = |effect: &Effect| match effect {
            Effect::CounterSaid(_, _, id, _) => id.name() == "carrier_changes",
            _ => false,
        };
        sayings.retain(|saying| !is_carrier(&saying.effect));
    }
}

const STORY: &str = r#"
scenario: a carrier flaps
why: no carrier flaps for twenty polls
checks: counters
platforms: { with: { layer: ethernet } }
let: { victim: { layer: ethernet, nth: 1 } }
timeline:
  - at: 20s
    do: [ { counter: victim, name: carrier_changes, add: 5 } ]
    expect: [ { this_poll: [ { nonfatal: victim, counter: carrier_changes } ] } ]
until: 25s
"#;
