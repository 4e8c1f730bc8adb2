//! Compares a card that has a management function with its peers.

use super::{About, Wrong};
use crate::name::Card;
use std::collections::BTreeSet;

pub(super) struct ComparesTheManagementCard;

impl Wrong for ComparesTheManagementCard {
    fn about(&self) -> About {
        About {
            name: "compares-the-management-card",
            models: "the dark sibling of a management NIC reported fatal, port and card (field bug B11)",
            story: STORY,
        }
    }

    fn is_exempt(&self, _: &BTreeSet<Card>, _: &Card) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the port beside the management NIC trains, as it seems
why: patience covers the first thirty polls; then the peers would speak
platforms: { names: [ l40s-oci ] }
let: { prime: { default_route: true }, aux: { sibling_of: prime, healthy: any } }
given: [ { set: aux, state: DOWN, phys_state: Polling } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 40s
    expect: [ { this_poll: nothing } ]
until: 40s
heal: never
because: the port has no cable by design
"#;
