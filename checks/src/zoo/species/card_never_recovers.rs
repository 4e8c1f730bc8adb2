//! Never says that a card meets its peers again.

use super::{About, Wrong};
use crate::memory::{Effect, Memory};
use crate::sample::Samples;
use crate::saying::Saying;

pub(super) struct CardNeverRecovers;

impl Wrong for CardNeverRecovers {
    fn about(&self) -> About {
        About {
            name: "card-never-recovers",
            models: "a card's condition without an end: the wedge of 7 July (field bug B16)",
            story: STORY,
        }
    }

    fn sayings(&self, _: u64, memory: &mut Memory, _: &Samples, sayings: &mut Vec<Saying>) {
        let has_fault = |saying: &Saying| match &saying.effect {
            Effect::CardHealthy(key) => memory
                .cards
                .get(key)
                .is_some_and(|card| card.fault.is_some()),
            _ => false,
        };
        sayings.retain(|saying| !has_fault(saying));
    }
}

const STORY: &str = r#"
scenario: one card is dark at the start and is mended
why: the fault of the card is right; its end is what never comes
platforms: { with: { compute_cards: ">= 4" } }
let: { victim: { role: compute, card_ports: 1, nth: 1 } }
given: [ { disable: victim } ]
timeline:
  - at: 0s
    expect: [ { this_poll: [ baseline, { fatal: victim }, { fatal: card of victim } ] } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect:
      - { healthy: victim, within: 2 polls }
      - { healthy: device of victim, within: 2 polls }
      - { healthy: card of victim, within: 2 polls }
until: 25s
"#;
