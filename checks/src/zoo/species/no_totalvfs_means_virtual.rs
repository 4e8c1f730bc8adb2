//! Takes a function without `sriov_totalvfs` for a virtual one.

use super::{About, Wrong};

pub(super) struct NoTotalvfsMeansVirtual;

impl Wrong for NoTotalvfsMeansVirtual {
    fn about(&self) -> About {
        About {
            name: "no-totalvfs-means-virtual",
            models: "the mark of 8.5 read as the only one: a guest's NICs are not monitored at all",
            story: STORY,
        }
    }

    fn wants_totalvfs(&self) -> bool {
        true
    }
}

const STORY: &str = r#"
scenario: a guest's NICs come up late
why: all of them are dark for twenty polls
platforms: { names: [ "l40s-onprem:guest" ] }
let: { watched: { count: all } }
given: [ { set: watched, state: DOWN, phys_state: Polling } ]
timeline:
  - at: 0s
    expect: [ { this_poll: nothing } ]
  - at: 20s
    do: [ { mend: watched } ]
    expect:
      - { each: watched, healthy: it, within: 2 polls }
      - { each: watched, healthy: device of it, within: 2 polls }
      - { healthy: card of watched, times: [ 0, 1 ], within: 2 polls }
until: 30s
"#;
