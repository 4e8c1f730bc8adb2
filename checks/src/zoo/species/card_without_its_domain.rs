//! Knows the cards that are exempt without their PCI domain.

use super::{About, Wrong};
use crate::name::Card;
use std::collections::BTreeSet;

pub(super) struct CardWithoutItsDomain;

impl Wrong for CardWithoutItsDomain {
    fn about(&self) -> About {
        About {
            name: "card-without-its-domain",
            models: "a card key cut to bus and device: two cards of two PCI domains are one",
            story: STORY,
        }
    }

    fn is_exempt(&self, exempt: &BTreeSet<Card>, card: &Card) -> bool {
        exempt.iter().any(|other| slot(other) == slot(card))
    }
}

/// Bus and device.
fn slot(card: &Card) -> &str {
    let text = card.as_str();
    text.split_once(':').map_or(text, |(_, slot)| slot)
}

const STORY: &str = r#"
scenario: a card is added at the management NIC's bus number in another domain
why: no two cards share a bus number for twenty polls
platforms: { names: [ dgx-a100 ] }
let: { model: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 20s
    do: [ { hot_add: device of model, pci: "0001:61:00.0", name: mlx5_40, cabled: true } ]
    expect:
      - { healthy: { name: mlx5_40, port: 1 }, within: 2 polls }
      - { healthy: { name: mlx5_40 }, within: 2 polls }
      - { healthy: { name: "0001:61:00" }, within: 2 polls }
until: 25s
"#;
