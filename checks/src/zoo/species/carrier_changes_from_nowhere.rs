//! Looks for `carrier_changes` among the statistics.

use super::{About, Wrong};
use crate::counters::Place;

pub(super) struct CarrierChangesFromNowhere;

impl Wrong for CarrierChangesFromNowhere {
    fn about(&self) -> About {
        About {
            name: "carrier-changes-from-nowhere",
            models: "a path that no kernel has: the counter is missing, and nobody wonders (field bug B28)",
            story: STORY,
        }
    }

    fn counter_folder(&self, place: Place) -> &'static str {
        match place {
            Place::Interface => Place::Statistics.folder(),
            other => other.folder(),
        }
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
