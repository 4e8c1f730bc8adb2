//! Monitors the NIC that carries the default route.

use super::{About, Wrong};

pub(super) struct IgnoresTheDefaultRoute;

impl Wrong for IgnoresTheDefaultRoute {
    fn about(&self) -> About {
        About {
            name: "ignores-the-default-route",
            models: "a management NIC monitored like any other, and its faults fatal",
            story: STORY,
        }
    }

    fn obeys_the_route(&self) -> bool {
        false
    }
}

const STORY: &str = r#"
scenario: the NIC of the default route comes up late
why: it is dark and has no peers for twenty polls
platforms: { names: [ h100-oci ] }
let: { front: { default_route: true } }
given: [ { set: front, state: DOWN, phys_state: Polling } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 20s
    do: [ { mend: front } ]
    expect: [ { nothing: front, from: 0s, to: 30s } ]
until: 30s
"#;
