//! Grades a pulled InfiniBand cable as non-fatal.

use super::{About, Wrong};
use crate::name::LinkLayer;
use crate::reading::{self, PhysState, Reading, Severity};

pub(super) struct PollingIsNonFatal;

impl Wrong for PollingIsNonFatal {
    fn about(&self) -> About {
        About {
            name: "polling-is-non-fatal",
            models: "a phy that is polling taken for one that trains, although the state is DOWN (NVSentinel, ib_state)",
            story: STORY,
        }
    }

    fn severity(&self, layer: LinkLayer, reading: &Reading) -> Option<Severity> {
        if layer == LinkLayer::InfiniBand && reading.phys == PhysState::Polling {
            return Some(Severity::NonFatal);
        }
        reading::severity(layer, reading)
    }
}

const STORY: &str = r#"
scenario: a cable is pulled
why: every cable is in for twenty polls
platforms: { with: { layer: infiniband } }
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 20s
    do: [ { cut: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
until: 25s
"#;
