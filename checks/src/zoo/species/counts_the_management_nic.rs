//! Reads the counters of NICs whatever their role.

use super::{About, Wrong};
use crate::scope::Reason;

pub(super) struct CountsTheManagementNic;

impl Wrong for CountsTheManagementNic {
    fn about(&self) -> About {
        About {
            name: "counts-the-management-nic",
            models: "a counter check that asks for no role: a front-end link that flaps replaces the machine (field bug B22)",
            story: STORY,
        }
    }

    fn counts_the_left_out(&self, reason: &Reason) -> bool {
        reason.is_management()
    }
}

const STORY: &str = r#"
scenario: the counters of the management NIC can be read at last
why: they cannot be read for twenty polls
checks: counters
platforms: { names: [ h100-oci ] }
let: { front: { default_route: true } }
given: [ { read: "class/infiniband/mlx5_2/ports/1/**", fail: EIO } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 20s
    do: [ { no_rule: everywhere } ]
  - at: 25s
    do: [ { counter: front, name: link_downed, add: 1 } ]
    expect: [ { nothing: front, from: 0s, to: 30s } ]
until: 30s
"#;
