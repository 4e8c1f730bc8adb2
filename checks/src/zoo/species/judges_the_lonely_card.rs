//! Expects an active port of a card that has no peers.

use super::{About, Wrong};
use crate::peers::mode::mode;

pub(super) struct JudgesTheLonelyCard;

impl Wrong for JudgesTheLonelyCard {
    fn about(&self) -> About {
        About {
            name: "judges-the-lonely-card",
            models: "a lone storage port dark by design, reported fatal at the start (field bug B14)",
            story: STORY,
        }
    }

    fn mode(&self, counts: &[usize]) -> Option<usize> {
        match counts {
            [0] => Some(1),
            _ => mode(counts),
        }
    }
}

const STORY: &str = r#"
scenario: the only storage port trains, as it seems
why: patience covers the first thirty polls; then the peers would speak
platforms: { names: [ h100-oci ] }
let: { aux: { role: storage, healthy: any, nth: 1 } }
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
